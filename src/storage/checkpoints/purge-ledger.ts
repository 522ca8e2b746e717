import type { UnpurgedRows } from "../../core/status.ts";
import type { Steps } from "../../core/ports.ts";
import type { Change, TableName, VersionRow } from "../../core/rows.ts";

/** Some 1 ms. */
const CHANGES_PER_STEP = 10_000;

/**
 * Counts the rows whose contents are to go from the disk. It stands in every checkpoint, so that a restart knows of them;
 * a record whose write is refused after all counts too.
 */
export class PurgeLedger {
  #waiting: UnpurgedRows | undefined;
  /** Erasures under way. */
  #covered: UnpurgedRows | undefined;

  constructor(waiting?: UnpurgedRows) {
    this.#waiting = waiting;
  }

  /** Adds what a record removes, see `unpurgedIn`. */
  note(rows: UnpurgedRows | undefined): void {
    this.#waiting = sum(this.#waiting, rows);
  }

  /** With what is being erased. */
  get waiting(): UnpurgedRows | undefined {
    return sum(this.#covered, this.#waiting);
  }

  /** Later notes wait for the next purge; returns those for this one. */
  begin(): UnpurgedRows | undefined {
    this.#covered = this.waiting;
    this.#waiting = undefined;
    return this.#covered;
  }

  /** Ends the purge: its erasures are done, or wait again. */
  end(outcome: "erased" | "failed"): void {
    if (outcome === "failed") this.#waiting = this.waiting;
    this.#covered = undefined;
  }
}

/** The rows of a record whose contents are to go; undefined where no memory, fact, document or version goes. */
export function* unpurgedIn(time: number, changes: readonly Change[]): Steps<UnpurgedRows | undefined> {
  // One pass, and no set of all ids: the deletion of a user has a million changes.
  const put: Change[] = [];
  const kept = new Set<string>();
  const rows: Partial<Record<TableName, number>> = {};
  for (const [i, change] of changes.entries()) {
    const { table, row } = change;
    if (row === null) rows[table] = (rows[table] ?? 0) + 1;
    else put.push(change);
    if (table === "versions" && row !== null) for (const id of keptIds(row)) kept.add(id);
    if (i % CHANGES_PER_STEP === 0) yield;
  }
  let items = 0;
  const replaced = new Set<string>();
  for (const [i, change] of changes.entries()) {
    if (removesContent(change) && !kept.has(change.id)) {
      items += 1;
      if (put.length > 0) replaced.add(change.id);
    }
    if (i % CHANGES_PER_STEP === 0) yield;
  }
  // Requests and jobs go by themselves after a day: they are erased with the rest, and no reason to begin.
  if (items === 0) return undefined;
  for (const { table, id } of put) if (replaced.has(id)) rows[table] = (rows[table] ?? 0) + 1;
  return { items, rows, since: time };
}

function removesContent({ table, row }: Change): boolean {
  switch (table) {
    case "memories":
      return row === null || row.version > 1;
    case "facts":
    case "documents":
    case "versions":
      return row === null;
    default:
      return false;
  }
}

/** Memory and document whose text stays, as an earlier version or in the trash. */
function keptIds({ memoryId, document }: VersionRow): string[] {
  return document === null ? [memoryId] : [memoryId, document.id];
}

function sum(a: UnpurgedRows | undefined, b: UnpurgedRows | undefined): UnpurgedRows | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const rows = { ...a.rows };
  for (const [table, count] of Object.entries(b.rows) as [TableName, number][])
    rows[table] = (rows[table] ?? 0) + count;
  return { items: a.items + b.items, rows, since: Math.min(a.since, b.since) };
}
