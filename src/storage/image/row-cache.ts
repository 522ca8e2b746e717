import { setImmediate as nextTurn } from "node:timers/promises";
import type { Change, MemoryRow } from "../../core/rows.ts";
import { bytesOf } from "../catalogue/overlay.ts";
import type { TextFile, TextSource } from "./text-file.ts";
import type { LanceCacheSizes } from "../tables/table-spec.ts";

/** No id of a memory. */
const ALL = "";

/**
 * Rows of a table read lately, so that questions of one kind do not read the same rows again: a question looks at the texts
 * of a dozen memories, and reading them is most of its time. What was read longest ago goes first.
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

/** Bytes that each cache may have. */
export interface CacheSizes {
  readonly memories: number;
  readonly tables?: LanceCacheSizes;
}

/** Some 13 000 memories of 40 words. */
const USUAL_SIZES: CacheSizes = { memories: 12 * 1024 ** 2 };
const BYTES_PER_MEMORY = 968;
/** With 1.5 MiB and 1 MiB questions and adding took 40 % more processor time at 10 000 memories. */
const LEAST_OF_TABLES = 2 * 1024 ** 2;

/**
 * @param bytes for all of them together. LanceDB had 1.4 MB in its caches at 10 000 memories and 5.6 MB at 100 000, where 4 MB did
 *   as well.
 */
export function cacheSizes(bytes?: number): CacheSizes {
  if (bytes === undefined) return USUAL_SIZES;
  const index = Math.max(LEAST_OF_TABLES, (bytes * 3) / 16);
  const metadata = Math.max(LEAST_OF_TABLES, (bytes * 2) / 16);
  return { memories: bytes - index - metadata, tables: { index, metadata } };
}

/** A store of at most so many memories is read whole, a piece at a time, once a question was asked; a larger one has a file. */
export const filledMemories = ({ memories }: CacheSizes): number => Math.floor(memories / BYTES_PER_MEMORY);
const FILLED_AT_ONCE = 250;

export interface RowCaches {
  /** For a store that is too large to be read whole. */
  readonly texts?: TextFile | undefined;
  /** As by default if absent. */
  readonly sizes?: CacheSizes | undefined;
}

interface Source extends RowCaches, TextSource {
  /** Ids of all memories, oldest first. */
  ids(): Iterable<string>;
}

/** Rows of memories, as questions read them. */
export class CachedRows {
  readonly #source: Source;
  readonly #rows: RowCache<MemoryRow>;
  readonly #filled: number;
  #wasAsked = false;

  constructor(source: Source) {
    const { sizes = USUAL_SIZES } = source;
    this.#source = source;
    this.#filled = filledMemories(sizes);
    this.#rows = new RowCache(sizes.memories, (row) => bytesOf({ table: "memories", id: row.id, row }));
  }

  async read(ids: readonly string[]): Promise<Map<string, MemoryRow>> {
    const found = new Map<string, MemoryRow>();
    const others = (await this.#source.texts?.read(ids, found)) ?? ids;
    const rows = await this.#rows.read(others, (missing) => this.#source.read(missing));
    for (const [id, row] of rows) found.set(id, row);
    return found;
  }

  /** Reads what later questions will need, or writes it to the file: reading by id would take half of their time. Never rejects. */
  readAhead(): void {
    // A row that cannot be read ahead is read, and its failure reported, when it is needed.
    this.#fill().catch(() => undefined);
  }

  /** Drops the row of a change. */
  forget({ table, id }: Pick<Change, "table" | "id">): void {
    if (table === "memories") this.#rows.forget(id);
  }

  async close(): Promise<void> {
    await this.#source.texts?.close();
  }

  async #fill(): Promise<void> {
    const { texts, until } = this.#source;
    if (texts?.isFor === true) {
      if (await texts.extend(this.#source)) this.#rows.clear();
      return;
    }
    if (this.#wasAsked) return;
    this.#wasAsked = true;
    const ids = [...this.#source.ids()];
    if (ids.length > this.#filled) return;
    for (let first = 0; first < ids.length && !until.aborted; first += FILLED_AT_ONCE) {
      await this.read(ids.slice(first, first + FILLED_AT_ONCE));
      await nextTurn();
    }
  }
}
