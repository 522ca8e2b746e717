import { type MessagePort, parentPort } from "node:worker_threads";
import { buffersOf, type Columns } from "./columns.ts";
import { LanceTables } from "./lance-tables.ts";
import type { TablesCalls, TablesRequest } from "./worker-client.ts";

/** Calls that answer rows, whose buffers are moved. */
const ROWS: ReadonlySet<keyof TablesCalls> = new Set(["read", "range", "nextBatch"]);

/** Answers the calls that come through a port, until one says `close`. */
export function serveTables(port: MessagePort): void {
  let tables: LanceTables | undefined;

  async function answer({ call, args }: TablesRequest): Promise<unknown> {
    if (call === "open") {
      tables = await LanceTables.open(...args);
      return undefined;
    }
    if (call === "close") return tables?.close();
    if (tables === undefined) throw new Error("the tables are closed");
    const method = tables[call] as (...args: readonly unknown[]) => unknown;
    return method.apply(tables, args);
  }

  port.on("message", (request: TablesRequest) => {
    const { call, id } = request;
    answer(request).then(
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

function transferablesOf(result: unknown): ArrayBuffer[] {
  if (Array.isArray(result)) return result.flatMap(transferablesOf);
  return result === undefined ? [] : buffersOf(result as Columns);
}

// Absent where a program imports this module to serve a port of its own.
if (parentPort !== null) serveTables(parentPort);
