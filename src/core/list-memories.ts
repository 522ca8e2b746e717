import type { MemoryPorts } from "./memory-ports.ts";
import type { SeenMemory } from "./memory.ts";
import { MAX_PAGE_CHARS } from "./page-end.ts";
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

/** Rows read at a time: a page of large memories is not read whole to be cut. */
const ROWS_A_READ = 250;

/** One page of memories, newest first. */
export async function listMemories(
  { store }: Pick<MemoryPorts, "store">,
  { filter, limit, offset, before }: ListMemoriesInput,
): Promise<ListedMemories> {
  // One more than asked for tells whether there is a next page.
  const page = { limit: limit + 1, offset, ...(before === undefined ? {} : { before }) };
  const { ids, total } = store.catalogue.page(filter, page);
  const items: SeenMemory[] = [];
  let chars = 0;
  let more = ids.length > limit;

  reading: for (let first = 0; first < Math.min(limit, ids.length); first += ROWS_A_READ) {
    const wanted = ids.slice(first, Math.min(first + ROWS_A_READ, limit));
    const memories = await store.readMemories(wanted);
    for (const id of wanted) {
      const memory = memories.get(id);
      if (memory === undefined) continue;
      chars += memory.content.length + JSON.stringify(memory.metadata).length;
      if (chars > MAX_PAGE_CHARS && items.length > 0) {
        more = true;
        break reading;
      }
      items.push(memory);
    }
  }

  const last = items.at(-1);
  return { items, total, ...(more && last !== undefined ? { nextBefore: last.order } : {}) };
}
