/** The rate of speech recognition, in Hz. */
export const SPEECH_RATE = 16_000;

/** Zero crossings of the kernel on either side; more make the edge of what passes steeper. */
const CROSSINGS = 16;
/** Places between two samples that the kernel is known at; between them it is a line. */
const PHASES = 256;
/** Of half the lower rate: what is left for the edge. */
const ROLL_OFF = 0.92;
/** Of the Kaiser window: about 90 dB between what passes and what is stopped. */
const KAISER_BETA = 9;

/**
 * Brings mono samples of any rate to 16 kHz: a windowed sinc, which lets nothing through that the new rate cannot hold.
 *
 * Samples go in and come out in pieces; the output begins with the first sample, without the delay of the filter.
 *
 * @see J. O. Smith, "Digital Audio Resampling", https://ccrma.stanford.edu/~jos/resample/
 */
export class Resampler {
  readonly #rate: number;
  /** Input samples on either side that have a say in one of the output. */
  readonly #reach: number;
  /** Per phase, the weights of `2 * reach` samples; a phase more than there are, to draw lines to. */
  readonly #kernel: Float32Array;
  /** Not yet used up; the first stands at `#start` of the input. */
  #held: Float32Array;
  #start: number;
  #given = 0;

  /** @param rate of the input in Hz, whole. */
  constructor(rate: number) {
    this.#rate = rate;
    const cutoff = ROLL_OFF * Math.min(1, SPEECH_RATE / rate);
    this.#reach = Math.ceil(CROSSINGS / cutoff);
    this.#kernel = kernelOf(this.#reach, cutoff);
    // Silence before the beginning.
    this.#held = new Float32Array(this.#reach);
    this.#start = -this.#reach;
  }

  /** The output that the input so far decides. */
  push(samples: Float32Array): Float32Array {
    if (this.#rate === SPEECH_RATE) return samples;
    const held = new Float32Array(this.#held.length + samples.length);
    held.set(this.#held);
    held.set(samples, this.#held.length);
    this.#held = held;
    return this.#take(this.#start + held.length);
  }

  /** What is left at the end of the input. */
  end(): Float32Array {
    if (this.#rate === SPEECH_RATE) return new Float32Array(0);
    const length = this.#start + this.#held.length;
    const rest = this.push(new Float32Array(this.#reach + 1));
    const wanted = Math.ceil((length * SPEECH_RATE) / this.#rate) - (this.#given - rest.length);
    return rest.subarray(0, Math.max(0, wanted));
  }

  /** All output whose samples lie before `end` of the input. */
  #take(end: number): Float32Array {
    const count = Math.max(0, Math.floor(((end - this.#reach) * SPEECH_RATE) / this.#rate) - this.#given);
    const output = new Float32Array(count);
    for (let i = 0; i < count; i += 1) output[i] = this.#sampleAt(this.#given + i);
    this.#given += count;
    const next = Math.floor((this.#given * this.#rate) / SPEECH_RATE) - this.#reach;
    const used = Math.min(this.#held.length, Math.max(0, next - this.#start));
    this.#held = this.#held.slice(used);
    this.#start += used;
    return output;
  }

  #sampleAt(place: number): number {
    // Whole numbers below 2 ** 53: no error gathers over hours.
    const scaled = place * this.#rate;
    const whole = Math.floor(scaled / SPEECH_RATE);
    const phase = ((scaled - whole * SPEECH_RATE) / SPEECH_RATE) * PHASES;
    const low = Math.floor(phase);
    const share = phase - low;
    const taps = 2 * this.#reach;
    const row = low * taps;
    const first = whole - this.#reach + 1 - this.#start;
    const kernel = this.#kernel;
    const held = this.#held;
    let sum = 0;
    for (let tap = 0; tap < taps; tap += 1) {
      const before = kernel[row + tap] ?? 0;
      const after = kernel[row + taps + tap] ?? 0;
      sum += (held[first + tap] ?? 0) * (before + (after - before) * share);
    }
    return sum;
  }
}

function kernelOf(reach: number, cutoff: number): Float32Array {
  const taps = 2 * reach;
  const kernel = new Float32Array((PHASES + 1) * taps);
  for (let phase = 0; phase <= PHASES; phase += 1) {
    let sum = 0;
    for (let tap = 0; tap < taps; tap += 1) {
      const x = tap - reach + 1 - phase / PHASES;
      const weight = Math.abs(x) < reach ? cutoff * sinc(cutoff * x) * kaiser(x / reach) : 0;
      kernel[phase * taps + tap] = weight;
      sum += weight;
    }
    // Every phase lets a constant through as it is.
    const row = kernel.subarray(phase * taps, (phase + 1) * taps);
    row.set(row.map((weight) => weight / sum));
  }
  return kernel;
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

function kaiser(x: number): number {
  return bessel(KAISER_BETA * Math.sqrt(Math.max(0, 1 - x * x))) / bessel(KAISER_BETA);
}

/** The modified Bessel function of order 0, by its series. */
function bessel(x: number): number {
  let sum = 1;
  let term = 1;
  for (let k = 1; term > sum * 1e-12; k += 1) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}
