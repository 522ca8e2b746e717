import { questionTerms } from "./analyser.ts";
import { gatherCandidates } from "./gather-candidates.ts";
import type { SeenMemory } from "./memory.ts";
import type { MemoryPorts } from "./memory-ports.ts";
import type { MemoryFilter } from "./ports.ts";

export interface QueryMemoryInput {
  readonly query: string;
  /** 1 … 200. */
  readonly limit: number;
  readonly filter: MemoryFilter;
  /** In [0, 1]. */
  readonly minScore?: number;
  /** Longest snippet wanted, in characters; absent: none. */
  readonly snippetChars?: number;
  readonly explain?: boolean;
}

export interface MemoryHit {
  readonly memory: SeenMemory;
  /** In [0, 1]: near 1 for the same text, low for unrelated; comparable between questions. */
  readonly score: number;
  /** Ids walked over waypoints, the hit last; the hit alone when it was found directly. */
  readonly path: readonly string[];
  readonly snippet?: string;
  /** Each term's share of the score, by its name; they add up to `score`. */
  readonly explain?: Readonly<Record<string, number>>;
}

export interface QueryMemoryResult {
  /** Best first. */
  readonly hits: readonly MemoryHit[];
}

/**
 * Finds the memories that answer a question.
 *
 * @throws {ServiceError} MODEL_UNAVAILABLE, RATE_LIMITED, NOT_READY.
 */
export async function queryMemory(
  { store, embedder }: MemoryPorts,
  { query, limit, filter }: QueryMemoryInput,
): Promise<QueryMemoryResult> {
  const question = await embedder.embedQuestion(query);
  const selection = Object.keys(filter).length === 0 ? undefined : store.catalogue.select(filter);
  const candidates = await gatherCandidates(store, question, questionTerms(query), selection);
  const best = candidates.map((c) => ({ c, score: c.cosine })).sort((a, b) => b.score - a.score).slice(0, limit);
  const memories = await store.readMemories(best.map(({ c }) => c.entry.id));
  return {
    hits: best.flatMap(({ c, score }) => {
      const memory = memories.get(c.entry.id);
      return memory === undefined ? [] : [{ memory, score, path: [memory.id] }];
    }),
  };
}
