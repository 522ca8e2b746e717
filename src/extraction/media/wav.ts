import { writeSync } from "node:fs";
import type { MediaReport } from "./container.ts";
import { type MediaSource, type ReadAt, writeSound } from "./media-source.ts";

export interface WavFormat {
  readonly encoding: "unsigned" | "signed" | "float";
  readonly bytesPerSample: number;
  readonly channels: number;
  /** In Hz. */
  readonly rate: number;
  /** Offset of the samples. */
  readonly dataStart: number;
  /** The stated size; undefined in files that were written to a pipe. */
  readonly dataBytes: number | undefined;
}

const PCM = 1;
const FLOAT = 3;
const EXTENSIBLE = 0xfffe;
const CHUNK_HEAD = 8;
const RIFF_HEAD = 12;
const MIN_FORMAT_BYTES = 16;
const MAX_FORMAT_BYTES = 64;
/** Offset in the format chunk at which an extensible format states its encoding. */
const SUBFORMAT = 24;
/** Chunks before the sound; files have a handful. */
const MAX_CHUNKS = 1_000;
const MAX_CHANNELS = 64;
const MIN_RATE = 1_000;
const MAX_RATE = 768_000;
/** Programs that do not know the size yet write 0, or a size shortly below what fits: 0x7ffff000, 0x7fffff00, all ones. */
const LARGEST_SIZES = [2 ** 31, 2 ** 32];
const SHORTLY_BELOW = 4_096;
/** Samples of the output that are made at once. */
const PIECE = 16_384;
const SIGNED_16 = 32_767;
const STDERR = 2;
const BYTES_PER_SPEECH_SAMPLE = 2;

/**
 * The format of a WAV file; undefined for one without a whole head, or whose samples are not plain numbers.
 * @param size of the file in bytes.
 * @see Multimedia Programming Interface and Data Specifications 1.0, IBM and Microsoft, 1991.
 */
export function readWavFormat(read: ReadAt, size: number): WavFormat | undefined {
  const head = bytesAt(read, 0, RIFF_HEAD);
  if (ascii(head, 0) !== "RIFF" || ascii(head, 8) !== "WAVE") return undefined;
  let format: ReturnType<typeof formatIn>;
  let at = RIFF_HEAD;
  for (let chunk = 0; chunk < MAX_CHUNKS && at + CHUNK_HEAD <= size; chunk += 1) {
    const chunkHead = bytesAt(read, at, CHUNK_HEAD);
    const name = ascii(chunkHead, 0);
    const bytes = chunkHead.getUint32(4, true);
    const start = at + CHUNK_HEAD;
    if (name === "fmt ") format = formatIn(bytesAt(read, start, Math.min(bytes, MAX_FORMAT_BYTES)));
    if (name === "data") {
      const dataBytes = isUnknown(bytes, size - start) ? undefined : bytes;
      return format && { ...format, dataStart: start, dataBytes };
    }
    at = start + bytes + (bytes % 2);
  }
  return undefined;
}

function isUnknown(bytes: number, left: number): boolean {
  const isLargest = LARGEST_SIZES.some((most) => bytes <= most && bytes >= most - SHORTLY_BELOW);
  return bytes === 0 || (isLargest && bytes > left);
}

function formatIn(chunk: DataView) {
  if (chunk.byteLength < MIN_FORMAT_BYTES) return undefined;
  const tag = chunk.getUint16(0, true);
  const isLong = tag === EXTENSIBLE && chunk.byteLength >= SUBFORMAT + 2;
  const encoding = isLong ? chunk.getUint16(SUBFORMAT, true) : tag;
  const channels = chunk.getUint16(2, true);
  const rate = chunk.getUint32(4, true);
  const bytesPerSample = chunk.getUint16(12, true) / channels;
  if (channels < 1 || channels > MAX_CHANNELS || rate < MIN_RATE || rate > MAX_RATE) return undefined;
  const sizes = encoding === PCM ? [1, 2, 3, 4] : encoding === FLOAT ? [4, 8] : [];
  if (!sizes.includes(bytesPerSample)) return undefined;
  const kind = encoding === FLOAT ? "float" : bytesPerSample === 1 ? "unsigned" : "signed";
  return { encoding: kind, bytesPerSample, channels, rate } as const;
}

/** The rate of speech recognition, in Hz. */
export const SPEECH_RATE = 16_000;
/** Zero crossings of the kernel on either side; more make the edge of the pass band steeper. */
const CROSSINGS = 16;
/** Pass band as a part of half the lower rate; the rest is the transition band. */
const ROLL_OFF = 0.92;

/**
 * The sound as 16 kHz mono, signed 16-bit: the mean of the channels, through a windowed sinc, which stops what that rate cannot
 * hold. It begins with the first sample, without the delay of the filter.
 * @see J. O. Smith, "Digital Audio Resampling", https://ccrma.stanford.edu/~jos/resample/
 */
