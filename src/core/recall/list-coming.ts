import type { MemoryPorts } from "../memories/memory-ports.ts";
import type { SeenMemory } from "../memory.ts";
import type { MemoryFilter } from "../ports.ts";
import { wallTime } from "../text/calendar.ts";
import { DAY_MS, dayStart } from "../text/time-periods.ts";
import { naming } from "./period.ts";

export interface ListComingInput {
  readonly filter: MemoryFilter;
  /** How many days ahead, today included. */
  readonly days: number;
  readonly limit: number;
  /** The time zone of today; the service's own if left out. */
  readonly timeZone?: string;
}

/** A memory with the first day, or the first month (`2026-12`), from today on that it names. */
export interface ComingMemory {
  readonly on: string;
  readonly memory: SeenMemory;
}

/** The memories that name a day or month to come, the soonest first; none of documents and none that was superseded. */
export async function listComing(
  { store, clock, timeZone: ownZone }: Pick<MemoryPorts, "store" | "clock" | "timeZone">,
  { filter, days, limit, timeZone = ownZone }: ListComingInput,
): Promise<ComingMemory[]> {
  const from = dayStart(wallTime(clock.now(), timeZone));
  const named = await naming(store, { ...filter, documents: false }, { from, to: from + days * DAY_MS });
  const coming = named
    .filter(({ ordinal }) => store.catalogue.supersession(ordinal) === undefined)
    .slice(0, limit)
    .map(({ ordinal, date }) => {
      const day = new Date(date.from).toISOString();
      const on = day.slice(0, date.to - date.from > DAY_MS ? "2026-12".length : "2026-12-24".length);
      return { on, id: store.catalogue.idAt(ordinal) ?? "" };
    });
  const memories = await store.readMemories(coming.map(({ id }) => id));
  return coming.flatMap(({ on, id }) => {
    const memory = memories.get(id);
    return memory === undefined ? [] : [{ on, memory }];
  });
}
