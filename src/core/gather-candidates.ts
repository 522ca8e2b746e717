import { type QuestionEmbedding, TOKEN_DIMENSIONS, TOKEN_SCALE } from "./embedding.ts";
import { Int8Rows } from "./int8-kernel.ts";
import type { Catalogue, CatalogueEntry, MemoryStore, Ordinal, QueryTerm, Selection } from "./ports.ts";

/** A memory that may answer a question, with what each arm says of it. */
export interface Candidate {
  readonly entry: CatalogueEntry;
  /** BM25, as `MemoryStore.scoreWords`. */
  readonly words: number;
  /** Cosine of the best window, in [0, 1]. */
  readonly cosine: number;
  /** For each token of the question, its cosine with the nearest token of the memory, in [-1, 1]. */
  readonly matches: Float32Array;
  /** The candidates two places before, one before, one after and two after in the session; undefined at its ends. */
  readonly around: readonly (Ordinal | undefined)[];
}

/** Best of each arm that are looked at closely; more gains nothing (measured to 100 000 memories). */
const CANDIDATES_AN_ARM = 100;
const PLACES_AROUND = [-2, -1, 1, 2] as const;

/**
 * The memories that may answer a question: the best by words, the best by vectors, and their neighbours in the session,
 * all within the selection. Reads their token vectors and nothing else from the disk.
 */
export async function gatherCandidates(
  store: MemoryStore,
  question: QuestionEmbedding,
  terms: readonly QueryTerm[],
  selection: Selection | undefined,
): Promise<Candidate[]> {
  const words = store.scoreWords(terms, selection);
  const vectors = store.scoreVectors(question.vector, selection);
  const found = new Set([...words.top(CANDIDATES_AN_ARM), ...vectors.top(CANDIDATES_AN_ARM)]);
  for (const ordinal of [...found]) {
    for (const neighbour of around(store.catalogue, ordinal, selection)) {
      if (neighbour !== undefined) found.add(neighbour);
    }
  }
  // Looked up before anything is awaited: a memory that is deleted meanwhile is missing from the rows.
  const entries = [...found].flatMap((ordinal) => store.catalogue.at(ordinal) ?? []);
  const neighbours = entries.map(({ ordinal }) => around(store.catalogue, ordinal, selection));
  const tokens = await store.readTokens(entries.map(({ id }) => id));
  const matches = matchTokens(
    question.tokens.vectors,
    entries.map(({ id }) => tokens.get(id)?.vectors),
  );
  return entries.map((entry, i) => ({
    entry,
    words: words.of(entry.ordinal),
    cosine: vectors.of(entry.ordinal),
    matches: matches[i] ?? new Float32Array(),
    around: neighbours[i] ?? [],
  }));
}

function around(catalogue: Catalogue, ordinal: Ordinal, selection: Selection | undefined): (Ordinal | undefined)[] {
  return PLACES_AROUND.map((distance) => {
    const neighbour = catalogue.sessionNeighbour(ordinal, distance);
    return neighbour === undefined || selection === undefined || selection.has(neighbour) ? neighbour : undefined;
  });
}

/** Used by one question at a time: matching waits for nothing. */
let scratch: Int8Rows | undefined;

/**
 * Late interaction: for each memory and each token of the question, the cosine with the memory's nearest token. All
 * memories in one scan a token: 200 memories and 8 tokens are 5 million products, under a millisecond.
 *
 * @see Khattab & Zaharia, "ColBERT", SIGIR 2020: the maximum per question token is theirs.
 */
function matchTokens(question: Int8Array, memories: readonly (Int8Array | undefined)[]): Float32Array[] {
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
