import { cp, lstat, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "@lancedb/lancedb";
import { DataType } from "apache-arrow";
import { readCheckpoints } from "../../src/storage/checkpoints/checkpoint.ts";
import { listFilesBelow, nodeDisk } from "../../src/storage/files/disk.ts";
import { decodeSegmentHeader, parseSegmentName } from "../../src/storage/journal/format.ts";
import { readSegment } from "../../src/storage/journal/read-segment.ts";
import { filesOfVersion } from "../../src/storage/tables/table-files.ts";

const MAX_COPIES = 100;
const MAX_READS = 20;
const RETRY_MS = 100;

/** Everything that the files of a data directory hold, as they stand and decoded. */
export interface EveryByte {
  /** Path of each file, and its bytes. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** Contents by where they stand: every row of every version of every table, every record of the journal. */
  readonly decoded: ReadonlyMap<string, string>;
  /** What must not be: rows in the tables' files that no version shows, files that no version names. */
  readonly unseen: readonly string[];
}

/** Reads a copy, so that nothing is touched; another one where a running daemon had just half removed or made a table. */
export async function readEveryByte(directory: string): Promise<EveryByte> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await readCopy(await copyDirectory(directory));
    } catch (error) {
      if (attempt === MAX_READS || !/ was not found/.test((error as Error).message)) throw error;
    }
    await sleep(RETRY_MS);
  }
}

async function readCopy(copy: string): Promise<EveryByte> {
  try {
    const files = new Map<string, Buffer>();
    for (const path of await listFilesBelow(nodeDisk, copy))
      files.set(path, await nodeDisk.readFile(join(copy, path)));
    const decoded = decodeJournal(files);
    const unseen: string[] = [];
    await decodeTables(join(copy, "tables"), decoded, unseen);
    return { files, decoded, unseen };
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** A copy of a moment: where a running daemon changes a file meanwhile, it is made again. */
async function copyDirectory(directory: string): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const copy = await mkdtemp(join(tmpdir(), "memoryd-every-byte-"));
    try {
      const before = await stateOf(directory);
      // Sockets hold no bytes, and cannot be copied.
      await cp(directory, copy, { recursive: true, filter: async (path) => !(await lstat(path)).isSocket() });
      if ((await stateOf(directory)) === before) return copy;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
    await rm(copy, { recursive: true, force: true });
    if (attempt === MAX_COPIES) throw new Error(`${directory} does not come to rest`);
    await sleep(RETRY_MS);
  }
}

/** Names, lengths and times of all its files. */
async function stateOf(directory: string): Promise<string> {
  const paths = await listFilesBelow(nodeDisk, directory);
  const states = paths.map(async (path) => {
    const { size, mtimeMs } = await lstat(join(directory, path));
    return `${path} ${size} ${mtimeMs}`;
  });
  return (await Promise.all(states)).join("\n");
}

/** Where a text stands: as UTF-8 in a file, or decoded; sorted. */
export function placesOf(text: string, { files, decoded }: EveryByte): string[] {
  const raw = [...files].filter(([, bytes]) => bytes.includes(text)).map(([path]) => path);
  const read = [...decoded].filter(([, content]) => content.includes(text)).map(([place]) => place);
  return [...raw, ...read].sort();
}

function decodeJournal(files: ReadonlyMap<string, Buffer>): Map<string, string> {
  const decoded = new Map<string, string>();
  for (const [path, bytes] of files) {
    if (parseSegmentName(basename(path)) === undefined) continue;
    const header = decodeSegmentHeader(bytes);
    if (header === undefined) throw new Error(`${path} has no header`);
    const records: string[] = [];
    readSegment(path, bytes, header, {
      after: 0,
      onRecord: (record) => records.push(JSON.stringify(record, plain)),
    });
    decoded.set(`${path}, decoded`, records.join("\n"));
  }
  return decoded;
}

async function decodeTables(folder: string, decoded: Map<string, string>, unseen: string[]): Promise<void> {
  const connection = await connect(folder);
  // Token vectors hold no text; their files are named by checkpoints alone.
  const { readable } = await readCheckpoints(nodeDisk, dirname(folder));
  const files = readable.flatMap(({ tables }) => tables).flatMap((table) => table.files);
  const named = new Set(files.map(({ path }) => path).filter((path) => path.includes(".flat/")));
  for (const name of await connection.tableNames({ limit: 1_000 })) {
    const table = await connection.openTable(name);
    let seen = 0;
    let stored = 0;
    for (const { version } of await table.listVersions()) {
      await table.checkout(version);
      const rows = await table.query().toArray();
      const { fields } = await table.schema();
      const columns = fields.filter(({ type }) => !isOfNumbers(type)).map((field) => field.name);
      const texts = rows.map((row) =>
        JSON.stringify(Object.fromEntries(columns.map((column) => [column, row[column]])), plain),
      );
      decoded.set(`${name} version ${version}`, texts.join("\n"));
      const { fragmentStats } = await table.stats();
      stored = Math.max(stored, Math.round(fragmentStats.lengths.mean * fragmentStats.numFragments));
      seen = Math.max(seen, rows.length);
      for (const path of await filesOfVersion(nodeDisk, folder, { name, version, rows: 0 })) named.add(path);
    }
    if (stored > seen) unseen.push(`${name}: ${stored - seen} rows that no version shows`);
    table.close();
  }
  connection.close();
  for (const path of await listFilesBelow(nodeDisk, folder))
    if (!named.has(path) && !path.endsWith("latest_version_hint.json")) unseen.push(path);
}

/** Vectors: as decimals they hold no text, and are nearly all there is. */
function isOfNumbers(type: DataType): boolean {
  return DataType.isFixedSizeList(type) || DataType.isBinary(type);
}

function plain(_: string, value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return undefined;
  return typeof value === "bigint" ? String(value) : value;
}
