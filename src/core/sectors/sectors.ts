import { dot } from "../embedding.ts";
import { type Sector, SECTORS } from "../memory.ts";
import { CUE_NAMES, cuesOf } from "./sector-cues.ts";

/**
 * The sector of a text: multinomial logistic regression over its embedding and the cues of its
 * wording. The weights are learned from `data/sectors/*.json`, see `train-sectors.ts`.
 */

/** One sentence per sector, shown to people. */
export const SECTOR_DESCRIPTIONS: Readonly<Record<Sector, string>> = {
  semantic: "What is so: facts, definitions, properties, names and numbers, and what somebody prefers.",
  episodic:
    "What happened or will happen: events of a particular time or place, with the people who were there.",
  procedural: "How something is done: instructions, steps, commands, rules and agreed ways of working.",
  emotional: "How somebody feels: joy, fear, anger, sadness, love, pride and moods.",
  reflective: "What somebody makes of it: lessons, insights, self-assessment, doubts and aims in life.",
};

/** `data/sectors/classifier.json`, parsed. */
export interface SectorModel {
  readonly version: 1;
  /** SHA-256 of the embedding model it was trained with, hex. */
  readonly embeddingModel: string;
  /** A further sector is listed from this probability on, in (0, 1). */
  readonly threshold: number;
  /** Names of the cues, which must be those of `sector-cues.ts`, in order. */
  readonly cues: readonly string[];
  /** Mean of each cue in training; stands for the cues of a text that has none. */
  readonly cueMeans: readonly number[];
  readonly sectors: Readonly<Record<Sector, SectorWeights>>;
}

export interface SectorWeights {
  readonly bias: number;
  /** One per dimension of the embedding. */
  readonly embedding: readonly number[];
  /** One per cue. */
  readonly cues: readonly number[];
}

export interface Classification {
  readonly primarySector: Sector;
  /** The primary sector first, then others by descending probability; no repeats. */
  readonly sectors: readonly Sector[];
  /** Sums to 1. */
  readonly probabilities: Readonly<Record<Sector, number>>;
}

/** Reads the text as far as `CUE_TEXT_LENGTH`; the embedding may be a mean of windows, only its direction counts. */
export type SectorClassifier = (input: {
  readonly content: string;
  readonly embedding: Float32Array;
}) => Classification;

/**
 * A classifier with the weights of `model`. Equal input gives equal output; ties go to the earlier of `SECTORS`.
 *
 * The classifier throws a RangeError for an embedding that is not finite or of another length than in training.
 * @throws {TypeError} for a model of other cues, as one that an earlier program trained may be.
 */
export function createSectorClassifier(model: SectorModel): SectorClassifier {
  if (model.cues.join() !== CUE_NAMES.join())
    throw new TypeError(
      "the sector classifier is unusable: it was trained with other cues than this program reads; train it again",
    );
  const means = Float64Array.from(model.cueMeans);

  return ({ content, embedding }) => {
    const direction = unit(embedding);
    const cues = cuesOf(content) ?? means;
    const logits = SECTORS.map((sector) => {
      const weights = model.sectors[sector];
      if (direction.length !== weights.embedding.length)
        throw new RangeError(
          `the sector classifier needs embeddings of ${weights.embedding.length} numbers, got ${direction.length}`,
        );
      return weights.bias + dot(weights.embedding, direction) + dot(weights.cues, cues);
    });
    return classification(softmax(logits), model.threshold);
  };
}

function classification(probabilities: readonly number[], threshold: number): Classification {
  const ranked = SECTORS.map((sector, index) => ({ sector, probability: probabilities[index] ?? 0 })).sort(
    (a, b) => b.probability - a.probability,
  );
  const sectors = ranked.filter(({ probability }, rank) => rank === 0 || probability >= threshold);
  return {
    primarySector: ranked[0]?.sector ?? "semantic",
    sectors: sectors.map(({ sector }) => sector),
    probabilities: Object.fromEntries(
      SECTORS.map((sector, index) => [sector, probabilities[index] ?? 0]),
    ) as Record<Sector, number>,
  };
}

/** Probabilities that sum to 1. */
export function softmax(logits: readonly number[]): number[] {
  const highest = Math.max(...logits);
  const exponentials = logits.map((logit) => Math.exp(logit - highest));
  const total = exponentials.reduce((sum, value) => sum + value, 0);
  return exponentials.map((value) => value / total);
}

/** Windows that cancel out have no direction: then only the cues count. */
function unit(embedding: Float32Array): Float64Array {
  const length = Math.sqrt(embedding.reduce((sum, value) => sum + value * value, 0));
  if (!Number.isFinite(length)) throw new RangeError("the sector classifier needs finite embeddings");
  return Float64Array.from(embedding, (value) => (length === 0 ? 0 : value / length));
}
