import { type Pcm, PCM_RATE } from "../../src/core/documents/transcription.ts";

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
