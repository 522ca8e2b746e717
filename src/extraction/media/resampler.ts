/** The rate of speech recognition, in Hz. */
export const SPEECH_RATE = 16_000;

/** Zero crossings of the kernel on either side; more make the edge of the pass band steeper. */
const CROSSINGS = 16;
/** Pass band as a part of half the lower rate; the rest is the transition band. */
const ROLL_OFF = 0.92;
/** Shape of the Kaiser window; about 90 dB of attenuation. */
const KAISER_BETA = 9;

/**
 * Brings mono samples of any rate to 16 kHz: a windowed sinc, which stops what the new rate cannot hold.
 *
 * Samples go in and come out in pieces; the output begins with the first sample, without the delay of the filter.
 *
 * @see J. O. Smith, "Digital Audio Resampling", https://ccrma.stanford.edu/~jos/resample/
 */
export class Resampler {
  readonly #rate: number;
  readonly #cutoff: number;
  /** Input samples on either side that count for one of the output. */
  readonly #extent: number;
  /** The weights of `2 * extent` samples, by the place between two input samples in 1/16000. */
  readonly #kernels = new Map<number, Float32Array>();
  /** Input that is still needed; it begins at `#start`. */
  #held: Float32Array;
  #start: number;
  /** Samples of the output so far. */
  #given = 0;

  /** @param rate of the input in Hz, whole. */
  constructor(rate: number) {
    this.#rate = rate;
    this.#cutoff = ROLL_OFF * Math.min(1, SPEECH_RATE / rate);
    this.#extent = Math.ceil(CROSSINGS / this.#cutoff);
    // Silence before the beginning.
    this.#held = new Float32Array(this.#extent);
    this.#start = -this.#extent;
  }

  /** The output that the input so far decides. */
  push(samples: Float32Array): Float32Array {
    if (this.#rate === SPEECH_RATE) return samples;
    const held = new Float32Array(this.#held.length + samples.length);
    held.set(this.#held);
    held.set(samples, this.#held.length);
    const end = this.#start + held.length - this.#extent;
    const count = Math.max(0, Math.floor((end * SPEECH_RATE) / this.#rate) - this.#given);
    const output = new Float32Array(count);
    for (let i = 0; i < count; i += 1) output[i] = this.#sampleAt(this.#given + i, held);
    this.#given += count;
    const next = Math.floor((this.#given * this.#rate) / SPEECH_RATE) - this.#extent;
    const used = Math.min(held.length, Math.max(0, next - this.#start));
    this.#held = held.slice(used);
    this.#start += used;
    return output;
  }

  /** The remaining samples at the end of the input. */
  end(): Float32Array {
    if (this.#rate === SPEECH_RATE) return new Float32Array(0);
    const length = this.#start + this.#held.length;
    const before = this.#given;
    const rest = this.push(new Float32Array(this.#extent + 1));
    return rest.subarray(0, Math.max(0, Math.ceil((length * SPEECH_RATE) / this.#rate) - before));
  }

  #sampleAt(place: number, held: Float32Array): number {
    // Whole numbers below 2 ** 53: no error adds up over hours.
    const scaled = place * this.#rate;
    const whole = Math.floor(scaled / SPEECH_RATE);
    const phase = scaled - whole * SPEECH_RATE;
    let kernel = this.#kernels.get(phase);
    if (kernel === undefined) this.#kernels.set(phase, (kernel = this.#kernelAt(phase / SPEECH_RATE)));
    const first = whole - this.#extent + 1 - this.#start;
    let sum = 0;
    for (let tap = 0; tap < kernel.length; tap += 1) sum += (held[first + tap] ?? 0) * (kernel[tap] ?? 0);
    return sum;
  }

  #kernelAt(offset: number): Float32Array {
    const kernel = Float32Array.from({ length: 2 * this.#extent }, (_, tap) => {
      const x = tap - this.#extent + 1 - offset;
      return Math.abs(x) < this.#extent ? sinc(this.#cutoff * x) * kaiser(x / this.#extent) : 0;
    });
    // A constant passes unchanged.
    const sum = kernel.reduce((total, weight) => total + weight, 0);
    return kernel.map((weight) => weight / sum);
  }
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

/** Its constant factor is left out: the kernel is normalised. */
function kaiser(x: number): number {
  return bessel(KAISER_BETA * Math.sqrt(Math.max(0, 1 - x * x)));
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
