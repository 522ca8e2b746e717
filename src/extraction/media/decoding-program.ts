import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { type DecodingLimits, PCM_RATE, type Recording } from "../../core/documents/audio-decoder.ts";
import { internal } from "../../core/errors.ts";
import { forkSandboxed } from "../../sandbox/sandboxed-process.ts";
import { behind, standingWalls, type Walls } from "../../sandbox/walls.ts";
import type { WorkLimits } from "../../sandbox/watchdog.ts";
import { type Container, type FoundContainer, readReport } from "./container.ts";
import { DecodingChild, MS_PER_SECOND, recordingClosed, tooLong } from "./decoding-child.ts";
import { INPUT, OUTPUT, STARTED } from "./media-source.ts";

/** Sound takes some dozens of megabytes; tables in a file that lies take any number. */
const MAX_RESIDENT_BYTES = 500_000_000;
/** JavaScript objects are few; the decoders have memory of their own. */
const HEAP_BYTES = 256 * 1_024 * 1_024;
const MAX_WORKER_RESIDENT_BYTES = 1_000_000_000;
/** Decoding that takes as long as playing would is a loop. */
const WORK_MS_PER_SECOND = 1_000;

export interface DecodingInput extends FoundContainer {
  readonly path: string;
  readonly limits: DecodingLimits;
  readonly signal: AbortSignal;
  /** Processes of all recordings. */
  readonly running: Set<DecodingChild>;
}

/** A program that takes FFmpeg's arguments. Each question is a process of its own. */
export interface DecodingProgram {
  readonly decoder: Recording["decoder"];
  /** Its names for the file and for standard output. */
  readonly input: string;
  readonly output: string;
  /** Memory limit of a program that does not limit itself. */
  readonly maxResidentBytes?: number;
  /** The first output; without it the program did not start. */
  readonly greeting?: string;
  start(args: readonly string[], walls: Walls | undefined): ChildProcess;
}

/** The system's FFmpeg, with an empty environment: Node adds what Windows needs to start a program. */
export function systemFfmpeg(program: string, { path }: DecodingInput): DecodingProgram {
  return {
    decoder: "ffmpeg",
    input: path,
    output: "pipe:1",
    maxResidentBytes: MAX_RESIDENT_BYTES,
    start(args, walls) {
      const [file, ...words] = behind(walls, program, args);
      return spawn(file, words, {
        stdio: ["ignore", "pipe", "pipe"],
        env: {},
        detached: walls !== undefined,
        windowsHide: true,
      });
    },
  };
}

/** FFmpeg as WebAssembly, in a Node without rights. The file is its standard input: it may open none itself. */
export function decodingWorker(worker: string, { path, limits }: DecodingInput): DecodingProgram {
  const own: WorkLimits = {
    maxWorkingMs: limits.maxWorkingMs + limits.maxSeconds * WORK_MS_PER_SECOND,
    maxResidentBytes: MAX_WORKER_RESIDENT_BYTES,
  };
  return {
    decoder: "ffmpeg-wasm",
    input: INPUT,
    output: OUTPUT,
    greeting: STARTED,
    start(args, walls) {
      const file = openSync(path, "r");
      try {
        const sandbox = { worker, heapBytes: HEAP_BYTES, packages: ["@ffmpeg/core"] };
        return forkSandboxed(sandbox, walls, {
          args: [JSON.stringify(own), ...args],
          stdio: [file, "pipe", "pipe", "ipc"],
        });
      } finally {
        closeSync(file);
      }
    },
  };
}

/**
 * @returns undefined where the program is missing or cannot read it; else the recording, whose processes end when it is
 *   disposed of. @throws {ServiceError} TOO_LARGE, INTERNAL.
 */
