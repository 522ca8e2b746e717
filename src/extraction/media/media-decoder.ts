import type {
  AudioDecoder,
  DecodingLimits,
  DecodingOptions,
  Recording,
  RecordingInput,
} from "../../core/documents/audio-decoder.ts";
import { ServiceError } from "../../core/errors.ts";
import { builtFile } from "../../sandbox/built-file.ts";
import { type Container, CONTAINER_LABELS, type FoundContainer } from "./container.ts";
import { checkDuration, cutOff, damaged } from "./decoding-child.ts";
import { type EngineOptions, openInEngine } from "./engine-process.ts";
import { findProgram, openInFfmpeg } from "./ffmpeg-program.ts";
import type { EngineName } from "./media-messages.ts";
import { endsWithinPage } from "./ogg-end.ts";
import type { OpenedMedia } from "./opened-media.ts";
import { recognise } from "./recognise.ts";
import { MAX_SUBTITLE_BYTES } from "./subtitle-text.ts";

export interface MediaDecoderOptions {
  /** The file of the program; "auto" for the one on the search path, if there is one; "off" for none. */
  readonly ffmpeg: string;
  /** As the variable `PATH` has it. */
  readonly searchPath: string;
  readonly limits?: Partial<DecodingLimits>;
  /** Those that may be used, for tests; all that are installed if absent. */
  readonly engines?: readonly EngineName[];
  /** A test's own worker, instead of the built one. */
  readonly workerFile?: string;
}

export const DEFAULT_DECODING_LIMITS: DecodingLimits = { maxSeconds: 21_600, maxWorkingMs: 120_000 };

/**
 * Where there is no FFmpeg: what may read a file, in this order. WAV needs nothing; the library under the LGPL comes
 * before the program under the GPL.
 */
const ENGINES: Readonly<Record<Container, readonly EngineName[]>> = {
  wav: ["wav", "libav", "ffmpeg-wasm"],
  mp3: ["libav", "ffmpeg-wasm"],
  flac: ["libav", "ffmpeg-wasm"],
  ogg: ["libav", "ffmpeg-wasm"],
  matroska: ["libav", "ffmpeg-wasm"],
  aac: ["ffmpeg-wasm"],
  mp4: ["ffmpeg-wasm"],
};
/** What an engine is part of, where it is not part of this program. */
const PACKAGES: Readonly<Partial<Record<EngineName, string>>> = {
  libav: "@libav.js/variant-obsolete",
  "ffmpeg-wasm": "@ffmpeg/core",
};

/** A decoder that runs FFmpeg, of the system or as WebAssembly, in processes of its own. */
export function openMediaDecoder(options: MediaDecoderOptions): AudioDecoder {
  const limits = { ...DEFAULT_DECODING_LIMITS, ...options.limits };
  const workerFile = options.workerFile ?? builtFile("extraction/media/media-worker.js");
  const closing = new AbortController();
  const living = new Set<OpenedMedia>();
  let program: Promise<string | undefined> | undefined;

  async function openWithAny(
    { container }: FoundContainer,
    path: string,
    signal: AbortSignal,
  ): Promise<OpenedMedia> {
    const engineOptions: EngineOptions = { workerFile, container, path, limits, signal };
    program ??= programFor(options);
    const file = await program;
    if (container === "wav" && file !== undefined) {
      // FFmpeg would take what stands in place of an unknown length for one, and the file for a part of it.
      const own = await openInEngine("wav", engineOptions);
      if (own?.report.isLengthUnknown === true) return own;
      await own?.close();
    }
    const opened = file === undefined ? undefined : await openInFfmpeg(file, engineOptions);
    if (opened !== undefined) return opened;
    const engines = ENGINES[container].filter(
      (engine) => options.engines?.includes(engine) ?? isInstalled(engine),
    );
    for (const engine of engines) {
      const inEngine = await openInEngine(engine, engineOptions);
      if (inEngine !== undefined) return inEngine;
    }
    // The last one reads everything: what it cannot read is damaged.
    if (engines.at(-1) === "ffmpeg-wasm") throw damaged();
    throw new ServiceError(
      "UNSUPPORTED_MEDIA_TYPE",
      `Nothing here decodes ${CONTAINER_LABELS[container]} with that sound. Install FFmpeg and restart memoryd ` +
        "(or name the program with --ffmpeg), or install the npm package @ffmpeg/core beside memoryd.",
    );
  }

  return {
    recognises: async (input) => (await recognise(input)) !== undefined,
    async open(input: RecordingInput, { signal }: DecodingOptions = {}) {
      const all = AbortSignal.any([closing.signal, ...(signal === undefined ? [] : [signal])]);
      all.throwIfAborted();
      const found = await recognise(input);
      if (found === undefined) throw damaged();
      // No decoder tells it.
      if (found.container === "ogg" && (await endsWithinPage(input.bytes.path))) throw cutOff();
      const opened = await openWithAny(found, input.bytes.path, all);
      living.add(opened);
      const close = async (): Promise<void> => {
        await opened.close();
        living.delete(opened);
      };
      try {
        checkDuration(opened.report, limits);
      } catch (error) {
        await close();
        throw error;
      }
      return recordingOf(found, opened, close);
    },
    async close() {
      closing.abort(new ServiceError("NOT_READY", "The decoder is closed."));
      await Promise.all(Array.from(living, (opened) => opened.close()));
    },
  };
}

function recordingOf(
  { mediaTypes }: FoundContainer,
  opened: OpenedMedia,
  close: () => Promise<void>,
): Recording {
  const { hasVideo, isLengthUnknown: _, ...report } = opened.report;
  return {
    ...report,
    kind: hasVideo ? "video" : "audio",
    mediaType: hasVideo ? mediaTypes.video : mediaTypes.audio,
    decoder: opened.decoder,
    sound: ({ index }) => opened.sound(index),
    async readSubtitles({ index }) {
      const bytes = await opened.subtitles(index);
      if (bytes.length <= MAX_SUBTITLE_BYTES) return bytes;
      throw new ServiceError(
        "TOO_LARGE",
        `The subtitles in the recording have more than ${MAX_SUBTITLE_BYTES} bytes. Leave prefer_subtitles out, so that it is heard.`,
      );
    },
    [Symbol.asyncDispose]: close,
  };
}

async function programFor({ ffmpeg, searchPath }: MediaDecoderOptions): Promise<string | undefined> {
  if (ffmpeg === "off") return undefined;
  if (ffmpeg !== "auto") return ffmpeg;
  return findProgram("ffmpeg", { path: searchPath, platform: process.platform });
}

function isInstalled(engine: EngineName): boolean {
  const name = PACKAGES[engine];
  if (name === undefined) return true;
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}