export function* wavSound(read: ReadAt, size: number, format: WavFormat): Generator<Int16Array> {
  const { dataStart, dataBytes = size, rate, bytesPerSample, channels } = format;
  const frameBytes = bytesPerSample * channels;
  const frames = Math.floor((Math.min(size, dataStart + dataBytes) - dataStart) / frameBytes);
  const total = Math.ceil((frames * SPEECH_RATE) / rate);
  const cutoff = ROLL_OFF * Math.min(1, SPEECH_RATE / rate);
  /** Input samples on either side that count for one of the output. */
  const extent = rate === SPEECH_RATE ? 0 : Math.ceil(CROSSINGS / cutoff);
  /** Whole numbers below 2 ** 53: no error adds up over hours. */
  const frameBefore = (sample: number) => Math.floor((sample * rate) / SPEECH_RATE);
  /** By the place between two input samples, in 1/16000. */
  const kernels = new Map<number, Float32Array>();

  for (let from = 0; from < total; from += PIECE) {
    const to = Math.min(total, from + PIECE);
    const [first, last] = [frameBefore(from) - extent, frameBefore(to - 1) + extent];
    // Silence before the beginning and behind the end.
    const input = new Float32Array(last - first + 1);
    const start = Math.max(0, first);
    const bytes = new Uint8Array((Math.min(frames, last + 1) - start) * frameBytes);
    const got = Math.floor(read(bytes, dataStart + start * frameBytes) / frameBytes);
    input.set(mono(bytes, got, format), start - first);

    const output = new Int16Array(to - from);
    for (let sample = from; sample < to; sample += 1) {
      const place = frameBefore(sample) - first;
      const phase = (sample * rate) % SPEECH_RATE;
      let sum = input[place] ?? 0;
      if (extent > 0) {
        let kernel = kernels.get(phase);
        if (kernel === undefined)
          kernels.set(phase, (kernel = kernelAt(phase / SPEECH_RATE, extent, cutoff)));
        sum = 0;
        const before = place - extent + 1;
        for (let tap = 0; tap < kernel.length; tap += 1)
          sum += (input[before + tap] ?? 0) * (kernel[tap] ?? 0);
      }
      output[sample - from] = Math.round(Math.max(-1, Math.min(1, sum)) * SIGNED_16);
    }
    yield output;
  }
}

/** The weights of the samples around a place between two of them, from 0 to 1. */
function kernelAt(offset: number, extent: number, cutoff: number): Float32Array {
  const kernel = Float32Array.from({ length: 2 * extent }, (_, tap) => {
    const x = tap - extent + 1 - offset;
    return Math.abs(x) < extent ? sinc(cutoff * x) * blackman(x / extent) : 0;
  });
  // A constant passes unchanged.
  const sum = kernel.reduce((total, weight) => total + weight, 0);
  return kernel.map((weight) => weight / sum);
}

const sinc = (x: number): number => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));

/** Blackman's window, which keeps what would fold back below -74 dB. */
const blackman = (x: number): number => 0.42 + 0.5 * Math.cos(Math.PI * x) + 0.08 * Math.cos(2 * Math.PI * x);

/** The mean of the channels of each frame. */
function mono(
  bytes: Uint8Array,
  frames: number,
  { encoding, bytesPerSample, channels }: WavFormat,
): Float32Array {
  const view = new DataView(bytes.buffer);
  const sampleAt = SAMPLE_READERS[`${encoding}${bytesPerSample}`] ?? (() => 0);
  const mixed = new Float32Array(frames);
  for (let frame = 0, at = 0; frame < frames; frame += 1) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1, at += bytesPerSample) sum += sampleAt(view, at);
    mixed[frame] = sum / channels;
  }
  return mixed;
}

const SAMPLE_READERS: Readonly<Record<string, (view: DataView, at: number) => number>> = {
  unsigned1: (view, at) => (view.getUint8(at) - 128) / 128,
  signed2: (view, at) => view.getInt16(at, true) / 2 ** 15,
  signed3: (view, at) => (view.getInt8(at + 2) * 2 ** 16 + view.getUint16(at, true)) / 2 ** 23,
  signed4: (view, at) => view.getInt32(at, true) / 2 ** 31,
  float4: (view, at) => finite(view.getFloat32(at, true)),
  float8: (view, at) => finite(view.getFloat64(at, true)),
};

/** A sample that is no number would spoil all around it. */
function finite(sample: number): number {
  return Math.abs(sample) <= 1e6 ? sample : 0;
}

function bytesAt(read: ReadAt, at: number, length: number): DataView {
  const bytes = new Uint8Array(length);
  return new DataView(bytes.buffer, 0, read(bytes, at));
}

function ascii(view: DataView, at: number): string {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}

/** Decodes plain samples as FFmpeg would; without `-t`, reports as JSON to standard error, null for others. */
export function runWav({ read, size }: MediaSource, args: readonly string[]): number {
  const format = readWavFormat(read, size);
  const duration = args.indexOf("-t");
  if (duration < 0 || format === undefined) {
    writeSync(STDERR, JSON.stringify(format === undefined ? null : reportOf(format, size)));
    return 0;
  }
  let left = Number(args[duration + 1]) * SPEECH_RATE;
  for (const samples of wavSound(read, size, format)) {
    writeSound(new Uint8Array(samples.buffer, samples.byteOffset, samples.length * BYTES_PER_SPEECH_SAMPLE));
    left -= samples.length;
    if (left <= 0) break;
  }
  return 0;
}

function reportOf(format: WavFormat, size: number): MediaReport {
  const { bytesPerSample, channels, rate, dataStart, dataBytes } = format;
  const seconds = (dataBytes ?? Math.max(0, size - dataStart)) / (bytesPerSample * channels * rate);
  return {
    soundTracks: [{ index: 0, isDefault: true }],
    hasVideo: false,
    durationMs: Math.round(seconds * 1_000),
    subtitles: [],
  };
}
