import type { SeenMemory } from "./memory.ts";
import type { MemoryFilter } from "./ports.ts";

export interface ListMemoriesInput {
  readonly filter: MemoryFilter;
  /** 1 … 10 000. */
  readonly limit: number;
  readonly offset: number;
  /** `nextBefore` of the page before: goes on from there, whatever was added or deleted since. */
  readonly before?: number;
}

export interface ListedMemories {
  /** Newest first; fewer than `limit` when the page reached 8 MiB. */
  readonly items: readonly SeenMemory[];
  /** How many match in all. */
  readonly total: number;
  /** Where the next page begins; absent on the last one. */
  readonly nextBefore?: number;
}
