import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";
import type { TableName } from "../../src/core/rows.ts";
import { chooseCheckpoint, tablesFolder } from "../../src/storage/checkpoints/checkpoint.ts";
import { listFilesBelow, nodeDisk } from "../../src/storage/files/disk.ts";
import { lanceTables } from "../../src/storage/tables/table-spec.ts";
import { openTables } from "../../src/storage/tables/tables.ts";

/** Every row of a store by table and id, as JSON; typed arrays as their type, length and SHA-256. */
export type StoredRows = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

interface Fixture {
  /** Base64 by path below the data directory. */
  readonly files: Readonly<Record<string, string>>;
  readonly rows: StoredRows;
}

const FOLDER = join(import.meta.dirname, "../fixtures/stores");
const LEFT_OUT = /^(lock.*|daemon\.json|journal\/reserve|memoryd\.log.*)$/;

export async function packStore(name: string, directory: string, rows: StoredRows): Promise<void> {
  const paths = (await listFilesBelow(nodeDisk, directory)).filter((path) => !LEFT_OUT.test(path));
  const files = Object.fromEntries(
    paths.map((path) => [path, readFileSync(join(directory, path)).toString("base64")]),
  );
  const bytes = Buffer.from(JSON.stringify({ files, rows } satisfies Fixture));
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length, [constants.BROTLI_PARAM_LGWIN]: 24 };
  writeFileSync(join(FOLDER, `${name}.json.br`), brotliCompressSync(bytes, { params }));
}

/** Puts a fixture into a data directory of its own; answers that and the rows it must hold. */
export function unpackStore(name: string): { readonly directory: string; readonly rows: StoredRows } {
  const bytes = brotliDecompressSync(readFileSync(join(FOLDER, `${name}.json.br`)));
  const { files, rows } = JSON.parse(bytes.toString()) as Fixture;
  const directory = mkdtempSync(join(tmpdir(), "memoryd-fixture-"));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true, mode: 0o700 });
    writeFileSync(join(directory, path), Buffer.from(content, "base64"), { mode: 0o600 });
  }
  return { directory, rows };
}

/** What the tables of a store hold that was closed after a flush; changes nothing. */
export async function readRows(directory: string): Promise<StoredRows> {
  const chosen = await chooseCheckpoint(nodeDisk, directory, { hasJournal: true });
  const tables = await openTables(tablesFolder(directory), lanceTables(chosen?.checkpoint.tables ?? []));
  try {
    const rows: Record<string, Record<string, unknown>> = {};
    const put = (table: TableName, id: string, row: unknown) => {
      (rows[table] ??= {})[id] = JSON.parse(JSON.stringify(row, (_key, value: unknown) => inJson(value)));
    };
    const ids: string[] = [];
    for await (const batch of tables.scanMemories()) for (const { id } of batch) ids.push(id);
    for (const table of ["memories", "vectors"] as const)
      for (const [id, row] of await tables.read(table, ids)) put(table, id, row);
    for (const table of ["signals", "edges", "requests", "facts", "documents", "jobs"] as const)
      for await (const batch of tables.scan(table)) for (const { id, row } of batch) put(table, id, row);
    return rows;
  } finally {
    await tables.close();
  }
}

function inJson(value: unknown): unknown {
  if (!(value instanceof Float32Array) && !(value instanceof Int8Array)) return value;
  const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  return `${value.constructor.name}(${value.length}) ${hash}`;
}
