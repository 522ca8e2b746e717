import { parentPort } from "node:worker_threads";
(await import("node:module")).createRequire(import.meta.url)("@lancedb/lancedb/dist/native.js");
parentPort.postMessage(1);
