/** No id of a memory. */
const ALL = "";

/**
 * Rows read lately, so that questions do not read the same rows again: one looks at the token vectors of 250 memories, and
 * reading them is most of its time. What was read longest ago goes first.
 */
export class RowCache<Row> {
  readonly #maxBytes: number;
  readonly #bytesOf: (row: Row) => number;
  /** In the order of reading, oldest first: keeping the order of use would cost a question a millisecond. */
  readonly #rows = new Map<string, Row>();
  /** For every read under way, the ids that have changed since it began. */
  readonly #changedSince = new Set<Set<string>>();
  #bytes = 0;

  /** @param bytesOf the same for a row at any time. */
  constructor(maxBytes: number, bytesOf: (row: Row) => number) {
    this.#maxBytes = maxBytes;
    this.#bytesOf = bytesOf;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Rows by id, those that are not here by `read`. */
  async read(
    ids: readonly string[],
    read: (missing: readonly string[]) => Promise<Map<string, Row>>,
  ): Promise<Map<string, Row>> {
    const found = new Map<string, Row>();
    const missing: string[] = [];
    for (const id of ids) {
      const row = this.#rows.get(id);
      if (row === undefined) missing.push(id);
      else found.set(id, row);
    }
    if (missing.length > 0) for (const [id, row] of await this.#keep(() => read(missing))) found.set(id, row);
    return found;
  }

  /** Drops a row that has changed or is gone. */
  forget(id: string): void {
    for (const changed of this.#changedSince) changed.add(id);
    this.#remove(id);
  }

  /** Drops all of them. */
  clear(): void {
    this.forget(ALL);
    this.#rows.clear();
    this.#bytes = 0;
  }

  /** Keeps what `read` answers, but for rows that change meanwhile: theirs may be the ones from before. */
  async #keep(read: () => Promise<Map<string, Row>>): Promise<Map<string, Row>> {
    const changed = new Set<string>();
    this.#changedSince.add(changed);
    try {
      const rows = await read();
      if (!changed.has(ALL)) for (const [id, row] of rows) if (!changed.has(id)) this.#put(id, row);
      return rows;
    } finally {
      this.#changedSince.delete(changed);
    }
  }

  #put(id: string, row: Row): void {
    this.#remove(id);
    this.#rows.set(id, row);
    this.#bytes += this.#bytesOf(row);
    for (const oldest of this.#rows.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#remove(oldest);
    }
  }

  #remove(id: string): void {
    const row = this.#rows.get(id);
    if (row === undefined) return;
    this.#bytes -= this.#bytesOf(row);
    this.#rows.delete(id);
  }
}
