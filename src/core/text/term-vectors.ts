import { analyse } from "./analyser.ts";

export type TermVector = ReadonlyMap<string, number>;

/** The tf-idf vector of each text among the others, of unit length; empty for a text without terms. */
export function termVectors(texts: readonly string[]): TermVector[] {
  const analysed = texts.map(analyse);
  const frequency = new Map<string, number>();
  for (const terms of analysed) {
    for (const term of new Set(terms)) frequency.set(term, (frequency.get(term) ?? 0) + 1);
  }
  return analysed.map((terms) => {
    const vector = new Map<string, number>();
    for (const term of terms) {
      const idf = Math.log(1 + texts.length / (frequency.get(term) ?? 1));
      vector.set(term, (vector.get(term) ?? 0) + idf);
    }
    const length = Math.hypot(...vector.values()) || 1;
    for (const [term, weight] of vector) vector.set(term, weight / length);
    return vector;
  });
}

/** The dot product: the cosine of two texts where both are of unit length. */
export function dotOf(a: TermVector, b: TermVector): number {
  let sum = 0;
  for (const [term, weight] of a) sum += weight * (b.get(term) ?? 0);
  return sum;
}
