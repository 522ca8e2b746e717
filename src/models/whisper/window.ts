import { PCM_RATE } from "../../core/documents/audio-decoder.ts";

/** The input of one run of Whisper: 30 s. */
export const WINDOW_SAMPLES = 30 * PCM_RATE;
/** A step of Whisper's times: 20 ms. */
export const TIME_STEP_SAMPLES = PCM_RATE / 50;

/** The text of a part of a window, in samples from its start. */
export interface WindowSegment {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Root mean square below which a step is quiet: about -60 dBFS. */
const QUIET = 0.001;
/** Kept before what is loud: the soft beginning of a word. */
const LEAD_STEPS = 10;

/** A stretch of a recording that is read in pieces, moved on from beginning to end. Holds 30 s, whatever the length. */
export class Window {
  /** The sound, and silence after it: always 30 s. From -1 to 1. */
  readonly padded = new Float32Array(WINDOW_SAMPLES);
  readonly #pieces: AsyncIterator<Int16Array>;
  #piece = new Int16Array(0);
  #start = 0;
  #length = 0;
  #isEnded = false;

  constructor(audio: AsyncIterable<Int16Array>) {
    this.#pieces = audio[Symbol.asyncIterator]();
  }

  /** Its begin in the recording, in samples. */
  get start(): number {
    return this.#start;
  }

  /** Samples of sound in it; fewer than 30 s only at the end of the recording. */
  get length(): number {
    return this.#length;
  }

  /** Reads sound until it is full. */
  async fill(): Promise<void> {
    while (!this.#isEnded && this.#length < WINDOW_SAMPLES) {
      if (this.#piece.length === 0) {
        const next = await this.#pieces.next();
        if (next.done === true) this.#isEnded = true;
        else this.#piece = next.value as Int16Array<ArrayBuffer>;
      }
      const taken = this.#piece.subarray(0, WINDOW_SAMPLES - this.#length);
      for (let i = 0; i < taken.length; i++) this.padded[this.#length + i] = (taken[i] ?? 0) / 32_768;
      this.#length += taken.length;
      this.#piece = this.#piece.subarray(taken.length);
    }
  }

  /** Moves on by as many samples, at most all of them. */
  advance(samples: number): void {
    const count = Math.min(samples, this.#length);
    this.padded.copyWithin(0, count, this.#length);
    this.#length -= count;
    this.#start += count;
    this.padded.fill(0, this.#length);
  }

  /** Samples at its beginning that hold no sound. */
  get quietLength(): number {
    for (let at = 0; at < this.#length; at += TIME_STEP_SAMPLES) {
      if (this.isLoud(at, at + TIME_STEP_SAMPLES)) return Math.max(0, at - LEAD_STEPS * TIME_STEP_SAMPLES);
    }
    // The beginning of a word may be the end of this.
    return this.#isEnded ? this.#length : Math.max(0, this.#length - LEAD_STEPS * TIME_STEP_SAMPLES);
  }

  /** Whether any step from one sample to another is louder than quiet. */
  isLoud(from: number, to: number): boolean {
    for (let at = from; at < to; at += TIME_STEP_SAMPLES) {
      let sum = 0;
      for (let i = at; i < at + TIME_STEP_SAMPLES; i++) sum += (this.padded[i] ?? 0) ** 2;
      if (Math.sqrt(sum / TIME_STEP_SAMPLES) > QUIET) return true;
    }
    return false;
  }
}
