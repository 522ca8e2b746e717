import type { MemoryPorts } from "./memory-ports.ts";
import type { SeenMemory } from "../memory.ts";
import { MAX_PAGE_CHARS, type OrderedPage, type PageRequest } from "../page-end.ts";
import type { MemoryFilter } from "../ports.ts";

export interface ListMemoriesInput extends PageRequest {
  readonly filter: MemoryFilter;
}

/** A page of large memories is not read whole to be cut. */
const ROWS_PER_READ = 250;

/** One page of memories, newest first. An empty page is the last. */
export async function listMemories(
  { store }: Pick<MemoryPorts, "store">,
  input: ListMemoriesInput,
): Promise<OrderedPage<SeenMemory>> {
  for (let { offset, before } = input; ; offset = 0) {
    // One more than the limit shows whether there is a next page.
    const page = { limit: input.limit + 1, offset, ...(before === undefined ? {} : { before }) };
    const { ids, orders, total } = store.catalogue.page(input.filter, page);
    const { items, read } = await readPage(store, ids.slice(0, input.limit));
    const nextBefore = read < ids.length ? orders[read - 1] : undefined;
    if (items.length > 0 || nextBefore === undefined) {
      return { items, total, ...(nextBefore === undefined ? {} : { nextBefore }) };
    }
    // All rows were just deleted, or belong to a write that is not durable yet: an empty page would look like the last.
    before = nextBefore;
  }
}

/** The memories among `ids` that exist, until they reach 8 MiB; `read` counts the ids that were looked at. */
export async function readPage(store: MemoryPorts["store"], ids: readonly string[]) {
  const items: SeenMemory[] = [];
  let chars = 0;
  for (let first = 0; first < ids.length; first += ROWS_PER_READ) {
    const wanted = ids.slice(first, first + ROWS_PER_READ);
    const memories = await store.readMemories(wanted);
    for (const [i, id] of wanted.entries()) {
      const memory = memories.get(id);
      if (memory === undefined) continue;
      chars += memory.content.length + JSON.stringify(memory.metadata).length;
      if (chars > MAX_PAGE_CHARS && items.length > 0) return { items, read: first + i };
      items.push(memory);
    }
  }
  return { items, read: ids.length };
}
