import type { SeenMemory } from "./memory.ts";
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
