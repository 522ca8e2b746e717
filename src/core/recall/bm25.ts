import type { WordFrequencies } from "../text/stop-words.ts";

/**
 * BM25's constants. Memories are short and unlike in length, so length is discounted less (b) and repeats
 * saturate sooner (k1) than in the usual 1.2 and .75; measured on conversations.
 */
const K1 = 0.9;
const B = 0.4;

/** How much a question's terms that no memory has count towards the best score: they may be misspelt or beside the point. */
const UNKNOWN_TERM_SHARE = 0.5;

/**
 * BM25's weight of a term in a memory, in [0, K1 + 1), to be multiplied by the term's inverse document frequency.
 *
 * @param frequency how often the term stands in the memory
 * @param length terms in the memory; `averageLength` in the average memory, > 0
 * @see Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009.
 */
export function bm25Weight(frequency: number, length: number, averageLength: number): number {
  return (frequency * (K1 + 1)) / (frequency + K1 * (1 - B + (B * length) / averageLength));
}

/** Memories of the background that stand beside the user's own: of the user of three notes it says nearly all, of 2 000 little. */
const BACKGROUND_MEMORIES = 100;
/** A misspelt word stands for so many at most. */
const MEANT_BY = 3;
/** Terms of a memory of the background. */
const BACKGROUND_LENGTH = 20;

export interface NearTerm {
  readonly term: string;
  /** How near, in (0, 1]. */
  readonly weight: number;
}

/** How the memories of a user, or of all where nobody is named, use words; nothing of anybody else's. */
export interface TermStatistics {
  readonly memories: number;
  /** Terms of all of them, repeats counted. */
  readonly totalLength: number;
  /** How many of them have the term. */
  memoriesWith(term: string): number;
  /** The terms in them that may be meant by a misspelt word, each with how near it is; see `nearness`. Cost: linear in all terms. */
  termsNear(word: string): NearTerm[];
}

/** The weights of a question's words for one user. */
export interface TermWeights {
  /** > 0. */
  inverseDocumentFrequency(term: string): number;
  /** Whether any of the user's memories has it. */
  isKnown(term: string): boolean;
  /** Whether so many of the user's memories have it that it tells none from another: a project's name, "user". */
  isCommon(this: void, term: string): boolean;
  /** The words that a word which none of them has may be meant for, nearest first, at most three. */
  meantBy(term: string): readonly NearTerm[];
  /** Terms of the average memory, > 0. */
  readonly averageLength: number;
}

/** A word is common that more memories have than so many, and than this share of all. */
const COMMON = { least: 4, share: 0.1 } as const;

/**
 * The user's statistics blended with the language's, so that those of three notes make sensible weights:
 * `ln(1 + (n − df + .5) / (df + .5))` for df of n memories.
 */
export function termWeights(statistics: TermStatistics, frequencies: WordFrequencies): TermWeights {
  const memories = statistics.memories + BACKGROUND_MEMORIES;
  const own = new Map<string, number>();
  const memoriesWith = (term: string) => {
    const known = own.get(term) ?? statistics.memoriesWith(term);
    own.set(term, known);
    return known;
  };
  return {
    inverseDocumentFrequency(term) {
      const documentFrequency = memoriesWith(term) + BACKGROUND_MEMORIES * frequencies(term);
      return Math.log(1 + (memories - documentFrequency + 0.5) / (documentFrequency + 0.5));
    },
    isKnown: (term) => memoriesWith(term) > 0,
    isCommon: (term) => memoriesWith(term) > Math.max(COMMON.least, COMMON.share * statistics.memories),
    meantBy: (term) =>
      statistics
        .termsNear(term)
        .sort((a, b) => b.weight - a.weight || (a.term < b.term ? -1 : 1))
        .slice(0, MEANT_BY),
    averageLength: (statistics.totalLength + BACKGROUND_MEMORIES * BACKGROUND_LENGTH) / memories,
  };
}

/**
 * The score of a memory of average length that is made of the question's terms: the scale on which a BM25 score is
 * absolute, the same for one rare word as for ten common ones.
 */
export function bestBm25(terms: readonly { readonly weight: number; readonly isKnown: boolean }[]): number {
  let best = 0;
  for (const { weight, isKnown } of terms) best += weight * (K1 + 1) * (isKnown ? 1 : UNKNOWN_TERM_SHARE);
  return best;
}
