import type { Clock } from "../core/ports.ts";
import { type Change, edgeId } from "../core/rows.ts";
import { factRowId } from "../core/facts/fact.ts";
import { CLOCK_STEP_MS } from "../core/facts/fact-store.ts";
import type { LanceDbMemoryStore } from "./lancedb-memory-store.ts";
import type { StoreLog } from "./store-indexes.ts";

/** Rows dated so far ahead of the clock, 5 years, were written while that was wrong; less may be a clock that is late now. */
const FAR_MS = 5 * 365 * 24 * 60 * 60 * 1_000;
/** A clock that shows an earlier time than this program's is wrong: nothing is judged by it. */
const PROGRAM_MADE_AT = Date.UTC(2026, 0, 1);
const CHANGES_PER_RECORD = 10_000;

/**
 * Dates rows anew that a wrong clock dated more than 5 years ahead of now: in their order, a millisecond apart, right
 * after the last row with a possible time. Writes nothing where there are none.
 */
export async function mendTimes(store: LanceDbMemoryStore, clock: Clock, log: StoreLog): Promise<void> {
  const now = clock.now();
  const { catalogue } = store;
  if (catalogue.facts.latestRecordedAt > now + CLOCK_STEP_MS) catalogue.facts.clockIs(now);
  if (catalogue.latestTime <= now + FAR_MS) return;
  const details = { clock: new Date(now), latest: new Date(catalogue.latestTime) };
  if (now < PROGRAM_MADE_AT) {
    log.warn(details, "the clock shows a time before this program was made");
    return;
  }
  const ids = [...store.memoryIds()];
  const facts = catalogue.facts
    .timelines({})
    .flatMap((timeline) => timeline.facts.flatMap(({ versions }) => versions));
  const documents = [...catalogue.documents.byId.values()];
  const right = rightTimes(now, function* () {
    for (const id of ids) {
      const entry = catalogue.find(id);
      if (entry !== undefined) yield* [entry.createdAt, entry.updatedAt, entry.lastSeenAt];
      for (const edge of catalogue.edgesOf(id)) yield edge.createdAt;
    }
    for (const fact of facts) yield* [fact.recordedAt, fact.updatedAt];
    for (const { createdAt, fetchedAt } of documents) yield* [createdAt, fetchedAt ?? 0];
  });
  if (right.size === 0) return;

  const changes: Change[] = [];
  for (const row of (await store.readRows(ids.filter((id) => isWrong(catalogue.find(id))))).values())
    changes.push({ table: "memories", id: row.id, row: dated(row, ["createdAt", "updatedAt"]) });
  for (const id of ids) {
    const signals = catalogue.signalsOf(id);
    if (signals !== undefined && right.has(signals.lastSeenAt))
      changes.push({ table: "signals", id, row: dated(signals, ["lastSeenAt"]) });
    for (const edge of catalogue.edgesOf(id))
      if (edge.source === id && right.has(edge.createdAt))
        changes.push({ table: "edges", id: edgeId(edge), row: dated(edge, ["createdAt"]) });
  }
  // A period that began or ended when it was recorded did so by the wrong clock, too.
  for (const fact of facts) {
    const row = dated(fact, ["recordedAt", "updatedAt", "validFrom", "validTo"]);
    if (row !== fact) changes.push({ table: "facts", id: factRowId(fact), row });
  }
  for (const document of documents) {
    const row = dated(document, ["createdAt", "fetchedAt"]);
    if (row !== document) changes.push({ table: "documents", id: document.id, row });
  }
  for (let first = 0; first < changes.length; first += CHANGES_PER_RECORD)
    await store.commit(() => ({
      changes: changes.slice(first, first + CHANGES_PER_RECORD),
      result: undefined,
    }));
  log.warn({ ...details, rows: changes.length }, "rows dated in the future by a wrong clock were dated anew");

  function isWrong(entry: { readonly createdAt: number; readonly updatedAt: number } | undefined): boolean {
    return entry !== undefined && (right.has(entry.createdAt) || right.has(entry.updatedAt));
  }

  /** The row itself where no field is wrong. */
  function dated<R extends object>(row: R, fields: readonly (keyof R)[]): R {
    const wrong = fields.filter((field) => right.has(row[field] as number));
    if (wrong.length === 0) return row;
    return { ...row, ...Object.fromEntries(wrong.map((field) => [field, right.get(row[field] as number)])) };
  }
}

/** The replacement of each wrong time. */
function rightTimes(now: number, times: () => Iterable<number>): ReadonlyMap<number, number> {
  const wrong = new Set<number>();
  let last = 0;
  for (const time of times()) {
    if (time > now + FAR_MS) wrong.add(time);
    else if (time <= now) last = Math.max(last, time);
  }
  const first = last === 0 ? now - wrong.size : Math.min(last, now - wrong.size);
  return new Map([...wrong].sort((a, b) => a - b).map((time, i) => [time, first + 1 + i]));
}
