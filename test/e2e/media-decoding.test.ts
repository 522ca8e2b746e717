/** Real sound in every container, through the system's FFmpeg and through the decoders that come with the program. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AudioDecoder, PCM_RATE } from "../../src/core/documents/audio-decoder.ts";
import { openMediaDecoder } from "../../src/extraction/media/media-decoder.ts";
import { readSubtitles } from "../../src/extraction/formats/subtitles.ts";
import { hasEspeak, speak } from "../support/espeak.ts";
import { wavFile } from "../support/wav-file.ts";

const hasFfmpeg = spawnSync("ffmpeg", ["-version"]).status === 0;
if (!hasFfmpeg) console.warn("ffmpeg is not installed: tests that need files of its making are skipped");

const SUBTITLES = "1\n00:00:00,500 --> 00:00:02,000\nThe <i>lighthouse</i> keeper.\n";
const LINES = [{ startMs: 500, endMs: 2_000, text: "The lighthouse keeper." }];
const LIMITS = { maxSeconds: 600, maxWorkingMs: 120_000 };
const FIRST = { index: 0, isDefault: true };
const ENVELOPE_S = 0.05;
const VIDEO = "-f lavfi -t 4 -i testsrc=s=64x48:r=5 -map 0:a -map 1:v -c:v".split(" ");
const TRACK = "-f lavfi -t 4 -i testsrc=s=64x48:r=5 -i lines.srt -map 0:a -map 1:v -map 2:s -c:v".split(" ");

interface Sample {
  readonly file: string;
  readonly args: readonly string[];
  readonly mediaType: string;
  /** Without FFmpeg on the system. */
  readonly engine: string;
  readonly hasSubtitles?: boolean;
}
const SAMPLES: readonly Sample[] = [
  { file: "s16.wav", args: ["-ar", "44100", "-ac", "2"], mediaType: "audio/wav", engine: "ffmpeg-wasm" },
  { file: "a.wav", args: ["-c:a", "pcm_alaw"], mediaType: "audio/wav", engine: "ffmpeg-wasm" },
  { file: "a.mp3", args: ["-c:a", "libmp3lame"], mediaType: "audio/mpeg", engine: "ffmpeg-wasm" },
  { file: "a.flac", args: [], mediaType: "audio/flac", engine: "ffmpeg-wasm" },
  { file: "a.ogg", args: ["-c:a", "libvorbis"], mediaType: "audio/ogg", engine: "ffmpeg-wasm" },
  { file: "a.opus", args: ["-c:a", "libopus"], mediaType: "audio/ogg", engine: "ffmpeg-wasm" },
  { file: "a.webm", args: ["-c:a", "libopus"], mediaType: "audio/webm", engine: "ffmpeg-wasm" },
  { file: "a.aac", args: ["-c:a", "aac"], mediaType: "audio/aac", engine: "ffmpeg-wasm" },
  { file: "a.m4a", args: ["-c:a", "aac"], mediaType: "audio/mp4", engine: "ffmpeg-wasm" },
  { file: "v.mov", args: [...VIDEO, "mpeg4"], mediaType: "video/quicktime", engine: "ffmpeg-wasm" },
  {
    file: "v.mp4",
    args: [...TRACK, "mpeg4", "-c:s", "mov_text", "-movflags", "faststart"],
    mediaType: "video/mp4",
    engine: "ffmpeg-wasm",
    hasSubtitles: true,
  },
  {
    file: "v.mkv",
    args: [...TRACK, "mpeg4", "-c:a", "flac", "-c:s", "ass"],
    mediaType: "video/x-matroska",
    engine: "ffmpeg-wasm",
    hasSubtitles: true,
  },
  {
    file: "v.webm",
    args: [...TRACK, "libvpx", "-c:a", "libvorbis", "-c:s", "webvtt"],
    mediaType: "video/webm",
    engine: "ffmpeg-wasm",
    hasSubtitles: true,
  },
];

let folder: string;
let speech: Int16Array;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "memoryd-media-"));
  if (!hasFfmpeg || !hasEspeak) return;
  speech = speak("The lighthouse keeper of Varnholm kept a purple boat.");
  writeFileSync(join(folder, "speech.wav"), wavFile([Float32Array.from(speech, (x) => x / 32_768)]));
  writeFileSync(join(folder, "lines.srt"), SUBTITLES);
  for (const { file, args } of SAMPLES) ffmpeg("-i", "speech.wav", ...args, file);
  // A tone before the speech, which is what players begin with.
  const two =
    "-f lavfi -t 6 -i sine -i speech.wav -map 0:a -map 1:a -metadata:s:a:0 language=ger -metadata:s:a:1 language=eng";
  for (const [file, codec] of [
    ["two.mkv", "flac"],
    ["two.webm", "libopus"],
    ["two.mp4", "aac"],
    ["two.mov", "aac"],
  ] as const)
    ffmpeg(...`${two} -disposition:a:0 0 -disposition:a:1 default -c:a ${codec} ${file}`.split(" "));
  ffmpeg(..."-f lavfi -t 2 -i testsrc=s=64x48:r=5 -c:v mpeg4 mute.mp4".split(" "));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function ffmpeg(...args: readonly string[]): void {
  const { status, stderr } = spawnSync("ffmpeg", ["-v", "error", "-y", ...args], { cwd: folder });
  if (status !== 0) throw new Error(stderr.toString());
}

