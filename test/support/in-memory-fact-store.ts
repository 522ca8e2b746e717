import { runAtOnce } from "../../src/core/at-once.ts";
import type { Fact } from "../../src/core/facts/fact.ts";
import { FactBook } from "../../src/core/facts/fact-book.ts";
import { FactMeanings } from "../../src/core/facts/fact-meanings.ts";
import { type FactPorts, type FactStore, presentOf } from "../../src/core/facts/fact-store.ts";
import { RequestLedger } from "../../src/core/idempotency.ts";
import type { CatalogueEntry } from "../../src/core/ports.ts";
import type { Change, RequestRow } from "../../src/core/rows.ts";
import { createFakeEmbedder } from "./fake-embedder.ts";

export interface InMemoryFactStore extends FactStore {
  /** Every record written, oldest first. */
  readonly records: readonly (readonly Change[])[];
  /** The rows that a table would hold, by row id. */
  readonly rows: ReadonlyMap<string, Fact>;
}

/**
 * What the operations on facts need, in memory. The clock is set by hand; ids count up in the order they are
 * drawn.
 */
export interface FakeFactPorts extends FactPorts {
  readonly store: InMemoryFactStore;
  readonly clock: { time: number; now(): number };
  /** Owners by memory id. */
  readonly memories: Map<string, string | null>;
}

export function createFakeFactPorts(
  time = Date.UTC(2026, 0, 1),
  idOf = (drawn: number) => `fact-${String(drawn).padStart(4, "0")}`,
  ownerOf?: (memoryId: string) => string | null | undefined,
): FakeFactPorts {
  const clock = {
    time,
    now() {
      return this.time;
    },
  };
  const requests = new Map<string, RequestRow>();
  const rows = new Map<string, Fact>();
  const records: Change[][] = [];
  const memories = new Map<string, string | null>();
  const book = new FactBook();
  let lastRecord = 0;
  let drawn = 0;

  const store: InMemoryFactStore = {
    catalogue: {
      facts: book,
      findRequest: (key) => requests.get(key),
      find: (id) => {
        const userId = ownerOf === undefined ? memories.get(id) : ownerOf(id);
        return userId === undefined ? undefined : ({ id, userId } as CatalogueEntry);
      },
    },
    records,
    rows,
    async commit(decide) {
      const now = presentOf(clock, lastRecord);
      if (now < lastRecord) book.clockIs(now);
      const decided = decide({ now, nextOrder: 1, believedNow: now });
      const { changes, result } = "next" in decided ? runAtOnce(decided) : decided;
      if (changes.length === 0) return result;
      lastRecord = now;
      records.push([...changes]);
      for (const change of changes) {
        if (change.table === "requests" && change.row !== null) requests.set(change.id, change.row);
        if (change.table !== "facts") continue;
        book.apply([change]);
        if (change.row === null) rows.delete(change.id);
        else rows.set(change.id, change.row);
      }
      return result;
    },
  };
  return {
    store,
    meanings: new FactMeanings(createFakeEmbedder(), () => 0),
    clock,
    memories,
    ids: { newId: () => idOf((drawn += 1)) },
    requests: new RequestLedger(),
  };
}
