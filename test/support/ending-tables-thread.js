/** A tables' thread that ends when it is called, and closes as the real one does. */
import { parentPort } from "node:worker_threads";

parentPort.on("message", ({ call, id }) => {
  if (call !== "close") throw new Error("out of memory");
  parentPort.postMessage({ id, result: undefined });
  parentPort.close();
});
