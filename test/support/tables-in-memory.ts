import { EventEmitter } from "node:events";
import { dirname, join } from "node:path";
import type { Change, Rows, LanceTable } from "../../src/core/rows.ts";
import { decodeChanges, encodeChanges } from "../../src/storage/codec.ts";
import type { Disk } from "../../src/storage/files/disk.ts";
import type { Columns } from "../../src/storage/tables/columns.ts";
import type { CopiedTable } from "../../src/storage/tables/next-generation.ts";
import { TABLE_NAMES, TABLE_SPECS } from "../../src/storage/tables/specs.ts";
import { manifestName, versionOfManifest } from "../../src/storage/tables/table-files.ts";
import {
  generationName,
  generationOf,
  tableOf,
  type TableSpec,
} from "../../src/storage/tables/table-spec.ts";
import type { Answer, Thread, TablesCalls, TablesRequest } from "../../src/storage/tables/worker-client.ts";

type AnyRow = Rows[LanceTable];
type Answers = {
  [K in keyof TablesCalls]: (...args: Parameters<TablesCalls[K]>) => Answer<K>;
};

/** Each so many commits compaction changes something. */
const COMPACTED_EVERY = 3;
let filesMade = 0;

/**
 * A table without LanceDB, on a disk of the test's: each version is one file of all rows and a manifest that names it,
 * never synced, as LanceDB's are.
 */
class MemoryTable {
  readonly disk: Disk;
  readonly directory: string;
  readonly table: LanceTable;
  readonly name: string;
  rows = new Map<string, AnyRow>();
  version = 0;
  #lastVersion = 0;

  constructor(disk: Disk, directory: string, table: LanceTable, name: string) {
    this.disk = disk;
    this.directory = directory;
    this.table = table;
    this.name = name;
  }

