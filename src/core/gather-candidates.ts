import { type QuestionEmbedding, TOKEN_DIMENSIONS, TOKEN_SCALE } from "./embedding.ts";
import { Int8Rows } from "./int8-kernel.ts";
import type { Catalogue, CatalogueEntry, MemoryStore, Ordinal, Selection } from "./ports.ts";
import { containsPhrase, type RankingQuestion } from "./question.ts";
import type { RankingCandidate, RankingEdge } from "./ranking-candidate.ts";

export interface Candidate extends RankingCandidate {
  readonly id: string;
}

export interface Candidates {
  readonly candidates: readonly Candidate[];
  /** The waypoints between them, but for `next`, which `around` stands for. */
  readonly edges: readonly RankingEdge[];
}

/** Best of each arm that are looked at closely; more gains nothing (measured to 100 000 memories). */
const CANDIDATES_AN_ARM = 100;
/** A selection of so many is looked at whole: the answer is the exact order then, and costs no more. */
const LOOKED_AT_WHOLE = 300;
/** Best of each arm from which waypoints are followed to memories that neither arm found. */
const FOLLOWED_AN_ARM = 20;
const PLACES_AROUND = [-2, -1, 1, 2] as const;

/**
 * The memories that may answer a question: the best by words, the best by vectors, their neighbours in the session and
 * at the other end of waypoints, all within the selection. Reads their token vectors, and their texts only for a
 * question that quotes a phrase.
 */
export async function gatherCandidates(
  store: MemoryStore,
  question: RankingQuestion,
  embedding: QuestionEmbedding,
  selection: Selection | undefined,
): Promise<Candidates> {
  const { catalogue } = store;
  const words = store.scoreWords(question.terms, selection);
  const vectors = store.scoreVectors(embedding.vector, selection);
  const arms = [words.top(CANDIDATES_AN_ARM), vectors.top(CANDIDATES_AN_ARM)];
  const isSelected = (ordinal: Ordinal) => selection === undefined || selection.has(ordinal);

  const ordinals = new Set(selection !== undefined && selection.size <= LOOKED_AT_WHOLE ? selection.list() : arms.flat());
  for (const ordinal of arms.flatMap((arm) => arm.slice(0, FOLLOWED_AN_ARM))) {
    for (const { source, target } of waypointsOf(catalogue, ordinal)) {
      for (const end of [source, target]) if (isSelected(end)) ordinals.add(end);
    }
  }
  // A copy: the neighbours of neighbours are none of ours.
  for (const ordinal of Array.from(ordinals)) {
    for (const neighbour of around(catalogue, ordinal)) {
      if (neighbour !== undefined && isSelected(neighbour)) ordinals.add(neighbour);
    }
  }

  // Looked up before anything is awaited: what is deleted meanwhile is missing from the rows that are read later.
  const entries = [...ordinals].flatMap((ordinal) => catalogue.at(ordinal) ?? []);
  const edges = entries.flatMap(({ ordinal }) =>
    waypointsOf(catalogue, ordinal).filter(({ source, target }) => source === ordinal && ordinals.has(target)),
  );
  const places = entries.map(({ ordinal }) => around(catalogue, ordinal));
  const ids = entries.map(({ id }) => id);
  const tokens = await store.readTokens(ids);
  const matches = matchTokens(embedding.tokens.vectors, ids.map((id) => tokens.get(id)?.vectors));
  const quoted = await quotedShares(store, question, ids);

  const candidates = entries.map((entry, i): Candidate => ({
    id: entry.id,
    ordinal: entry.ordinal,
    words: words.of(entry.ordinal),
    cosine: vectors.of(entry.ordinal),
    matches: matches[i] ?? new Float32Array(),
    around: places[i] ?? [],
    sessionId: sessionOf(entry),
    traits: entry.traits,
    occurredAt: entry.occurredAt,
    salience: entry.salience,
    quoted: quoted.get(entry.id) ?? 0,
  }));
  return { candidates, edges };
}

/** Two users may give their sessions one name. */
function sessionOf({ userId, sessionId }: CatalogueEntry): string | null {
  return sessionId === null ? null : JSON.stringify([userId, sessionId]);
}

function around(catalogue: Catalogue, ordinal: Ordinal): (Ordinal | undefined)[] {
  return PLACES_AROUND.map((distance) => catalogue.sessionNeighbour(ordinal, distance));
}

function waypointsOf(catalogue: Catalogue, ordinal: Ordinal): RankingEdge[] {
  return catalogue.edgesAt(ordinal).filter(({ kind }) => kind !== "next");
}

/** Which share of the question's quoted phrases each text contains. */
async function quotedShares(
  store: MemoryStore,
  { phrases }: RankingQuestion,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const shares = new Map<string, number>();
  if (phrases.length === 0) return shares;
  for (const [id, { content }] of await store.readMemories(ids)) {
    shares.set(id, phrases.filter((phrase) => containsPhrase(content, phrase)).length / phrases.length);
  }
  return shares;
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
