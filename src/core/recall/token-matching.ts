import { TOKEN_DIMENSIONS, TOKEN_SCALE } from "../embedding.ts";
import { Int8Rows } from "./int8-kernel.ts";

/** Used by one question at a time: matching waits for nothing. */
let scratch: Int8Rows | undefined;

/**
 * Late interaction: for each memory and each token of the question, the cosine with the memory's nearest token. All
 * memories in one scan a token: 200 memories and 8 tokens are 5 million products, under a millisecond.
 *
 * @see Khattab & Zaharia, "ColBERT", SIGIR 2020: the maximum per question token is theirs.
 */
export function matchTokens(
  question: Int8Array,
  memories: readonly (Int8Array | undefined)[],
): Float32Array[] {
  scratch ??= new Int8Rows(TOKEN_DIMENSIONS);
  const rows = scratch;
  rows.clear();
  for (const vectors of memories) if (vectors !== undefined) rows.add(vectors);
  const count = question.length / TOKEN_DIMENSIONS;
  const matches = memories.map(() => new Float32Array(count));
  for (let token = 0; token < count; token += 1) {
    const products = rows.dot(question.subarray(token * TOKEN_DIMENSIONS, (token + 1) * TOKEN_DIMENSIONS));
    let row = 0;
    memories.forEach((vectors, memory) => {
      const end = row + (vectors?.length ?? 0) / TOKEN_DIMENSIONS;
      let best = row === end ? 0 : -Infinity;
      for (; row < end; row += 1) best = Math.max(best, products[row] ?? 0);
      const own = matches[memory];
      if (own !== undefined) own[token] = best / TOKEN_SCALE ** 2;
    });
  }
  return matches;
}