  async load(version: number, rows: number | undefined): Promise<this> {
    const versions = (await this.disk.list(this.#path("_versions"))).map(
      ({ name }) => versionOfManifest(name) ?? 0,
    );
    if (Math.max(0, ...versions) !== version)
      throw new Error(`${this.name} is at ${Math.max(0, ...versions)} and not at ${version}`);
    const data = (await this.disk.readFile(this.#path("_versions", manifestName(version)))).toString();
    const { changes } = decodeChanges(await this.disk.readFile(this.#path("data", data)));
    for (const { id, row } of changes) if (row !== null) this.rows.set(id, row as AnyRow);
    if (rows !== undefined && this.rows.size !== rows)
      throw new Error(`${this.name} has ${this.rows.size} rows and not ${rows}`);
    this.version = this.#lastVersion = version;
    return this;
  }

  /** Makes other rows the newest version; after a failure the one before stays. */
  async write(rows: Map<string, AnyRow>): Promise<void> {
    this.#lastVersion += 1;
    filesMade += 1;
    const version = this.#lastVersion;
    const data = `${filesMade.toString(16).padStart(12, "0")}.rows`;
    const changes = [...rows].map(([id, row]) => ({ table: this.table, id, row }) as Change);
    const bytes = Buffer.concat(Array.from(encodeChanges(changes), (piece) => Buffer.from(piece)));
    await this.#create(this.#path("data", data), bytes);
    await this.#create(this.#path("_versions", manifestName(version)), Buffer.from(data));
    this.rows = rows;
    this.version = version;
  }

  batchOf(ids: Iterable<string>, columns?: readonly string[]): Columns[] {
    const entries = [...ids].flatMap((id) => {
      const row = this.rows.get(id);
      return row === undefined ? [] : [{ id, row }];
    });
    if (entries.length === 0) return [];
    const spec = TABLE_SPECS[this.table] as unknown as TableSpec<LanceTable>;
    const all = spec.encode(entries);
    return [Object.fromEntries(Object.entries(all).filter(([name]) => columns?.includes(name) ?? true))];
  }

  get state() {
    return { name: this.name, version: this.version, rows: this.rows.size };
  }

  #path(...parts: readonly string[]): string {
    return join(this.directory, `${this.name}.lance`, ...parts);
  }

  async #create(path: string, bytes: Uint8Array): Promise<void> {
    await this.disk.makeDirectory(dirname(path));
    const file = await this.disk.open(path, "create");
    await file.write(bytes, 0);
    await file.close();
  }
}

/** What stands in for the tables' thread: see `TablesThread.start`. */
export function tablesInMemory(disk: Disk): Thread {
  const answers = answersOf(disk);
  const thread = new EventEmitter();
  return Object.assign(thread, {
    postMessage(message: unknown) {
      const { call, id, args } = message as TablesRequest;
      const answer = answers[call] as (...given: readonly unknown[]) => Promise<unknown>;
      answer(...args).then(
        (result) => {
          thread.emit("message", { id, result });
          if (call === "close") thread.emit("exit");
        },
        (error: Error) =>
          thread.emit("message", { id, error: { message: error.message, stack: error.stack } }),
      );
    },
  }) satisfies Thread;
}

function answersOf(disk: Disk): Answers {
  const tables = new Map<LanceTable, MemoryTable>();
  const scans = new Map<number, Columns[]>();
  let folder = "";
  let staged = new Map<LanceTable, { readonly ids: Set<string>; readonly rows: Map<string, AnyRow> }>();
  let copies: Map<LanceTable, MemoryTable> | undefined;
  let toCopy: LanceTable[] = [];
  let before: Map<LanceTable, MemoryTable> | undefined;
  let newest = 1;
  let commits = 0;
  let last: Promise<unknown> = Promise.resolve();
  /** One write at a time, as there. */
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
  const tableFor = (name: LanceTable) => {
    const known = tables.get(name) ?? new MemoryTable(disk, folder, name, generationName(name, newest));
    tables.set(name, known);
    return known;
  };

  return {
    async open(directory, states) {
      folder = directory;
      for (const { name, version, rows } of states) {
        const table = TABLE_NAMES.find((known) => known === tableOf(name));
        if (table === undefined) throw new Error(`${name} is unknown`);
        tables.set(table, await new MemoryTable(disk, folder, table, name).load(version, rows));
        newest = Math.max(newest, generationOf(name) ?? 0);
      }
    },
    async stage(table, ids, columns) {
      const stage = staged.get(table) ?? { ids: new Set(), rows: new Map() };
      staged.set(table, stage);
      for (const id of ids) stage.ids.add(id);
      if (columns !== undefined) TABLE_SPECS[table].decode(columns, stage.rows as never);
    },
    commit: () => {
      const taken = staged;
      staged = new Map();
      return alone(async () => {
        for (const [name, { ids, rows }] of taken) {
          const table = tableFor(name);
          const next = new Map(table.rows);
          for (const id of ids) next.delete(id);
          for (const [id, row] of rows) next.set(id, row);
          await table.write(next);
        }
      });
    },
    async discard() {
      staged = new Map();
    },
    read: async (table, ids) => tables.get(table)?.batchOf(ids) ?? [],
    range: async (table, first, count) => {
      const known = tables.get(table);
      return known?.batchOf([...known.rows.keys()].slice(first, first + count)) ?? [];
    },
    async startScan(name, columns) {
      const table = tables.get(name);
      scans.set(scans.size, table?.batchOf(table.rows.keys(), columns) ?? []);
      return scans.size - 1;
    },
    nextBatch: async (scan) => scans.get(scan)?.shift(),
    async stopScan(scan) {
      scans.set(scan, []);
    },
    states: async () => [...tables.values()].map(({ state }) => state),
    compact: () =>
      alone(async () => {
        commits += 1;
        if (commits % COMPACTED_EVERY > 0) return false;
        for (const table of tables.values()) await table.write(new Map(table.rows));
        return true;
      }),
    startGeneration: () =>
      alone(async () => {
        const names = (await disk.list(folder)).map(
          ({ name }) => generationOf(name.replace(/\.lance$/, "")) ?? 0,
        );
        newest = 1 + Math.max(newest, ...names);
        copies = new Map();
        toCopy = [...tables.keys()];
        const copied: CopiedTable[] = [];
        for (const [table, { name, rows }] of tables) {
          const copy = generationName(table, newest);
          copies.set(table, new MemoryTable(disk, folder, table, copy));
          copied.push({ table, name, copy, rows: rows.size, storedRows: rows.size });
        }
        return copied;
      }),
    copyTable: () =>
      alone(async () => {
        const table = toCopy.shift();
        if (table === undefined) return undefined;
        const rows = new Map(tables.get(table)?.rows);
        await copies?.get(table)?.write(rows);
        return rows.size;
      }),
    async switchGeneration() {
      before = new Map(tables);
      for (const [name, copy] of copies ?? []) tables.set(name, copy);
    },
    async abandonGeneration() {
      for (const [name, table] of before ?? []) tables.set(name, table);
      copies = before = undefined;
    },
    async endGeneration() {
      copies = before = undefined;
    },
    async close() {
      await last;
    },
  };
}
