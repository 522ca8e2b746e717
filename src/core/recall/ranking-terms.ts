/** The terms of a score. */
export const TERMS = [
  /** The question's words in the memory: BM25, relative to the best a memory could have. */
  "words",
  /** Rare words and the meaning of what was pasted beside the question, see `addPasted`. */
  "pasted",
  /** Nearness of meaning: the cosine of the memory's best window. */
  "vectors",
  /** Nearness of each of the question's words to some word of the memory. */
  "tokens",
  /** The same, where the memories around it may supply what it does not say itself. */
  "context",
  /** A share of the scores of memories beside it, or of those that waypoints lead from. */
  "neighbours",
  /** The best memories of its session. */
  "session",
  /** It is said by whom the question names. */
  "speaker",
  /** A loss because it happened at another time than the question says. */
  "time",
  /** It is of a session and tells a time, and the question asks for one. */
  "tellsTime",
  /** It is of a session and names somebody or something, and the question asks for a name. */
  "tellsName",
  /** It is a bare question itself, and so rarely answers. */
  "asks",
  "phrase",
  "salience",
  "recency",
  /** It denies something, as the question does; see `denialsFirst`. */
  "denial",
  /** A loss because it names another thing, see `identifiers.ts`. */
  "identifier",
  /** It holds and a like answer does not, or the other way round; see `currency.ts`. */
  "currency",
] as const;
export type RankingTerm = (typeof TERMS)[number];

/** The weight of each term; a share says of what. */
export const WEIGHTS = {
  words: 1,
  vectors: 0.6,
  /** How much nearer a memory is to the question and its paste together than candidates are on average. */
  paste: 1.8,
  tokens: 0.5,
  context: 4.5,
  /** A share of the own score of the memory before or after. */
  nextTo: 0.35,
  /** … of the one before, when it asks: this may be the answer. */
  answer: 0.65,
  /**
   * A share of the score at the other end of a link, or of a step along a document, times its weight. Twice as much puts fewer
   * answers first.
   */
  waypoint: 0.15,
  session: 0.2,
  speaker: 0.4,
  /** A share of the score. */
  time: 0.9,
  tellsTime: 0.4,
  tellsName: 0.3,
  asks: -0.3,
  phrase: 1,
  salience: 0.1,
  recency: 0.05,
};

/** The sum that gives a score of one half, and how steeply the score rises there; see `scoreOf`. */
const HALFWAY = 1.8;
const STEEPNESS = 3.2;

/**
 * The score of a sum of terms, in [0, 1): `s^n / (s^n + h^n)`, which keeps the order. A memory of the question's own
 * text sums to 4.5 and more, an answer mostly to 1.5 and more, an unrelated memory to less than 1: the constants put
 * the first above .95, the second above .35 and the last under .25.
 */
export function scoreOf(sum: number): number {
  if (sum <= 0) return 0;
  const power = (sum / HALFWAY) ** STEEPNESS;
  return power / (power + 1);
}

/** The inverse of `scoreOf`, for comparing how much more one has than another: scores are crowded near 1. */
export function sumOf(score: number): number {
  return score <= 0 ? 0 : HALFWAY * (score / Math.max(1e-9, 1 - score)) ** (1 / STEEPNESS);
}
