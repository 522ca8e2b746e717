import { type MessagePort, parentPort } from "node:worker_threads";
import type { RecordBatch } from "apache-arrow";
import type { TableName } from "../../core/rows.ts";
import { toRecordBatch, tableSchema } from "./arrow-columns.ts";
import { buffersOf, type Columns } from "./columns.ts";
import { LanceTables } from "./lance-tables.ts";
import type { TablesCalls, TablesRequest } from "./worker-client.ts";

type Answers = {
  [K in keyof TablesCalls]: (...args: Parameters<TablesCalls[K]>) => Promise<ReturnType<TablesCalls[K]>>;
};

/** Calls that answer rows, whose buffers are moved. */
const ROWS: ReadonlySet<keyof TablesCalls> = new Set(["read", "range", "nextBatch"]);

/** Answers the calls that come through a port, until one says `close`. */
export function serveTables(port: MessagePort): void {
  const answers = answersOfTables();
  port.on("message", ({ call, id, args }: TablesRequest) => {
    const answer = answers[call] as (...args: unknown[]) => Promise<unknown>;
    answer(...args).then(
      (result) => {
        port.postMessage({ id, result }, ROWS.has(call) ? transferablesOf(result) : []);
        // No handle is left then, and the thread ends by itself.
        if (call === "close") port.close();
      },
      (error: unknown) => {
        const { message, stack } = error instanceof Error ? error : new Error(String(error));
        port.postMessage({ id, error: { message, stack } });
      },
    );
  });
}

function answersOfTables(): Answers {
  let opened: LanceTables | undefined;
  let staged = new Map<TableName, { readonly ids: string[]; readonly batches: RecordBatch[] }>();
  const scans = new Map<number, AsyncGenerator<Columns>>();
  let scanCount = 0;
  const tables = (): LanceTables => {
    if (opened === undefined) throw new Error("the tables are closed");
    return opened;
  };
  return {
    async open(directory, states, unindexed, isFixed, sizes) {
      opened = await LanceTables.open(directory, states, unindexed, isFixed, sizes);
    },
    async stage(table, ids, columns) {
      const stage = staged.get(table) ?? { ids: [], batches: [] };
      staged.set(table, stage);
      stage.ids.push(...ids);
      if (columns !== undefined) stage.batches.push(toRecordBatch(tableSchema(table), columns));
    },
    async commit() {
      const replacements = [...staged].map(([table, stage]) => ({ table, ...stage }));
      staged = new Map();
      for (const replacement of replacements) await tables().replace(replacement);
    },
    async discard() {
      staged = new Map();
    },
    read: async (table, ids, columns) => tables().read(table, ids, columns),
    range: async (table, first, count) => tables().range(table, first, count),
    async startScan(table, columns) {
      scanCount += 1;
      scans.set(scanCount, tables().scan(table, columns));
      return scanCount;
    },
    async nextBatch(scan) {
      const next = await scans.get(scan)?.next();
      if (next !== undefined && next.done !== true) return next.value;
      scans.delete(scan);
      return undefined;
    },
    async stopScan(scan) {
      await scans.get(scan)?.return(undefined);
      scans.delete(scan);
    },
    states: async () => tables().states(),
    compact: async (thresholds) => tables().compact(thresholds),
    startGeneration: async () => tables().startGeneration(),
    copyTable: async () => tables().copyTable(),
    catchUp: async (table, ids) => tables().catchUp(table, ids),
    generationStates: async () => tables().generationStates(),
    switchGeneration: async () => tables().switchGeneration(),
    abandonGeneration: async () => tables().abandonGeneration(),
    endGeneration: async () => tables().endGeneration(),
    async close() {
      opened?.close();
      opened = undefined;
    },
  };
}

function transferablesOf(result: unknown): ArrayBuffer[] {
  if (Array.isArray(result)) return result.flatMap(transferablesOf);
  return result === undefined ? [] : buffersOf(result as Columns);
}

// Absent where a program imports this module to serve a port of its own.
if (parentPort !== null) serveTables(parentPort);
