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
 *
 * @throws {TypeError} for a model of another version or of other cues, and for one with weights missing.
 */
export function createSectorClassifier(model: SectorModel): SectorClassifier {
  validate(model);
  const means = Float64Array.from(model.cueMeans);

  return ({ content, embedding }) => {
    const direction = unit(embedding);
    const cues = cuesOf(content) ?? means;
    const logits = SECTORS.map((sector) => {
      const weights = model.sectors[sector];
      if (direction.length !== weights.embedding.length) {
        throw new RangeError(
          `the sector classifier needs embeddings of ${weights.embedding.length} numbers, got ${direction.length}`,
        );
      }
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

function dot(weights: readonly number[], values: Float32Array | Float64Array): number {
  return weights.reduce((sum, weight, index) => sum + weight * (values[index] ?? 0), 0);
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
  if (!Number.isFinite(length)) {
    throw new RangeError("the sector classifier needs finite embeddings");
  }
  return Float64Array.from(embedding, (value) => (length === 0 ? 0 : value / length));
}

function validate({ version, threshold, cues, cueMeans, sectors }: SectorModel): void {
  const check = (holds: boolean, problem: string) => {
    if (!holds) throw new TypeError(`the sector classifier is unusable: ${problem}`);
  };
  check(version === 1, `its version is ${String(version)}, not 1`);
  check(threshold > 0 && threshold < 1, "threshold is not between 0 and 1");
  check(
    cues.join() === CUE_NAMES.join(),
    "it was trained with other cues than this program reads; train it again",
  );
  check(cueMeans.length === cues.length, `cueMeans is not a list of ${cues.length} numbers`);
  const dimensions = sectors.semantic.embedding.length;
  for (const sector of SECTORS) {
    const { bias, embedding, cues: weights } = sectors[sector];
    check(
      [bias, ...embedding, ...weights].every(Number.isFinite) &&
        embedding.length === dimensions &&
        weights.length === cues.length,
      `sectors.${sector} is not a bias, ${dimensions} weights of the embedding and ${cues.length} of the cues`,
    );
  }
}

/** A longer query is a text, whose beginning holds the question. */
const QUESTION_LENGTH = 300;

/** The first sector with a form that fits decides, so feelings and lessons go before the plain forms they come in. */
const QUESTION_FORMS: readonly (readonly [Sector, readonly RegExp[]])[] = [
  [
    "emotional",
    [
      /\b(?:feel|feels|felt|feeling|feelings|emotions?|mood)\b(?! like \w+ing)/,
      /\b(?:happy|sad|angry|afraid|scared|anxious|worried|upset|excited|nervous|proud|jealous|frustrated|lonely)\b/,
      /\b(?:ashamed|grateful|furious|stressed)\b/,
    ],
  ],
  [
    "reflective",
    [
      /\b(?:lessons?|takeaways?|insights?|strengths|weaknesses|regrets?|in hindsight|looking back)\b/,
      /\b(?:did|have|has|had|do|does) (?:i|we|you|he|she|they) (?:really )?(?:learn|realise|realize|conclude)(?:d|ed|t)?\b/,
      /\b(?:went|gone) (?:well|wrong|badly)\b|\b(?:do|done) (?:better|differently)\b|\bmy (?:goals?|values|habits)\b/,
    ],
  ],
  [
    "procedural",
    [
      /\bhow to\b|\bhow (?:do|should|can|could|must) (?:i|we|you|one|people|users|(?:the|my|our) \w+)\b(?! (?:like|feel|know)\b)/,
      /\bhow (?:is|are) .{1,60} (?:done|made|built|set up|installed|deployed|configured)\b/,
      /\b(?:steps?|instructions?|procedure|recipe|commands?|way) (?:to|for)\b/,
      /\bwhat(?:'s| is) the (?:procedure|process|right way|best way|command)\b/,
      /\bwhat (?:should|must|do) (?:i|we) do (?:if|when|before|after)\b/,
    ],
  ],
  [
    "episodic",
    [
      /\b(?:when|what (?:day|date|month|year|time)|which (?:day|month|year)) (?:did|was|were|had)\b/,
      /\bwhat (?:has )?happened\b|\blast time\b|\bhow long ago\b/,
      /\bwhat did \w+ (?:do|say|talk|discuss|eat|buy|see)\b|\bwhere did\b/,
      /\bwhen (?:is|are|will) (?:my|our|the next)\b/,
      /\bwho (?:came|went|met|visited|called|won|broke|said)\b/,
    ],
  ],
  [
    "semantic",
    [
      /\bwhat does .{1,60} (?:mean|stand for)\b/,
      /\bwhat(?:'s| is) (?:the|my|our|his|her|their) (?:\w+ )?(?:meaning|definition|name|address|number|size|version)\b/,
      /\bwhat(?:'s| is) (?:the|my|our|his|her|their) (?:\w+ )?(?:birthday|password|port|favou?rite|capital)\b/,
    ],
  ],
];

/**
 * The sector a question asks for, or undefined where its form is of none: "how do I …" procedural, "when did …"
 * episodic, "how did I feel …" emotional, "what did we learn …" reflective, "what does … mean" semantic.
 *
 * A weak hint: memories of every sector can answer any question. English only.
 */
export function sectorOfQuestion(query: string): Sector | undefined {
  const question = query.slice(0, QUESTION_LENGTH).replaceAll("’", "'").toLowerCase();
  return QUESTION_FORMS.find(([, forms]) => forms.some((form) => form.test(question)))?.[0];
}
