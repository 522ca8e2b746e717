/** Serves the tables of every store in the test's own thread: loading LanceDB takes longer than opening a store. */
import { EventEmitter } from "node:events";
import { MessageChannel } from "node:worker_threads";
import { TablesThread, type Thread } from "../../src/storage/tables/worker-client.ts";

TablesThread.start = () => {
  const { port1, port2 } = new MessageChannel();
  const thread = new EventEmitter();
  port1.on("message", (reply) => thread.emit("message", reply));
  port1.on("close", () => thread.emit("exit"));
  // Calls wait in the port until they are served.
  import("../../src/storage/tables/tables-worker.ts").then(
    ({ serveTables }) => serveTables(port2),
    (error: unknown) => thread.emit("error", error),
  );
  return Object.assign(thread, {
    postMessage: (message: unknown, transfer: readonly ArrayBuffer[]) => port1.postMessage(message, transfer),
  }) satisfies Thread;
};
