import { InferenceSession, Tensor } from "onnxruntime-node";
import type { EmbeddingModel } from "./bundled-models.ts";

/** A loaded model; one run at a time. */
export interface ModelSession {
  /** Row-major hidden states of the last layer: as many numbers for the first mark, each piece, and the last mark. */
  run(pieceIds: readonly number[]): Promise<Float32Array>;
  release(): Promise<void>;
}

/** Names of an encoder's inputs, and of the output with its hidden states. */
const INPUTS = new Set(["input_ids", "attention_mask", "token_type_ids"]);
const OUTPUTS = ["last_hidden_state", "token_embeddings"];

/**
 * Loads a model from a file, and what that names as its weights.
 * @throws whatever ONNX Runtime throws; {TypeError} for a model that reads or gives other things than an encoder.
 */
export async function openModelSession(
  path: string,
  [first, last]: readonly [number, number],
): Promise<ModelSession> {
  // One thread: a second one makes a run no faster, and the embedding threads run in parallel.
  const options: InferenceSession.SessionOptions = {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    executionMode: "sequential",
    // ONNX Runtime would keep a plan of memory for every length of text.
    enableMemPattern: false,
    // 3 is "errors": a warning would go to stdout, which belongs to MCP and to answers of the command line.
    logSeverityLevel: 3,
  };
  const session = await InferenceSession.create(path, options);
  const { inputNames, outputNames } = session;
  const output = OUTPUTS.find((name) => outputNames.includes(name));
  const foreign = inputNames.filter((name) => !INPUTS.has(name));
  if (output === undefined || foreign.length > 0 || !inputNames.includes("input_ids")) {
    await session.release();
    throw new TypeError(
      `the model is no text encoder: it reads ${inputNames.join(", ")} and gives ${outputNames.join(", ")}`,
    );
  }
  return {
    async run(pieceIds) {
      const ids = new BigInt64Array(pieceIds.length + 2);
      ids[0] = BigInt(first);
      for (const [i, id] of pieceIds.entries()) ids[i + 1] = BigInt(id);
      ids[pieceIds.length + 1] = BigInt(last);
      const shape = [1, ids.length];
      const feeds: Record<string, Tensor> = {
        input_ids: new Tensor("int64", ids, shape),
        attention_mask: new Tensor("int64", new BigInt64Array(ids.length).fill(1n), shape),
        token_type_ids: new Tensor("int64", new BigInt64Array(ids.length), shape),
      };
      const given = await session.run(
        Object.fromEntries(Object.entries(feeds).filter(([name]) => inputNames.includes(name))),
        [output],
      );
      const states = given[output]?.data;
      if (!(states instanceof Float32Array))
        throw new TypeError(`the model's ${output} is not of 32-bit floats`);
      return states;
    },
    release: () => session.release(),
  };
}

/** The vector of a text from its hidden states, at unit length. */
export function pool(
  states: Float32Array,
  { pooling, hiddenSize: size }: Pick<EmbeddingModel, "pooling" | "hiddenSize">,
): Float32Array<ArrayBuffer> {
  if (pooling === "first") return scaleToUnit(new Float32Array(states.subarray(0, size)));
  const mean = new Float32Array(size);
  for (let row = 0; row < states.length; row += size) {
    for (let i = 0; i < size; i++) mean[i] = (mean[i] ?? 0) + (states[row + i] ?? 0);
  }
  return scaleToUnit(mean);
}

/** The vector itself, brought to length 1 in place; zeros stay zeros. */
export function scaleToUnit<V extends Float32Array>(vector: V): V {
  let square = 0;
  for (const x of vector) square += x * x;
  const factor = square > 0 ? 1 / Math.sqrt(square) : 0;
  for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] ?? 0) * factor;
  return vector;
}
