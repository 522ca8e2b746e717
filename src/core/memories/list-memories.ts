import type { MemoryPorts } from "./memory-ports.ts";
import type { SeenMemory } from "../memory.ts";
import { charsOfMemory, MAX_PAGE_CHARS, type OrderedPage, type PageRequest } from "../page-end.ts";
import type { Catalogue, CatalogueEntry, MemoryFilter } from "../ports.ts";
import { wallTime } from "../text/calendar.ts";

export interface ListMemoriesInput extends PageRequest {
  readonly filter: MemoryFilter;
  /** Ordered by the time at which they happened, the last first; without `before`. */
  readonly isByTime?: boolean;
}

/** A page of large memories is not read whole to be cut. */
const ROWS_PER_READ = 250;

/** One page of memories, newest first. An empty page is the last. */
export async function listMemories(
  { store }: Pick<MemoryPorts, "store">,
  input: ListMemoriesInput,
): Promise<OrderedPage<SeenMemory>> {
  if (input.isByTime === true) return listByTime(store, input);
  for (let { offset, before } = input; ; offset = 0) {
    // One more than the limit shows whether there is a next page.
    const page = { limit: input.limit + 1, offset, ...(before === undefined ? {} : { before }) };
    const { ids, orders, total } = store.catalogue.page(input.filter, page);
    const { items, read } = await readPage(store, ids.slice(0, input.limit));
    const nextBefore = read < ids.length ? orders[read - 1] : undefined;
    if (items.length > 0 || nextBefore === undefined)
      return { items, total, ...(nextBefore === undefined ? {} : { nextBefore }) };
    // All rows were just deleted, or belong to a write that is not durable yet: an empty page would look like the last.
    before = nextBefore;
  }
}

/** All that match, by the time at which they happened. Cost: linear in them. */
export const lastHappenedFirst = (catalogue: Catalogue, filter: MemoryFilter): CatalogueEntry[] =>
  catalogue
    .select(filter)
    .list()
    .flatMap((ordinal) => catalogue.at(ordinal) ?? [])
    .sort((a, b) => b.occurredAt - a.occurredAt || b.ordinal - a.ordinal);

async function listByTime(
  store: MemoryPorts["store"],
  { filter, offset, limit }: ListMemoriesInput,
): Promise<OrderedPage<SeenMemory>> {
  const entries = lastHappenedFirst(store.catalogue, filter);
  const wanted = entries.slice(offset, offset + limit).map(({ id }) => id);
  const { items } = await readPage(store, wanted);
  return { items, total: entries.length };
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
      chars += charsOfMemory(memory);
      if (chars > MAX_PAGE_CHARS && items.length > 0) return { items, read: first + i };
      items.push(memory);
    }
  }
  return { items, read: ids.length };
}

/** The day of adding (`day`) or the one on which it happened, or a field; a memory with several tags counts once for each. */
export const COUNTED_BY = ["day", "happened", "client", "project", "tag", "user"] as const;

export interface CountMemoriesInput {
  readonly filter: MemoryFilter;
  readonly by: (typeof COUNTED_BY)[number];
  /** The time zone of days; the service's own if left out. */
  readonly timeZone?: string;
  readonly limit: number;
}

/** Memories looked at between two turns: some milliseconds. */
const PER_TURN = 5_000;
/** Offsets of time zones are multiples of a quarter of an hour. */
const QUARTER_MS = 900_000;

/**
 * Memories by key, with `createdAt` of the first and of the last: days (`2026-11-22`) in their order,
 * the last `limit`; other keys by count, null for memories without such a field. `total`: different keys.
 */
export async function countMemories(
  { store, nextTurn, timeZone: ownZone }: Pick<MemoryPorts, "store" | "nextTurn" | "timeZone">,
  { filter, by, timeZone = ownZone, limit }: CountMemoriesInput,
) {
  const counts = new Map<string | null, { count: number; firstAt: number; lastAt: number }>();
  const keysOf = by === "day" || by === "happened" ? daysOf(by, timeZone) : KEYS[by];
  const ordinals = store.catalogue.select(filter).list();
  for (const [done, ordinal] of ordinals.entries()) {
    if (done % PER_TURN === PER_TURN - 1) await nextTurn();
    const entry = store.catalogue.at(ordinal);
    if (entry === undefined) continue;
    const at = entry.createdAt;
    for (const key of keysOf(entry)) {
      const found = counts.get(key);
      if (found === undefined) counts.set(key, { count: 1, firstAt: at, lastAt: at });
      else {
        found.count += 1;
        found.firstAt = Math.min(found.firstAt, at);
        found.lastAt = Math.max(found.lastAt, at);
      }
    }
  }
  const all = Array.from(counts, ([key, count]) => ({ key, ...count }));
  const byKey = (a: { key: string | null }, b: { key: string | null }) =>
    (a.key ?? "") < (b.key ?? "") ? -1 : 1;
  const items =
    by === "day" || by === "happened"
      ? all.sort(byKey).slice(-limit)
      : all.sort((a, b) => b.count - a.count || byKey(a, b)).slice(0, limit);
  return { items, total: all.length };
}

type DayKind = "day" | "happened";
type KeysOf = (entry: CatalogueEntry) => readonly (string | null)[];

const KEYS: Readonly<Record<Exclude<CountMemoriesInput["by"], DayKind>, KeysOf>> = {
  client: ({ createdBy }) => [createdBy],
  project: ({ project }) => [project],
  tag: ({ tags }) => [...new Set(tags)],
  user: ({ userId }) => [userId],
};

function daysOf(by: DayKind, timeZone: string): KeysOf {
  /** By quarter of an hour: asking the calendar for each memory would take most of the time. */
  const days = new Map<number, string>();
  return ({ createdAt, occurredAt }) => {
    const quarter = Math.floor((by === "day" ? createdAt : occurredAt) / QUARTER_MS);
    let day = days.get(quarter);
    if (day === undefined) {
      day = new Date(wallTime(quarter * QUARTER_MS, timeZone)).toISOString().slice(0, 10);
      days.set(quarter, day);
    }
    return [day];
  };
}
