/**
 * An embedding thread without a model, steered by what it is asked: "crash" ends it, "fail" is refused, "slow" takes
 * until the next message. It answers with the number of texts it has read, in place of a vector.
 */
import { parentPort, workerData } from "node:worker_threads";

let read = 0;
if (workerData.model.name === "missing") throw new Error("no such model");
else {
  parentPort.on("message", (message) => {
    if (message.type === "stop") return parentPort.close();
    const { text } = message.request;
    if (text === "crash") process.exit(1);
    if (text === "fail") return parentPort.postMessage({ type: "failed", reason: "cannot" });
    read += 1;
    const answer = {
      vector: Float32Array.of(read),
      tokens: new Int8Array(0),
      tokenIds: [],
      words: [],
      hasPieces: true,
    };
    parentPort.postMessage({ type: "embedded", answer: { ...answer, end: text.length, next: text.length } });
  });
  parentPort.postMessage({ type: "ready" });
}
