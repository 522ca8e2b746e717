import type { AddMemoriesInput, AddMemoriesResult } from "./add-memories.ts";
import type { AddedMemory, AddMemoryInput } from "./add-memory.ts";
import type { DeletedMemory, DeleteMemoryInput } from "./delete-memory.ts";
import type { GetMemoryInput } from "./get-memory.ts";
import type { ListedMemories, ListMemoriesInput } from "./list-memories.ts";
import type { SectorCount } from "./list-sectors.ts";
import type { SeenMemory } from "./memory.ts";
import type { QueryMemoryInput, QueryMemoryResult } from "./query-memory.ts";
import type { ReinforcedMemory, ReinforceMemoryInput } from "./reinforce-memory.ts";
import type { RelatedMemories, RelatedMemoriesInput } from "./related-memories.ts";
import type { UpdateMemoryInput } from "./update-memory.ts";

/** What the service can do, with its ports bound: the one thing that http, mcp and cli know of the core. */
export interface Operations {
  addMemory(input: AddMemoryInput): Promise<AddedMemory>;
  addMemories(input: AddMemoriesInput): Promise<AddMemoriesResult>;
  queryMemory(input: QueryMemoryInput): Promise<QueryMemoryResult>;
  updateMemory(input: UpdateMemoryInput): Promise<SeenMemory>;
  deleteMemory(input: DeleteMemoryInput): Promise<DeletedMemory>;
  listMemories(input: ListMemoriesInput): Promise<ListedMemories>;
  getMemory(input: GetMemoryInput): Promise<SeenMemory>;
  reinforceMemory(input: ReinforceMemoryInput): Promise<ReinforcedMemory>;
  relatedMemories(input: RelatedMemoriesInput): Promise<RelatedMemories>;
  listSectors(input: { readonly userId?: string }): SectorCount[];
}