/** How loud it is, step by step. */
function envelope(samples: Int16Array): number[] {
  const step = PCM_RATE * ENVELOPE_S;
  return Array.from({ length: Math.floor(samples.length / step) }, (_, i) =>
    Math.hypot(...samples.subarray(i * step, (i + 1) * step)),
  );
}

function correlation(a: readonly number[], b: readonly number[]): number {
  const length = Math.min(a.length, b.length);
  const centred = [a, b].map((values) => {
    const part = values.slice(0, length);
    const mean = part.reduce((sum, x) => sum + x, 0) / length;
    return part.map((x) => x - mean);
  });
  const [x = [], y = []] = centred;
  return x.reduce((sum, value, i) => sum + value * (y[i] ?? 0), 0) / (Math.hypot(...x) * Math.hypot(...y));
}

const input = (file: string) => ({ bytes: { path: join(folder, file) }, filename: file });

async function heard(decoder: AudioDecoder, file: string) {
  await using recording = await decoder.open(input(file));
  const [track] = recording.subtitles;
  const text = track === undefined ? "" : Buffer.from(await recording.readSubtitles(track)).toString();
  const lines = readSubtitles(text).blocks;
  const pieces: number[] = [];
  for await (const piece of recording.sound(FIRST)) for (const sample of piece) pieces.push(sample);
  return { recording, lines, samples: Int16Array.from(pieces) };
}

describe.skipIf(!hasFfmpeg || !hasEspeak).each([
  ["the system's FFmpeg", "auto"],
  ["the decoders that come with it", "off"],
])("%s", (_, setting) => {
  let decoder: AudioDecoder;
  beforeAll(() => {
    decoder = openMediaDecoder({ ffmpeg: setting, searchPath: process.env["PATH"] ?? "", limits: LIMITS });
  });
  afterAll(() => decoder.close());

  it.each(SAMPLES)("decodes $file", async ({ file, mediaType, engine, hasSubtitles = false }) => {
    expect(await decoder.recognises(input(file))).toBe(true);
    const { recording, lines, samples } = await heard(decoder, file);
    expect(recording).toMatchObject({
      mediaType,
      kind: mediaType.split("/")[0],
      soundTracks: [{ index: 0 }],
      decoder: setting === "auto" ? "ffmpeg" : engine,
    });
    expect(Math.abs(samples.length - speech.length) / PCM_RATE).toBeLessThan(0.2);
    // A stream without a container does not say what its encoder put before the beginning.
    const delays = [0, 1, 2, 3].map((steps) => correlation(envelope(samples).slice(steps), envelope(speech)));
    expect(Math.max(...delays)).toBeGreaterThan(0.9);
    expect(lines.map(({ text }) => text)).toEqual(hasSubtitles ? LINES.map(({ text }) => text) : []);
    // Containers round times, and begin with what an encoder delays.
    for (const [i, { startMs = 0 }] of lines.entries())
      expect(Math.abs(startMs - (LINES[i]?.startMs ?? 0))).toBeLessThan(100);
  });

  it("loses nothing where its reader comes late", async () => {
    await using recording = await decoder.open(input("a.flac"));
    const sound = recording.sound(FIRST);
    await sleep(1_000);
    let samples = 0;
    for await (const piece of sound) {
      samples += piece.length;
      await sleep(20);
    }
    expect(Math.abs(samples - speech.length)).toBeLessThan(PCM_RATE / 10);
  });

  it.each(["two.mkv", "two.webm", "two.mp4", "two.mov"])("tells the tracks of %s apart", async (file) => {
    await using recording = await decoder.open(input(file));
    const [first, second] = recording.soundTracks;
    expect([first, second]).toEqual([
      { index: 0, language: "de", isDefault: false },
      { index: 1, language: "en", isDefault: true },
    ]);
    if (second === undefined) return;
    const pieces: number[] = [];
    for await (const piece of recording.sound(second)) for (const sample of piece) pieces.push(sample);
    expect(Math.abs(pieces.length - speech.length) / PCM_RATE).toBeLessThan(0.2);
    expect(correlation(envelope(Int16Array.from(pieces)), envelope(speech))).toBeGreaterThan(0.9);
  });

  it("says that a video has no sound", async () => {
    await using recording = await decoder.open(input("mute.mp4"));
    expect(recording).toMatchObject({ kind: "video", soundTracks: [] });
  });

  it.each(["s16.wav", "a.mp3", "a.flac", "a.ogg", "a.opus", "v.mp4", "v.mkv", "v.webm"])(
    "refuses %s cut off",
    async (file) => {
      const bytes = readFileSync(join(folder, file));
      const name = `cut-${file}`;
      writeFileSync(join(folder, name), bytes);
      truncateSync(join(folder, name), Math.floor(bytes.length / 2));
      await expect(heard(decoder, name).then(({ samples }) => samples.length)).rejects.toMatchObject({
        code: "UNPROCESSABLE",
        message: expect.stringMatching(/cut off|damaged/),
      });
    },
  );

  it.each(["a.mp3", "a.flac", "a.ogg", "v.mp4", "v.mkv"])("survives %s with holes", async (file) => {
    const bytes = readFileSync(join(folder, file));
    for (let at = 512; at < bytes.length; at += 1_777)
      bytes.fill(at % 251, at, Math.min(bytes.length, at + 300));
    writeFileSync(join(folder, `holes-${file}`), bytes);
    const outcome = await heard(decoder, `holes-${file}`).then(
      () => "decoded",
      (error: { code: string }) => error.code,
    );
    expect(["decoded", "UNPROCESSABLE"]).toContain(outcome);
    expect((await heard(decoder, "a.mp3")).samples.length).toBeGreaterThan(PCM_RATE);
  });

  it.each([0, 0x7fff_f000, 0xffff_ffff])(
    "decodes the whole of a WAV that went through a pipe, and says %d of its length",
    async (dataBytes) => {
      const samples = Float32Array.from(speech, (x) => x / 32_768);
      writeFileSync(join(folder, "piped.wav"), wavFile([samples], { dataBytes }));
      const { recording, samples: decoded } = await heard(decoder, "piped.wav");
      expect(decoded).toHaveLength(speech.length);
      // The head counts as sound.
      expect(Math.abs((recording.durationMs ?? 0) - (speech.length / PCM_RATE) * 1_000)).toBeLessThan(20);
    },
  );

  it("refuses a file that claims ten days", async () => {
    const tenDays = 864_000 * PCM_RATE * 2;
    const bytes = wavFile([new Float32Array(PCM_RATE)], { dataBytes: tenDays % 2 ** 32 });
    writeFileSync(join(folder, "claims.wav"), bytes);
    await expect(heard(decoder, "claims.wav").then(({ samples }) => samples.length)).rejects.toMatchObject({
      code: expect.stringMatching(/TOO_LARGE|UNPROCESSABLE/),
    });
  });

  it("ends when it is told, and leaves nothing running", async () => {
    const controller = new AbortController();
    await using recording = await decoder.open(input("a.mp3"), { signal: controller.signal });
    const reading = (async () => {
      for await (const piece of recording.sound(FIRST)) {
        if (piece.length > 0) controller.abort(new Error("told"));
      }
    })();
    await expect(reading).rejects.toThrow("told");
  });
});

