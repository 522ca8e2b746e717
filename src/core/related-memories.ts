import type { SeenMemory } from "./memory.ts";
import type { EdgeRow } from "./rows.ts";

export interface RelatedMemoriesInput {
  readonly id: string;
  /** 1 … 3 steps. */
  readonly depth: number;
  readonly userId?: string;
}

export interface RelatedMemories {
  /** The memory itself first, then by distance and weight; at most 200. */
  readonly nodes: readonly SeenMemory[];
  /** Between those nodes. */
  readonly edges: readonly EdgeRow[];
}
