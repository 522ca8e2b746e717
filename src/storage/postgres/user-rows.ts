import { inPieces } from "../../core/at-once.ts";
import type { Change, LanceTable, MemoryRow, Rows, TokenRow } from "../../core/rows.ts";
import { bytesOf } from "../catalogue/overlay.ts";
import type { StoredRows, StoredTokens } from "../store-ports.ts";
import type { ScannedRows, SmallTable } from "../tables/tables.ts";
import { type Database, databaseAway, type Query } from "./database.ts";
import { RowCache } from "./row-cache.ts";
import { changeOf, kindOf, windowsIn } from "./row-columns.ts";

/** Rows that are indexed without a turn for others, some 50 ms. */
const ROWS_PER_BATCH = 500;

type ReadRow = [id: string, slim: Buffer, heavy: Buffer | null];

async function readRows<T extends keyof Rows>(
  query: Query,
  owner: string,
  table: T,
  ids: readonly string[],
): Promise<Map<string, Rows[T]>> {
  const kind = kindOf(table);
  // Row by row: for a list of ids PostgreSQL may read all rows of a user, of whom it expects few.
  const rows = await query<ReadRow>(
    `select r.* from unnest($3::text[]) wanted (id) cross join lateral (
      select id, slim, heavy from memoryd.row where owner = $1 and kind = $2 and id = wanted.id and slim is not null limit 1
    ) r`,
    [owner, kind, ids],
  );
  return new Map(rows.map(([id, slim, heavy]) => [id, changeOf(kind, id, { slim, heavy }).row as Rows[T]]));
}

/** The rows of one user, read by id; memories and token vectors that were read lately are in memory. */
export class UserRows implements StoredRows {
  readonly #database: Pick<Database, "query">;
  readonly #owner: string;
  readonly #memories: RowCache<MemoryRow>;
  readonly #tokens: RowCache<TokenRow>;

  constructor(
    database: Pick<Database, "query">,
    owner: string,
    cacheBytes: { readonly memories: number; readonly tokens: number },
  ) {
    this.#database = database;
    this.#owner = owner;
    this.#memories = new RowCache(cacheBytes.memories, (row) =>
      bytesOf({ table: "memories", id: row.id, row }),
    );
    this.#tokens = new RowCache(cacheBytes.tokens, (row) => bytesOf({ table: "tokens", id: "", row }));
  }

  /** What is in memory. */
  get bytes(): number {
    return this.#memories.bytes + this.#tokens.bytes;
  }

  read<T extends LanceTable>(table: T, ids: readonly string[]): Promise<Map<string, Rows[T]>> {
    return table === "memories"
      ? (this.#memories.read(ids, (missing) => this.#read("memories", missing)) as Promise<
          Map<string, Rows[T]>
        >)
      : this.#read(table, ids);
  }

  /** Token vectors; every memory has been embedded when it was written. */
  get tokens(): StoredTokens {
    return {
      read: (ids) => this.#tokens.read(ids, (missing) => this.#read("tokens", missing)),
      has: () => true,
      close: async () => this.#tokens.clear(),
    };
  }

  /** Drops rows that were written since. */
  forget(changes: readonly Change[]): void {
    for (const { table, id } of changes) {
      if (table === "memories") this.#memories.forget(id);
      if (table === "tokens") this.#tokens.forget(id);
    }
  }

  async close(): Promise<void> {
    this.#memories.clear();
  }

  #read<T extends keyof Rows>(table: T, ids: readonly string[]): Promise<Map<string, Rows[T]>> {
    return readRows(this.#database.query, this.#owner, table, ids).catch((error: unknown) => {
      throw databaseAway(error);
    });
  }
}

/** The rows of one user as of one moment, for filling its indexes. */
export function scannedRows(query: Query, owner: string): ScannedRows {
  /** Decoded already for their `order`. */
  let memories: MemoryRow[] = [];

  async function* pages(table: keyof Rows): AsyncGenerator<[id: string, slim: Buffer][]> {
    let last = "";
    for (;;) {
      const page = await query<[string, Buffer]>(
        `select id, slim from memoryd.row where owner = $1 and kind = $2 and id > $3 and slim is not null
          order by id limit ${ROWS_PER_BATCH}`,
        [owner, kindOf(table), last],
      );
      if (page.length > 0) yield page;
      if (page.length < ROWS_PER_BATCH) return;
      last = page.at(-1)?.[0] ?? "";
    }
  }
  async function* rowsOf<T extends keyof Rows>(table: T) {
    for await (const page of pages(table))
      yield page.map(([id, slim]) => ({
        id,
        row: changeOf(kindOf(table), id, { slim, heavy: null }).row as Rows[T],
      }));
  }

  return {
    read: (table, ids) => readRows(query, owner, table, ids),
    async *scanOrders() {
      memories = [];
      for await (const batch of rowsOf("memories")) {
        for (const { row } of batch) memories.push(row);
        yield Float64Array.from(batch, ({ row }) => row.order);
      }
    },
    async *scanMemories() {
      for (const some of inPieces(memories, ROWS_PER_BATCH)) {
        yield some;
        await new Promise((done) => setImmediate(done));
      }
      memories = [];
    },
    async *scanVectors() {
      for await (const page of pages("vectors"))
        for (const [id, slim] of page) {
          const { stamp, windows } = windowsIn(slim);
          const values = new Int8Array(windows.length * (windows[0]?.values.length ?? 0));
          for (const [i, window] of windows.entries()) values.set(window.values, i * window.values.length);
          yield {
            memoryIds: windows.map(() => id),
            stamps: windows.map(() => stamp),
            values,
            scales: Float64Array.from(windows, ({ scale }) => scale),
          };
        }
    },
    scan: <T extends SmallTable>(table: T) => rowsOf(table),
    async *scanVersions() {
      for await (const batch of rowsOf("versions")) yield batch.map(({ id, row }) => ({ ...row, id }));
    },
  };
}
