import type { Database } from "./database.ts";

/** How long the database remembers which rows were removed, so that nodes which have a user open need not load it anew. */
const REMEMBERED_MS = 7 * 24 * 60 * 60 * 1_000;
const USERS_AT_ONCE = 200;

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
