/** Vectors as the domain sees them: shapes and scales, not how they are made. */

/** Length of an embedding of the bundled model. */
export const EMBEDDING_DIMENSIONS = 384;
/** Length of a token vector after projection; a multiple of 16, as the int8 kernel wants. */
export const TOKEN_DIMENSIONS = 128;
/** Token vectors kept of one text: 256 KiB. */
export const MAX_TOKENS = 2_048;
/**
 * Factor of a token vector's components before they are rounded to int8 (and clamped to ±127). The
 * dot product of two rows, divided by its square, is the cosine of the two tokens, give or take .01. The largest
 * component seen was .55, so 200 cuts nothing off; on LoCoMo scales from 127 to 400 find equally well.
 */
export const TOKEN_SCALE = 200;

/** Model, rule and file that made a vector; vectors of unlike stamps are never compared. */
export interface EmbeddingStamp {
  /** SHA-256 of the model file, hex. */
  readonly model: string;
  /** Name and version of the rule that cuts long text into windows. */
  readonly windows: string;
  readonly pooling: string;
  /** SHA-256 of the token projection file, hex. */
  readonly projection: string;
}

/** Figures of a model that thresholds depend on. */
export interface EmbeddingProfile {
  /** Cosine from which two memories count as similar: about one subject, not merely of one kind. */
  readonly similar: number;
  /** Average similarity of the tokens of any two texts: only a higher one means something. */
  readonly tokenFloor: number;
}

/** Token vectors of a text, projected, brought to unit length and rounded to int8; see `TOKEN_SCALE`. */
export interface TokenVectors {
  /** Row-major, `TOKEN_DIMENSIONS` bytes a token; its length is a multiple of that, possibly 0. */
  readonly vectors: Int8Array;
}

/** The embedding of a memory's text. */
export interface DocumentEmbedding {
  /** Unit length (L2), one per window of the text, in order, at least one. */
  readonly windows: readonly Float32Array[];
  /** Tokens of all windows without stop words and repeats of overlaps, in order; at most 2 048 (256 KiB). */
  readonly tokens: TokenVectors;
  /** It may wait while the model is changed. */
  readonly stamp: EmbeddingStamp;
}

/** The embedding of a question. */
export interface QuestionEmbedding {
  /** Unit length. */
  readonly vector: Float32Array;
  readonly tokens: TokenVectors;
  /** The whole word, lower case, that each token is a piece of; as long as there are tokens. Stop words left out. */
  readonly words: readonly string[];
}

/** A short name of a stamp, kept in every row made with it. */
export function stampKey({ model, windows, pooling, projection }: EmbeddingStamp): string {
  return [model.slice(0, 12), windows, pooling, projection.slice(0, 12)].join("/");
}

/** Cosine of vectors of unit length: the product of any two. */
export function cosine(a: Float32Array, b: Float32Array): number {
  // Two sums: an addition need not wait for the one before it.
  let [even, odd] = [0, 0];
  for (let i = 0; i < a.length; i += 2) {
    even += (a[i] ?? 0) * (b[i] ?? 0);
    odd += (a[i + 1] ?? 0) * (b[i + 1] ?? 0);
  }
  return even + odd;
}

/** How alike two texts are: the cosine of their windows that are most alike, 0 where one has none. */
export function likeness(a: readonly Float32Array[], b: readonly Float32Array[]): number {
  let best = 0;
  for (const one of a) for (const other of b) best = Math.max(best, cosine(one, other));
  return best;
}

/** The sum of the products of two lists of numbers. */
export function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}

/** The mean of a memory's windows: the direction of its text as a whole. Not of unit length. */
export function meanWindow(windows: readonly Float32Array[]): Float32Array {
  const [first] = windows;
  if (first === undefined) throw new TypeError("an embedding has at least one window");
  if (windows.length === 1) return first;
  // Window by window: a long text has thousands of them.
  const sums = new Float64Array(first.length);
  for (const window of windows)
    for (let i = 0; i < sums.length; i += 1) sums[i] = (sums[i] ?? 0) + (window[i] ?? 0);
  return Float32Array.from(sums, (sum) => sum / windows.length);
}
