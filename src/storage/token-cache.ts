import type { TokenVectors } from "../core/embedding.ts";

/** No id of a memory. */
const ALL = "";

/**
 * Token vectors read lately, so that questions of one kind do not read the same rows again: a question looks at some
 * 600 memories, and reading that many rows is most of its time. What was read longest ago goes first.
 */
export class TokenCache {
  readonly #maxBytes: number;
  /** In the order of reading, oldest first: keeping the order of use would cost a question a millisecond. */
  readonly #vectors = new Map<string, TokenVectors>();
  /** For every read under way, the ids that have changed since it began. */
  readonly #changedSince = new Set<Set<string>>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(id: string): TokenVectors | undefined {
    return this.#vectors.get(id);
  }

  /** Drops a row that has changed or is gone. */
  forget(id: string): void {
    for (const changed of this.#changedSince) changed.add(id);
    this.#remove(id);
  }

  /** All rows are another model's now. */
  clear(): void {
    this.forget(ALL);
    this.#vectors.clear();
    this.#bytes = 0;
  }

  /** Keeps what `read` answers, but for rows that change meanwhile: theirs may be the ones from before. */
  async keep(read: () => Promise<Map<string, TokenVectors>>): Promise<Map<string, TokenVectors>> {
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

  #put(id: string, { vectors, isBefore = false }: TokenVectors): void {
    this.#remove(id);
    // A copy: rows are read as views of a batch, and one of them would hold all of it.
    this.#vectors.set(id, { vectors: vectors.slice(), isBefore });
    this.#bytes += vectors.byteLength;
    for (const oldest of this.#vectors.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#remove(oldest);
    }
  }

  #remove(id: string): void {
    this.#bytes -= this.#vectors.get(id)?.vectors.byteLength ?? 0;
    this.#vectors.delete(id);
  }
}
