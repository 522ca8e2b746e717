import { dot } from "../embedding.ts";
import { type Sector, SECTORS } from "../memory.ts";
import { CUE_NAMES, cuesOf } from "./sector-cues.ts";
import { type SectorModel, type SectorWeights, softmax } from "./sectors.ts";

/** A text of `data/sectors`. */
export interface Statement {
  readonly text: string;
  /** The primary sector first. */
  readonly sectors: readonly Sector[];
}

export interface Example extends Statement {
  readonly embedding: Float32Array;
}

// Chosen by cross-validation; between half and twice each of them the accuracy moves by less than .01.
const L2_PENALTY = 0.3;
/** A cue is 0 or 1 where a component of an embedding is about .05. */
const CUE_SCALE = 0.25;
/** Probability that a statement's further sectors share. */
const FURTHER_SHARE = 0.3;
const STEPS = 300;
/** Best label F1 in cross-validation, with little between .25 and .35. */
const THRESHOLD = 0.3;
/** Times the logits, so that probabilities mean what they say: the penalty alone leaves them too timid. */
const SHARPNESS = 1.3;
const DECIMALS = 3;

/** Multinomial logistic regression with a quadratic penalty, by Nesterov's gradient from zero, without chance. */
export function trainSectors(modelSha256: string, examples: readonly Example[]): SectorModel {
  const cues = examples.map(({ text }) => cuesOf(text));
  const known = cues.filter((values) => values !== undefined);
  const cueMeans = CUE_NAMES.map(
    (_, i) => known.reduce((sum, values) => sum + (values[i] ?? 0), 0) / known.length,
  );
  const rows = examples.map(({ embedding }, n) => [
    ...embedding,
    ...Array.from(cues[n] ?? cueMeans, (value) => value * CUE_SCALE),
    1,
  ]);
  const dimensions = examples[0]?.embedding.length ?? 0;
  const weights = regress(
    rows.map((row) => Float64Array.from(row)),
    examples.map(targetOf),
  );

  const weightsOf = (of: Float64Array): SectorWeights => ({
    bias: round((of.at(-1) ?? 0) * SHARPNESS),
    embedding: Array.from(of.subarray(0, dimensions), (weight) => round(weight * SHARPNESS)),
    cues: Array.from(of.subarray(dimensions, -1), (weight) => round(weight * SHARPNESS * CUE_SCALE)),
  });
  return {
    version: 1,
    embeddingModel: modelSha256,
    threshold: THRESHOLD,
    cues: CUE_NAMES,
    cueMeans: cueMeans.map(round),
    sectors: Object.fromEntries(
      SECTORS.map((sector, s) => [sector, weightsOf(weights[s] ?? new Float64Array(rows[0]?.length ?? 0))]),
    ) as Record<Sector, SectorWeights>,
  };
}

function targetOf({ sectors }: Statement): number[] {
  const further = sectors.length - 1;
  return SECTORS.map((sector) => {
    const place = sectors.indexOf(sector);
    if (place < 0) return 0;
    if (further === 0) return 1;
    return place === 0 ? 1 - FURTHER_SHARE : FURTHER_SHARE / further;
  });
}

/** Weights a class over rows whose last number is 1, the bias, which is not penalised. */
function regress(rows: readonly Float64Array[], targets: readonly (readonly number[])[]): Float64Array[] {
  const width = rows[0]?.length ?? 0;
  const zero = () => SECTORS.map(() => new Float64Array(width));
  const step = 1 / (0.5 * largestEigenvalue(rows, width) + L2_PENALTY);
  let weights = zero();
  let ahead = zero();
  let momentum = 1;

  for (let n = 0; n < STEPS; n++) {
    const gradient = ahead.map((of) => of.map((weight, i) => (i === width - 1 ? 0 : L2_PENALTY * weight)));
    for (const [r, row] of rows.entries()) {
      const probabilities = softmax(ahead.map((of) => dot(of, row)));
      for (const [s, of] of gradient.entries()) {
        const error = (probabilities[s] ?? 0) - (targets[r]?.[s] ?? 0);
        for (let i = 0; i < width; i++) of[i] = (of[i] ?? 0) + error * (row[i] ?? 0);
      }
    }
    const next = ahead.map((of, s) => of.map((weight, i) => weight - step * (gradient[s]?.[i] ?? 0)));
    const nextMomentum = (1 + Math.sqrt(1 + 4 * momentum * momentum)) / 2;
    const push = (momentum - 1) / nextMomentum;
    const last = weights;
    ahead = next.map((of, s) => of.map((weight, i) => weight + push * (weight - (last[s]?.[i] ?? 0))));
    weights = next;
    momentum = nextMomentum;
  }
  return weights;
}

/** The largest eigenvalue of the rows' Gram matrix, by power iteration: bounds the curvature, hence the step. */
function largestEigenvalue(rows: readonly Float64Array[], width: number): number {
  let vector = new Float64Array(width).fill(1 / Math.sqrt(width));
  let value = 0;
  for (let n = 0; n < 30; n++) {
    const image = new Float64Array(width);
    for (const row of rows) {
      const along = dot(vector, row);
      for (let i = 0; i < width; i++) image[i] = (image[i] ?? 0) + along * (row[i] ?? 0);
    }
    value = Math.sqrt(dot(image, image));
    vector = image.map((x) => x / value);
  }
  // It comes from below; a little more keeps the step safe.
  return value * 1.05;
}

function round(value: number): number {
  // + 0 turns −0, which JSON does not know, into 0.
  return Number(value.toFixed(DECIMALS)) + 0;
}
