import type { FeedEntry } from "../../core/feed.ts";
import type { Change } from "../../core/rows.ts";
import type { NewerRecord } from "../journal/journal.ts";
import type { Database, Query } from "./database.ts";
import { changeOf } from "./row-columns.ts";

/** How long the database remembers which rows were removed, so that nodes which have a user open need not load it anew. */
const REMEMBERED_MS = 7 * 24 * 60 * 60 * 1_000;
const USERS_AT_ONCE = 200;

/** A state of a user: its last record, and the token that only this record has. */
export interface Head {
  /** 0: nothing was written yet. */
  readonly sequence: number;
  readonly token: string;
}

/** The records and rows that were written since a head. */
export interface Newer {
  readonly head: Head;
  readonly records: readonly NewerRecord[];
  /** The rows that the records changed, as they are after the last. */
  readonly changes: readonly Change[];
}

/**
 * What was written since a head, read in one snapshot or under the user's lock. Undefined where the database does not know
 * that head, or no longer has all rows that were removed since.
 */
export async function readNewer(query: Query, owner: string, since: Head): Promise<Newer | undefined> {
  const head = await readHead(query, owner, since);
  if (head === undefined) return undefined;
  if (head.sequence === since.sequence) return { head, records: [], changes: [] };
  const records = await query<[string, string, boolean, string]>(
    "select sequence, at, erases, entries from memoryd.record where owner = $1 and sequence > $2 order by sequence",
    [owner, since.sequence],
  );
  return {
    head,
    records: records.map(([sequence, at, erases, entries]) => ({
      sequence: Number(sequence),
      time: Number(at),
      ...(erases && { erases: owner }),
      feedEntries: (JSON.parse(entries) as [FeedEntry["kind"], string, string | null][]).map(
        ([kind, id, userId]) => ({ kind, id, userId }),
      ),
    })),
    changes: await readChanges(query, owner, since.sequence),
  };
}

/** The rows that were written after a record, as they are now. */
export async function readChanges(query: Query, owner: string, since: number): Promise<Change[]> {
  // Texts only where terms may have to be made again; token vectors are read by id.
  const rows = await query<[number, string, Buffer | null, Buffer | null]>(
    "select kind, id, slim, case kind when 0 then heavy end from memoryd.row where owner = $1 and sequence > $2 order by kind, sequence",
    [owner, since],
  );
  return rows.map(([kind, id, slim, heavy]) => changeOf(kind, id, { slim, heavy }));
}

/** The newest head; undefined where the database does not know the given one, or has forgotten what was removed since. */
export async function readHead(
  query: Query,
  owner: string,
  since: Head,
  noteTime: (databaseMs: number) => void = () => {},
): Promise<Head | undefined> {
  const [row] = await query<
    [at: string, sequence: string | null, token: string, floor: string, known: string | null]
  >(
    `select extract(epoch from clock_timestamp()) * 1000, o.sequence, o.token, o.floor, r.token
      from (select) as one left join memoryd.owner o on o.owner = $1
      left join memoryd.record r on r.owner = $1 and r.sequence = $2`,
    [owner, since.sequence],
  );
  if (row === undefined) throw new TypeError("one row comes for each user");
  const [at, sequence, token, floor, known] = row;
  noteTime(Number(at));
  if (sequence === null) return since.sequence === 0 ? since : undefined;
  const head = { sequence: Number(sequence), token };
  if (head.sequence === since.sequence) return token === since.token ? head : undefined;
  if (since.sequence < Number(floor)) return undefined;
  return since.sequence === 0 || known === since.token ? head : undefined;
}

/** Forgets records, and rows that were removed, of more than a week ago. Nodes that were away for longer load a user anew. */
export async function sweepRemoved(database: Database): Promise<void> {
  for (;;) {
    const swept = await database.query(
      `with old as (
        select owner, max(sequence) as sequence from memoryd.record
          where at < extract(epoch from clock_timestamp()) * 1000 - $1 group by owner limit $2
      ), moved as (
        update memoryd.owner o set floor = greatest(o.floor, old.sequence) from old where o.owner = old.owner
      ), forgotten as (
        delete from memoryd.record r using old where r.owner = old.owner and r.sequence <= old.sequence
      ), removed as (
        delete from memoryd.row r using old where r.owner = old.owner and r.sequence <= old.sequence and r.slim is null
      )
      select owner from old`,
      [REMEMBERED_MS, USERS_AT_ONCE],
    );
    if (swept.length < USERS_AT_ONCE) return;
  }
}