export async function openWith(
  program: DecodingProgram,
  { container, soundEnd, mediaTypes, limits, signal, running }: DecodingInput,
): Promise<Recording | undefined> {
  const { decoder, input, output, greeting, maxResidentBytes } = program;
  const own: DecodingChild[] = [];
  const isOpen = container === "wav" && soundEnd === undefined;
  const reader = ["-f", DEMUXERS[container], ...(isOpen ? ["-ignore_length", "1"] : [])];
  const walls = await standingWalls();
  const start = (args: readonly string[]) => {
    const child = new DecodingChild(program.start(args, walls), limits, signal, maxResidentBytes);
    own.push(child);
    running.add(child);
    void child.ended.then(() => running.delete(child));
    return child;
  };

  // FFmpeg prints what is in the file, and ends with code 1, for it has nothing to write.
  const asked = start(words("info", [], reader, input));
  await asked.output();
  const { printed, failure } = asked;
  if (greeting !== undefined && !printed.startsWith(greeting)) {
    const cause = failure ?? new Error(printed.trim());
    throw internal("The process that decodes recordings does not start.", { cause });
  }
  const report = readReport(printed);
  if (report === undefined) return undefined;
  const { hasVideo, ...stated } = report;
  if ((stated.durationMs ?? 0) > limits.maxSeconds * MS_PER_SECOND) throw tooLong(limits.maxSeconds);
  /** Begins to write a track to `output`. */
  const decode = (left: readonly string[], form: string) =>
    start([...words("warning", left, reader, input), ...form.split(" "), "-y", output]);
  return {
    ...stated,
    kind: hasVideo ? "video" : "audio",
    mediaType: hasVideo ? mediaTypes.video : mediaTypes.audio,
    decoder,
    // Started by the first read: output of a process that ends before that would be lost. What is behind the limit is left.
    async *sound({ index }) {
      const form = `-map 0:a:${index} -t ${limits.maxSeconds + 1} -ac 1 -ar ${PCM_RATE} -f s16le`;
      yield* decode(["-vn", "-sn", "-dn"], form).sound(container, report);
    },
    readSubtitles: async ({ index }) =>
      await decode(["-vn", "-an", "-dn"], `-map 0:s:${index} -f webvtt`).output(),
    async [Symbol.asyncDispose]() {
      for (const child of own) child.kill(recordingClosed());
      await Promise.all(own.map(({ ended }) => ended));
    },
  };
}

/** One of FFmpeg's readers per container: others would read playlists, which name files and addresses. */
const DEMUXERS: Readonly<Record<Container, string>> = {
  wav: "wav",
  mp3: "mp3",
  aac: "aac",
  flac: "flac",
  ogg: "ogg",
  mp4: "mov",
  matroska: "matroska",
};

/** Decoders for sound and text subtitles. Pictures, the larger part of FFmpeg and of its bugs, are never decoded. */
const DECODERS = [
  "aac,aac_fixed,aac_latm,alac,flac,mp1,mp1float,mp2,mp2float,mp3,mp3float,opus,libopus,vorbis,libvorbis,speex,libspeex",
  "ac3,ac3_fixed,eac3,dca,amrnb,amrwb,wmav2,adpcm_ms,adpcm_ima_wav,adpcm_ima_qt,gsm_ms,aac_at,mp3_at,alac_at,ac3_at",
  "pcm_u8,pcm_s8,pcm_s16le,pcm_s16be,pcm_s24le,pcm_s24be,pcm_s32le,pcm_s32be,pcm_f32le,pcm_f32be,pcm_f64le,pcm_f64be",
  "pcm_alaw,pcm_mulaw",
  "mov_text,subrip,srt,webvtt,ass,ssa,text",
].join(",");

/** Largest single piece of memory: a header may ask for any. */
const MAX_ALLOCATION_BYTES = 128 * 1_024 * 1_024;
/** A film in many languages has some dozens; each may have tables of its own. */
const MAX_STREAMS = 64;

/**
 * FFmpeg's arguments. `file:` stands before the name, so that no name can be taken for an option, or for another protocol.
 * @param left out, of pictures, sound, subtitles and data.
 */
function words(level: string, left: readonly string[], reader: readonly string[], input: string): string[] {
  const bounds = `-max_alloc ${MAX_ALLOCATION_BYTES} -max_streams ${MAX_STREAMS} -threads 1`.split(" ");
  const allowed = ["-protocol_whitelist", "file,pipe", "-codec_whitelist", DECODERS];
  const quiet = ["-nostdin", "-hide_banner", "-v", level];
  return [...quiet, ...left, ...allowed, ...bounds, ...reader, "-i", `file:${input}`];
}
