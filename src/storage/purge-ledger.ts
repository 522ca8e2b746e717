import type { UnpurgedRows } from "../core/purge.ts";
import type { Change, TableName, VersionRow } from "../core/rows.ts";

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

  note(time: number, changes: readonly Change[]): void {
    // Few passes, and no set of all ids: the deletion of a user has a million changes.
    const put = changes.filter(({ row }) => row !== null);
    const kept = new Set<string>();
    for (const { table, row } of put)
      if (table === "versions" && row !== null) for (const id of keptIds(row)) kept.add(id);
    const isCounted = (change: Change) => removesContent(change) && !kept.has(change.id);
    let items = 0;
    const rows: Partial<Record<TableName, number>> = {};
    for (const change of changes) {
      if (isCounted(change)) items += 1;
      if (change.row === null) rows[change.table] = (rows[change.table] ?? 0) + 1;
    }
    // Requests and jobs go by themselves after a day: they are erased with the rest, and no reason to begin.
    if (items === 0) return;
    const replaced = new Set(put.length === 0 ? [] : changes.filter(isCounted).map(({ id }) => id));
    for (const { table, id } of put) if (replaced.has(id)) rows[table] = (rows[table] ?? 0) + 1;
    this.#waiting = sum(this.#waiting, { items, rows, since: time });
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
