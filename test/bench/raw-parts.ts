import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type Table } from "@lancedb/lancedb";
import { EMBEDDING_DIMENSIONS } from "../../src/core/embedding.ts";

/** About what the journal writes for a memory of 25 words: its text, its vector and 20 token vectors. */
const RECORD_BYTES = 6 * 1_024;

/** One append and `fdatasync` a call, with nothing around it. */
export function openAppender(directory: string) {
  const file = openSync(join(directory, "appended"), "a");
  const record = Buffer.alloc(RECORD_BYTES, 1);
  return {
    append(): void {
      writeSync(file, record);
      fdatasyncSync(file);
    },
    close: () => closeSync(file),
  };
}

/** LanceDB called directly, as a program without a journal and indexes of its own would. */
export async function openBareLanceDb(storeDirectory: string) {
  const scratch = mkdtempSync(join(tmpdir(), "memoryd-bench-lance-"));
  const own = await connect(scratch);
  const added = await own.createTable("added", [row(0)]);
  const filled = await connect(join(storeDirectory, "tables"));
  const names = await filled.tableNames();
  const open = async (table: string): Promise<Table> =>
    filled.openTable(names.find((name) => name.startsWith(table)) ?? table);
  const [memories, vectors] = [await open("memories"), await open("vectors")];
  const ids = (await memories.query().select(["id"]).limit(8).toArray()).map(({ id }) => `'${id}'`);
  return {
    addOne: (turn: number) => added.add([row(turn)]),
    readEight: () =>
      memories
        .query()
        .where(`id IN (${ids.join(",")})`)
        .toArray(),
    nearestTen: () =>
      vectors.query().nearestTo(row(1).vector).column("embedding").select(["memory_id"]).limit(10).toArray(),
    close(): void {
      own.close();
      filled.close();
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}

function row(turn: number) {
  return {
    id: String(turn),
    text: `memory number ${turn}`,
    vector: Array.from({ length: EMBEDDING_DIMENSIONS }, (_, i) => Math.sin(turn + i) / 14),
  };
}