describe("what is called something else", () => {
  const decoder = openMediaDecoder({ ffmpeg: "off", searchPath: "", limits: LIMITS });
  afterAll(() => decoder.close());
  const WAV = wavFile([new Float32Array(100)]);

  it.each([
    ["WAV as MP3", WAV, { claimedType: "audio/mpeg" }],
    ["WAV as a PDF", WAV, { filename: "a.pdf" }],
    ["WAV as text", WAV, { claimedType: "text/plain" }],
  ])("is refused: %s", async (_, bytes, claim) => {
    const path = join(folder, "claimed");
    writeFileSync(path, bytes);
    await expect(decoder.recognises({ bytes: { path }, ...claim })).rejects.toMatchObject({
      code: "UNSUPPORTED_MEDIA_TYPE",
    });
  });

  it.each([{}, { claimedType: "audio" }, { claimedType: "audio/x-wav" }, { filename: "A.WAV" }])(
    "is taken where it fits: %j",
    async (claim) => {
      const path = join(folder, "claimed");
      writeFileSync(path, WAV);
      expect(await decoder.recognises({ bytes: { path }, ...claim })).toBe(true);
    },
  );

  it("is no recording: text, nothing, noise", async () => {
    const path = join(folder, "claimed");
    for (const bytes of [Buffer.from("Dear all,"), Buffer.alloc(0), Buffer.from("ff".repeat(500), "hex")]) {
      writeFileSync(path, bytes);
      expect(await decoder.recognises({ bytes: { path }, filename: "a.mp3" })).toBe(false);
    }
  });

  it("is gone from the disk: it says so", async () => {
    const gone = { bytes: { path: join(folder, "gone") } };
    await expect(decoder.recognises(gone)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("cannot be decoded where nothing is installed: it says what to install", async () => {
    const bare = openMediaDecoder({ ffmpeg: "off", searchPath: "", limits: LIMITS, hasFfmpegPackage: false });
    const path = join(folder, "claimed");
    writeFileSync(path, Buffer.from("fLaC\0\0\0\x22", "latin1"));
    await expect(bare.open({ bytes: { path } })).rejects.toMatchObject({
      code: "UNSUPPORTED_MEDIA_TYPE",
      message: expect.stringMatching(/Install FFmpeg.*@ffmpeg\/core/),
    });
    await bare.close();
  });
});
