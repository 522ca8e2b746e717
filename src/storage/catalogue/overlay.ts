import { setImmediate as nextTurn } from "node:timers/promises";
import type { Change, Rows, TableName } from "../../core/rows.ts";

/** Some 5 ms. */
const ROWS_PER_TURN = 10_000;

interface Pending {
  readonly change: Change;
  readonly sequence: number;
  readonly bytes: number;
}

/** Rows durable in the journal and not yet in the tables: the last state of each, which hides theirs. */
export class Overlay {
  readonly #pending = new Map<TableName, Map<string, Pending>>();
  #sequence = 0;
  #isPartial = false;
  #rows = 0;
  #bytes = 0;

  /** True while it has a part of a record only. */
  get isPartial(): boolean {
    return this.#isPartial;
  }

  get rows(): number {
    return this.#rows;
  }

  /** About what the rows weigh in the tables. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Takes in a record, or a part of one that more follows of, and answers about what its rows weigh. Until the last part
   * a snapshot is of the record before, and may hold rows of this one: the journal has them, so that does no harm.
   */
  put(sequence: number, changes: readonly Change[], isLastPart = true): number {
    if (isLastPart) this.#sequence = sequence;
    this.#isPartial = !isLastPart;
    let added = 0;
    for (const change of changes) {
      let table = this.#pending.get(change.table);
      if (table === undefined) this.#pending.set(change.table, (table = new Map()));
      this.#forget(table, change.id);
      const bytes = bytesOf(change);
      table.set(change.id, { change, sequence, bytes });
      this.#rows += 1;
      this.#bytes += bytes;
      added += bytes;
    }
    return added;
  }

  /** The row, null when it was deleted, undefined when the tables have the last word. */
  get<T extends TableName>(table: T, id: string): Rows[T] | null | undefined {
    const change = this.#pending.get(table)?.get(id)?.change;
    return change === undefined ? undefined : (change.row as Rows[T] | null);
  }

  /** Rows by id: what is pending, and the others as they are stored. A row leaves the overlay only when the tables have it. */
  async read<T extends TableName>(
    table: T,
    ids: readonly string[],
    readStored: (others: readonly string[]) => Promise<Map<string, Rows[T]>>,
  ): Promise<Map<string, Rows[T]>> {
    let found = new Map<string, Rows[T]>();
    const elsewhere: string[] = [];
    for (const id of ids) {
      const row = this.get(table, id);
      if (row === undefined) elsewhere.push(id);
      else if (row !== null) found.set(id, row);
    }
    if (elsewhere.length === 0) return found;
    const stored = await readStored(elsewhere);
    if (found.size === 0) found = stored;
    else for (const [id, row] of stored) found.set(id, row);
    for (const id of elsewhere) {
      // Written since, and just being applied: such a row may be missing from the tables for a moment.
      const row = found.has(id) ? undefined : this.get(table, id);
      if (row !== undefined && row !== null) found.set(id, row);
    }
    return found;
  }

  /** Everything pending, as of the last record. */
  snapshot(): { readonly changes: readonly Change[]; readonly sequence: number } {
    const changes: Change[] = [];
    for (const table of this.#pending.values()) for (const { change } of table.values()) changes.push(change);
    return { changes, sequence: this.#sequence };
  }

  /** Forgets what a checkpoint of that sequence holds, with turns for others; what changed since stays. */
  async release(sequence: number): Promise<void> {
    let seen = 0;
    for (const table of this.#pending.values()) {
      for (const [id, pending] of table) {
        if (pending.sequence <= sequence) this.#forget(table, id);
        seen += 1;
        if (seen % ROWS_PER_TURN === 0) await nextTurn();
      }
    }
  }

  #forget(table: Map<string, Pending>, id: string): void {
    const known = table.get(id);
    if (known === undefined) return;
    table.delete(id);
    this.#rows -= 1;
    this.#bytes -= known.bytes;
  }
}

/** Estimated memory of a change, to limit memory and work by; not a file size. */
export function bytesOf(change: Change): number {
  const ROW_BYTES = 200;
  if (change.row === null) return ROW_BYTES;
  switch (change.table) {
    case "memories":
      return (
        ROW_BYTES +
        2 * (change.row.content.length + change.row.terms.length) +
        JSON.stringify(change.row.metadata).length
      );
    case "versions": {
      const { memory, document } = change.row;
      const ids = document === null ? 0 : 40 * document.memoryIds.length;
      return 2 * ROW_BYTES + 2 * memory.content.length + JSON.stringify(memory.metadata).length + ids;
    }
    case "vectors":
      return change.row.windows.reduce((sum, window) => sum + window.byteLength, ROW_BYTES);
    case "tokens":
      return ROW_BYTES + change.row.vectors.byteLength;
    case "facts": {
      const { subject, predicate, object, metadata } = change.row;
      return (
        ROW_BYTES + 2 * (subject.length + predicate.length + object.length) + JSON.stringify(metadata).length
      );
    }
    case "documents":
      return ROW_BYTES + 40 * change.row.memoryIds.length + JSON.stringify(change.row.metadata).length;
    default:
      return ROW_BYTES;
  }
}
