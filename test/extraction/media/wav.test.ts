import { describe, expect, it } from "vitest";
import type { ReadAt } from "../../../src/extraction/media/media-source.ts";
import { SPEECH_RATE, readWavFormat, wavSound } from "../../../src/extraction/media/wav.ts";
import { wavFile } from "../../support/wav-file.ts";

const reading =
  (bytes: Uint8Array): ReadAt =>
  (buffer, at) => {
    const piece = bytes.subarray(at, at + buffer.length);
    buffer.set(piece);
    return piece.length;
  };

function soundOf(bytes: Uint8Array): Int16Array {
  const format = readWavFormat(reading(bytes), bytes.length);
  if (format === undefined) throw new Error("no format");
  return Int16Array.from([...wavSound(reading(bytes), bytes.length, format)].flatMap((piece) => [...piece]));
}

const sine = (hertz: number, rate: number, seconds: number) =>
  Float32Array.from({ length: rate * seconds }, (_, i) => 0.5 * Math.sin((2 * Math.PI * hertz * i) / rate));
/** Root mean square, the edges left out, where the filter swings in. */
function level(samples: ArrayLike<number>): number {
  const middle = Array.from(samples).slice(800, -800);
  return Math.sqrt(middle.reduce((sum, x) => sum + x * x, 0) / middle.length);
}
/** From 1 to -1. */
function resampled(hertz: number, rate: number): Float32Array {
  const sound = soundOf(wavFile([sine(hertz, rate, 2)], { rate, bits: 32, isFloat: true }));
  return Float32Array.from(sound, (sample) => sample / 32_767);
}

describe("the rate of a WAV file", () => {
  it.each([8_000, 11_025, 22_050, 44_100, 44_101, 48_000, 192_000])(
    "keeps a tone of 1 kHz from %s Hz",
    (rate) => {
      const output = resampled(1_000, rate);
      expect(Math.abs(output.length - 2 * SPEECH_RATE)).toBeLessThanOrEqual(1);
      const expected = sine(1_000, SPEECH_RATE, 2);
      const error = level(output.map((x, i) => x - (expected[i] ?? 0)));
      expect(error / level(expected)).toBeLessThan(0.001);
    },
  );

  it.each([10_000, 15_000, 20_000])(
    "stops a tone of %s Hz, which 16 kHz would turn into another",
    (hertz) => {
      expect(level(resampled(hertz, 48_000)) / level(sine(hertz, 48_000, 2))).toBeLessThan(0.0003);
    },
  );
});

describe("WAV", () => {
  it.each([
    ["unsigned 8-bit", { bits: 8 }, 0.01],
    ["16-bit", { bits: 16 }, 0.0001],
    ["24-bit", { bits: 24 }, 0.0001],
    ["32-bit", { bits: 32 }, 0.0001],
    ["float", { bits: 32, isFloat: true }, 0.0001],
    ["double, extensible", { bits: 64, isFloat: true, isExtensible: true }, 0.0001],
  ])("of %s samples and two channels is their mean at 16 kHz", (_, form, tolerance) => {
    const left = sine(440, 44_100, 1);
    const bytes = wavFile([left, left.map(() => 0)], { rate: 44_100, ...form });
    const expected = sine(440, SPEECH_RATE, 1).map((x) => (x / 2) * 32_767);
    const output = soundOf(bytes);
    expect(Math.abs(output.length - SPEECH_RATE)).toBeLessThanOrEqual(1);
    expect(level(output.map((x, i) => x - (expected[i] ?? 0))) / 32_767).toBeLessThan(tolerance);
  });

  it("is found behind other chunks, and knows that a pipe knows no size", () => {
    const samples = sine(440, SPEECH_RATE, 1);
    const format = (bytes: Uint8Array) => readWavFormat(reading(bytes), bytes.length);
    expect(format(wavFile([samples], { title: "A talk" }))).toMatchObject({ dataBytes: 32_000 });
    for (const dataBytes of [0, 0x7fff_f000, 0x7fff_ff00, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff])
      expect(format(wavFile([samples], { dataBytes }))).toMatchObject({ dataBytes: undefined });
    expect(format(wavFile([samples], { dataBytes: 0x7fff_0000 }))).toMatchObject({ dataBytes: 0x7fff_0000 });
    expect(soundOf(wavFile([samples], { dataBytes: 0xffff_ffff }))).toHaveLength(SPEECH_RATE);
    expect(soundOf(wavFile([samples], { dataBytes: 4_000_000_000 }))).toHaveLength(SPEECH_RATE);
  });

  it.each([
    ["nothing", new Uint8Array()],
    ["a head alone", wavFile([sine(440, SPEECH_RATE, 1)]).slice(0, 20)],
    ["no channels", wavFile([], {})],
    ["a rate of 0", wavFile([new Float32Array(10)], { rate: 0 })],
    ["a rate of 4 GHz", wavFile([new Float32Array(10)], { rate: 4_000_000_000 })],
    ["40-bit samples", wavFile([new Float32Array(10)], { bits: 40 })],
  ])("with %s is none", (_, bytes) => {
    expect(readWavFormat(reading(bytes), bytes.length)).toBeUndefined();
  });

  it("gives silence for samples that are no numbers", () => {
    const bytes = wavFile([Float32Array.from({ length: 100 }, () => NaN)], { bits: 32, isFloat: true });
    expect(new Set(soundOf(bytes))).toEqual(new Set([0]));
  });
});
