import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { type ModelFile, readVerified } from "../bundled-models.ts";
import { buildPieceTable } from "./piece-table.ts";

const CHECKSUM_BYTES = 4;

/** Beside the built code that reads it: code that is run from source reads none, whose table may differ. */
const pathOf = (tokenizer: ModelFile): string =>
  join(import.meta.dirname, `pieces-${tokenizer.sha256.slice(0, 16)}.bin`);

/** The pieces of a tokenizer that ships; undefined for others, and where the file is missing or damaged. */
export async function readPieceTable(
  tokenizer: ModelFile,
  path = pathOf(tokenizer),
): Promise<SharedArrayBuffer | undefined> {
  const file = await readFile(path).catch(() => undefined);
  if (file === undefined || file.length <= CHECKSUM_BYTES) return undefined;
  const bytes = file.subarray(CHECKSUM_BYTES);
  if (file.readUInt32LE(0) !== crc32(bytes)) return undefined;
  const table = new SharedArrayBuffer(bytes.length);
  new Uint8Array(table).set(bytes);
  return table;
}

/** Writes the file that `readPieceTable` reads. @throws {ServiceError} MODEL_UNAVAILABLE, or the disk's error. */
export async function writePieceTable(tokenizer: ModelFile, path = pathOf(tokenizer)): Promise<void> {
  const bytes = Buffer.from(buildPieceTable(await readVerified(tokenizer)));
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32LE(crc32(bytes));
  await writeFile(path, Buffer.concat([checksum, bytes]));
}
