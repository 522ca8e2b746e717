import { type Pcm, PCM_RATE } from "../../src/core/documents/audio-decoder.ts";
import { seededRandom } from "./seeded-random.ts";

/** Silence of that length. */
export function silence(seconds: number): Int16Array {
  return new Int16Array(Math.round(seconds * PCM_RATE));
}

/** A pure tone. */
export function tone(seconds: number, hertz = 440, amplitude = 8_000): Int16Array {
  return silence(seconds).map((_, i) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * hertz * i) / PCM_RATE)),
  );
}

/** One recording after the other. */
export function join(...parts: readonly Int16Array[]): Int16Array {
  const joined = new Int16Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** Samples as a decoder would give them. */
export async function* pieces(samples: Int16Array, length = PCM_RATE): Pcm {
  for (let at = 0; at < samples.length; at += length) yield samples.subarray(at, at + length);
}

/** White noise up to that amplitude, the same each time. */
export function noise(seconds: number, amplitude: number): Int16Array {
  const random = seededRandom(7);
  return silence(seconds).map(() => Math.round((random() * 2 - 1) * amplitude));
}

/** Of the mains: 50 Hz and what resounds with it. */
export function hum(seconds: number): Int16Array {
  return mix(...[50, 100, 150, 250].map((hertz, i) => tone(seconds, hertz, 4_000 / (i + 1))));
}

/** A slow progression of chords with a melody, which fade as a plucked string's do. */
export function chords(seconds: number): Int16Array {
  const roots = [220, 174.6, 261.6, 196];
  const bars = Array.from({ length: Math.ceil(seconds) }, (_, second) => {
    const root = roots[Math.floor(second / 2) % roots.length] ?? 220;
    const melody = root * ([2, 2.25, 2.5, 3][second % 4] ?? 2);
    return mix(...[root, root * 1.25, root * 1.5, melody].map((hertz) => tone(1, hertz, 4_000))).map(
      (sample, i) => Math.round(sample * Math.exp((-2 * i) / PCM_RATE)),
    );
  });
  return join(...bars);
}

/** A beat of noise, twice a second. */
export function drums(seconds: number): Int16Array {
  const stroke = noise(0.5, 6_000).map((sample, i) => Math.round(sample * Math.exp((-20 * i) / PCM_RATE)));
  return join(...Array.from({ length: Math.ceil(seconds * 2) }, () => stroke));
}

function mix(...sounds: readonly Int16Array[]): Int16Array {
  return silence((sounds[0]?.length ?? 0) / PCM_RATE).map((_, i) =>
    sounds.reduce((sum, sound) => sum + (sound[i] ?? 0), 0),
  );
}
