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

/** How rare a term is, > 0: `ln(1 + (n − df + .5) / (df + .5))` for `documentFrequency` df of `count` n memories. */
export function inverseDocumentFrequency(documentFrequency: number, count: number): number {
  return Math.log(1 + (count - documentFrequency + 0.5) / (documentFrequency + 0.5));
}

/**
 * What a memory of average length scores that is made of the question's terms: the scale on which a BM25 score is
 * absolute, the same for one rare word as for ten common ones.
 */
export function bestBm25(
  terms: readonly { readonly weight: number; readonly idf: number; readonly isKnown: boolean }[],
): number {
  let best = 0;
  for (const { weight, idf, isKnown } of terms)
    best += weight * idf * (K1 + 1) * (isKnown ? 1 : UNKNOWN_TERM_SHARE);
  return best;
}
