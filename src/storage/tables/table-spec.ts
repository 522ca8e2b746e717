import type { LanceTable, Rows } from "../../core/rows.ts";
import { type Columns, type Field, text } from "./columns.ts";

/** A change of one table: the rows of `id` are replaced by `row`. */
export interface Entry<T extends LanceTable> {
  readonly id: string;
  readonly row: Rows[T];
}

/** The columns of one table and their encodings. Add a table in `specs.ts`. */
export interface TableSpec<T extends LanceTable> {
  readonly name: T;
  /** The indexed column that holds a row's id, or the id that several rows share and are replaced by. */
  readonly key: string;
  readonly fields: Readonly<Record<string, Field<unknown>>>;
  /** Properties that a row of an earlier version may lack, with their values; absent where there are none. */
  readonly missing?: Readonly<Partial<Rows[T]>>;
  encode(entries: readonly Entry<T>[]): Columns;
  /** Takes in a batch of rows, in any order; batches of one id may come apart. */
  decode(columns: Columns, into: Map<string, Rows[T]>): void;
}

type FieldsOf<Row> = { readonly [K in keyof Row]-?: Field<Row[K]> };

/**
 * A table with one row an id and a column a property, named in snake_case.
 *
 * @param options.idOf for rows that have an id of their own: what it is where the row stands under an id.
 */
export function rowTable<T extends LanceTable>(
  name: T,
  fields: FieldsOf<Omit<Rows[T], "id">>,
  { idOf }: { readonly idOf?: (rowId: string) => string } = {},
): TableSpec<T> {
  const properties = Object.entries(fields) as [string & keyof Rows[T], Field<unknown>][];
  const columns = properties.map(([property, field]) => ({ property, column: snakeCase(property), field }));
  const missing = properties.flatMap(([property, field]) =>
    field.missing === undefined ? [] : [[property, field.missing] as const],
  );
  return {
    name,
    key: "id",
    ...(missing.length > 0 && { missing: Object.fromEntries(missing) as Partial<Rows[T]> }),
    fields: { id: text, ...Object.fromEntries(columns.map(({ column, field }) => [column, field])) },
    encode(entries) {
      const encoded = columns.map(({ property, column, field }) => [
        column,
        field.encode(entries.map(({ row }) => row[property])),
      ]);
      return { id: text.encode(entries.map(({ id }) => id)), ...Object.fromEntries(encoded) };
    },
    decode(data, into) {
      const ids = columnOf(data, "id");
      const idAt = text.decode(ids);
      // Columns that were not asked for are left out: a scan takes only what it needs.
      const readers = columns.flatMap(({ property, column, field }) => {
        const values = data[column];
        return values === undefined ? [] : [{ property, at: field.decode(values) }];
      });
      for (let i = 0; i < ids.length; i += 1) {
        const id = idAt(i);
        const row: Record<string, unknown> = idOf === undefined ? {} : { id: idOf(id) };
        for (const { property, at } of readers) row[property] = at(i);
        into.set(id, row as unknown as Rows[T]);
      }
    },
  };
}

/** @throws {Error} if a batch lacks the column: the table is not the one its specification describes. */
export function columnOf(columns: Columns, name: string) {
  const column = columns[name];
  if (column === undefined) throw new Error(`the table has no column ${name}`);
  return column;
}

function snakeCase(property: string): string {
  return property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A table at one of its versions. */
export interface TableState {
  /** With the generation: `memories-g1`. */
  readonly name: string;
  readonly version: number;
  readonly rows: number;
}

/** A table to be opened; without `rows` it may have any number. */
export type StateToOpen = Pick<TableState, "name" | "version"> & Partial<Pick<TableState, "rows">>;

/** Tables that stand in flat files, by their names in checkpoints. */
export type FlatTable = "tokens" | "texts";

/** The name of a table's folder, without `.lance`. A generation is a table written anew beside the old one. */
export function generationName(table: LanceTable | FlatTable, generation: number): string {
  return `${table}-g${generation}`;
}

/** The table that a name with a generation belongs to; undefined if it is no such name. */
export function tableOf(name: string): string | undefined {
  return /^([a-z]+)-g[1-9]\d*$/.exec(name)?.[1];
}

/** Those that LanceDB has. */
export function lanceTables<T extends TableState>(tables: readonly T[]): T[] {
  return tables.filter(({ name }) => !["tokens", "texts"].includes(tableOf(name) ?? ""));
}

/** The generation in such a name. */
export function generationOf(name: string): number | undefined {
  const digits = /-g([1-9]\d*)$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Bytes of LanceDB's caches at most. */
export type LanceCacheSizes = { readonly index: number; readonly metadata: number };
/** With 1.5 MiB and 1 MiB questions and adding took 40 % more processor time at 10 000 memories. */
const LEAST_CACHE_BYTES = 2 * 1024 ** 2;

/** @param bytes for both. LanceDB had 1.4 MB in them at 10 000 memories and 5.6 MB at 100 000, where 4 MB did as well. */
export function lanceCacheSizes(bytes?: number): LanceCacheSizes | undefined {
  const share = (part: number) => Math.max(LEAST_CACHE_BYTES, (bytes ?? 0) * part);
  return bytes === undefined ? undefined : { index: share(3 / 5), metadata: share(2 / 5) };
}

/** When a table is compacted: its small files written anew as one, without what was deleted. */
export interface CompactionThresholds {
  /** At as many fragments: a lookup visits each. */
  readonly fragments: number;
  /** … or at fewer, once that part of the rows is outside the largest: then rewriting it all is little against them. */
  readonly freshFragments: number;
  readonly freshRatio: number;
  /** … or where that part of the stored rows is deleted. */
  readonly deletedRatio: number;
}

/** Ten rows by id of 16 000 took 5 ms from ten fragments and 2 ms from one. */
export const COMPACTION_THRESHOLDS: CompactionThresholds = {
  fragments: 32,
  freshFragments: 5,
  freshRatio: 0.25,
  deletedRatio: 0.2,
};
