import { setImmediate as nextTurn } from "node:timers/promises";
import type { TokenVectors } from "../../core/embedding.ts";
import type { Change, MemoryRow, Rows } from "../../core/rows.ts";
import { bytesOf } from "../catalogue/overlay.ts";
import type { StampedVectors } from "../catalogue/stamped-vectors.ts";
import { CHANGES_FORMAT, decodeChanges, encodeChanges } from "../codec.ts";
import { RowFile, type RowFileParts, type RowSource } from "./row-file.ts";
import type { LanceCacheSizes } from "../tables/table-spec.ts";

/** No id of a memory. */
const ALL = "";

/**
 * Rows of a table read lately, so that questions of one kind do not read the same rows again: a question looks at the token
 * vectors of 250 memories and the texts of a dozen, and reading them is most of its time. What was read longest ago goes first.
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

  /** All rows are another model's now. */
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
  readonly tokens: number;
  readonly memories: number;
  readonly tables?: LanceCacheSizes;
}

/** Token vectors of some 13 000 memories of 40 words, and the rows of as many. */
const USUAL_SIZES: CacheSizes = { tokens: 32 * 1024 ** 2, memories: 12 * 1024 ** 2 };
const TOKEN_BYTES_PER_MEMORY = 2_580;
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
  const rows = bytes - index - metadata;
  return { tokens: (rows * 8) / 11, memories: (rows * 3) / 11, tables: { index, metadata } };
}

/** A store of at most so many memories is read whole, a piece at a time, once a question was asked; a larger one has files. */
export const filledMemories = ({ tokens }: CacheSizes): number => Math.floor(tokens / TOKEN_BYTES_PER_MEMORY);
const FILLED_AT_ONCE = 250;

type RowFiles = ReturnType<typeof rowFiles>;

type Shared = Omit<RowFileParts<never>, "name" | "key" | "encode" | "decode" | "from">;

/** The files of a store; `from` is the number of memories past which it has them. */
export function rowFiles(
  store: object,
  vectors: Pick<StampedVectors, "before" | "stamps">,
  parts: Shared & { readonly from: number },
) {
  return {
    tokens: new RowFile<TokenVectors>({
      ...parts,
      name: "TOKENS",
      key: () => (vectors.before === undefined ? JSON.stringify([store, vectors.stamps]) : undefined),
      encode: (_, row) => new Uint8Array(row.vectors),
      decode: ({ buffer, byteOffset, length }) => ({ vectors: new Int8Array(buffer, byteOffset, length) }),
    }),
    memories: new RowFile<MemoryRow>({
      ...parts,
      name: "TEXTS",
      key: () => JSON.stringify([store, CHANGES_FORMAT]),
      encode(id, row) {
        const pieces = encodeChanges([{ table: "memories", id, row }]);
        return Buffer.concat(Array.from(pieces, (piece) => piece.slice()));
      },
      decode: (bytes) => decodeChanges(bytes).changes[0]?.row as MemoryRow,
    }),
  };
}

export interface RowCaches {
  /** For a store that is too large to be read whole. */
  readonly files?: RowFiles | undefined;
  /** As by default if absent. */
  readonly sizes?: CacheSizes | undefined;
}

interface Source extends RowCaches {
  read<T extends "memories" | "tokens">(table: T, ids: readonly string[]): Promise<Map<string, Rows[T]>>;
  readonly vectors: Pick<StampedVectors, "isKnown">;
  /** Ids of all memories, oldest first. */
  ids(): Iterable<string>;
  readonly settled: RowSource<unknown>["settled"];
  /** No row is read ahead from then on. */
  readonly until: AbortSignal;
}

/** Rows and token vectors of memories, as questions read them. */
export class CachedRows {
  readonly #source: Source;
  readonly #tokens: RowCache<TokenVectors>;
  readonly #memories: RowCache<MemoryRow>;
  readonly #filled: number;
  #wasAsked = false;

  constructor(source: Source) {
    const { sizes = USUAL_SIZES } = source;
    this.#source = source;
    this.#filled = filledMemories(sizes);
    this.#tokens = new RowCache(sizes.tokens, ({ vectors }) => vectors.byteLength);
    this.#memories = new RowCache(sizes.memories, (row) => bytesOf({ table: "memories", id: row.id, row }));
  }

  async memories(ids: readonly string[]): Promise<Map<string, MemoryRow>> {
    const found = new Map<string, MemoryRow>();
    const others = (await this.#source.files?.memories.read(ids, found)) ?? ids;
    const rows = await this.#memories.read(others, (missing) => this.#source.read("memories", missing));
    for (const [id, row] of rows) found.set(id, row);
    return found;
  }

  async tokens(ids: readonly string[]): Promise<Map<string, TokenVectors>> {
    const found = new Map<string, TokenVectors>();
    const others = (await this.#source.files?.tokens.read(ids, found)) ?? ids;
    for (const [id, row] of await this.#readTokens(others)) found.set(id, row);
    // A row that cannot be read ahead is read, and its failure reported, when it is needed.
    this.#fill().catch(() => undefined);
    return found;
  }

  /** Drops the row of a change. */
  forget({ table, id }: Pick<Change, "table" | "id">): void {
    if (table === "tokens") this.#tokens.forget(id);
    else if (table === "memories") this.#memories.forget(id);
  }

  clearTokens(): void {
    this.#tokens.clear();
    // One that stays after all is of another model, and not read.
    this.#source.files?.tokens.clear().catch(() => undefined);
  }

  async close(): Promise<void> {
    for (const file of Object.values(this.#source.files ?? {})) await file.close();
  }

  #readTokens(ids: readonly string[]): Promise<Map<string, TokenVectors>> {
    return this.#tokens.read(ids, (missing) => this.#readStored(missing));
  }

  async #readStored(ids: readonly string[]): Promise<Map<string, TokenVectors>> {
    const { vectors: known } = this.#source;
    const rows = new Map<string, TokenVectors>();
    for (const [id, { vectors, stamp }] of await this.#source.read("tokens", ids)) {
      if (!known.isKnown(stamp)) continue;
      // A copy: rows are read as views of a batch, and one of them would hold all of it.
      rows.set(id, { vectors: vectors.slice() });
    }
    return rows;
  }

  /** Reads what later questions will need, or writes it to the file: reading by id would take half of their time. */
  async #fill(): Promise<void> {
    const { files, until } = this.#source;
    if (files?.tokens.isFor === true) {
      const rest = { settled: (ids: readonly string[]) => this.#source.settled(ids), until };
      const read = (ids: readonly string[]) => this.#source.read("memories", ids);
      if (await files.tokens.extend({ read: (ids) => this.#readStored(ids), ...rest })) this.#tokens.clear();
      if (await files.memories.extend({ read, ...rest })) this.#memories.clear();
      return;
    }
    if (this.#wasAsked) return;
    this.#wasAsked = true;
    const ids = [...this.#source.ids()];
    if (ids.length > this.#filled) return;
    for (let first = 0; first < ids.length && !until.aborted; first += FILLED_AT_ONCE) {
      const piece = ids.slice(first, first + FILLED_AT_ONCE);
      await this.#readTokens(piece);
      await this.memories(piece);
      await nextTurn();
    }
  }
}
