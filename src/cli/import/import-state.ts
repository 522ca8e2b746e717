import { createHash } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import type { Owners } from "./check-item.ts";
import { jsonOf } from "./read-record.ts";

/** How far an import came: counts, and nothing of what was imported. */
const State = Type.Object({
  items: Type.Integer({ minimum: 0 }),
  added: Type.Integer({ minimum: 0 }),
  known: Type.Integer({ minimum: 0 }),
  skipped: Type.Integer({ minimum: 0 }),
  failed: Type.Integer({ minimum: 0 }),
});
export type ImportState = Static<typeof State>;

export const NOTHING_DONE: ImportState = { items: 0, added: 0, known: 0, skipped: 0, failed: 0 };

const FOLDER = "imports";
const SAMPLE_BYTES = 64 * 1_024;

export interface StateFile {
  read(): Promise<ImportState | undefined>;
  write(state: ImportState): Promise<void>;
  remove(): Promise<void>;
}

/** The state of importing one source in one way, in the data directory. Another size, time or option is another import. */
export async function stateFile(dataDir: string, source: string, how: Owners & object): Promise<StateFile> {
  const hash = createHash("sha256")
    .update(JSON.stringify([await fingerprint(source), how]))
    .digest("hex");
  const path = join(dataDir, FOLDER, `${hash.slice(0, 32)}.json`);
  return {
    async read() {
      const content: unknown = jsonOf(await readFile(path, "utf8").catch(() => ""));
      return Value.Check(State, content) ? content : undefined;
    },
    async write(state) {
      await mkdir(join(dataDir, FOLDER), { recursive: true, mode: 0o700 });
      await writeFile(`${path}.new`, JSON.stringify(state), { mode: 0o600 });
      await rename(`${path}.new`, path);
    },
    remove: async () => await rm(path, { force: true }),
  };
}

/** Of a file: size, time and its ends; of a folder: the same of what is in it, without their ends. */
async function fingerprint(path: string): Promise<unknown> {
  const found = await stat(path);
  if (!found.isDirectory()) return [found.size, found.mtimeMs, await endsOf(path, found.size)];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const hash = createHash("sha256");
  for (const file of files.sort()) {
    const { size, mtimeMs } = await stat(file);
    hash.update(JSON.stringify([file, size, mtimeMs]));
  }
  return hash.digest("hex");
}

async function endsOf(path: string, size: number): Promise<string> {
  const hash = createHash("sha256");
  const file = await open(path);
  try {
    for (const position of [0, Math.max(0, size - SAMPLE_BYTES)]) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(SAMPLE_BYTES), 0, SAMPLE_BYTES, position);
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
  return hash.digest("hex");
}
