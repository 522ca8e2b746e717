import { EMBEDDING_DIMENSIONS as SIZE, TOKEN_DIMENSIONS, TOKEN_SCALE } from "../core/embedding.ts";
import type { EmbeddingModel } from "./bundled-models.ts";
import { meanPool, scaleToUnit } from "./model-session.ts";

/** Turns the hidden states of a text into its vectors. */
export interface Projection {
  /** The embedding of the text, at unit length. */
  vector(states: Float32Array, kind: "question" | "window"): Float32Array<ArrayBuffer>;
  /** Token vectors of chosen rows. */
  tokens(states: Float32Array, rows: readonly number[]): Int8Array<ArrayBuffer>;
}

/**
 * Reads a model's projection file: float32, little-endian. `plain`: the token projection, one row per dimension of the model.
 * `centred`: before it the mean vector of questions, that of windows, the map of vectors (one row per dimension) and the mean
 * token vector. The means are subtracted: what all vectors have in common does not distinguish them.
 */
export function readProjection(file: Uint8Array, kind: EmbeddingModel["projection"]): Projection {
  // Every platform that ONNX Runtime runs on is little-endian.
  const numbers = new Float32Array(new Uint8Array(file).buffer);
  let at = 0;
  const next = (count: number) => numbers.subarray(at, (at += count));
  if (kind === "plain") {
    return { vector: meanPool, tokens: tokenProjection(transposed(next(SIZE * TOKEN_DIMENSIONS))) };
  }
  const means = { question: next(SIZE), window: next(SIZE) };
  const map = transposed(next(SIZE * SIZE));
  const tokenMean = next(SIZE);
  return {
    vector(states, of) {
      const vector = meanPool(states);
      const mean = means[of];
      for (let i = 0; i < SIZE; i++) vector[i] = (vector[i] ?? 0) - (mean[i] ?? 0);
      const mapped = new Float32Array(SIZE);
      project(map, vector, mapped);
      return scaleToUnit(mapped);
    },
    tokens: tokenProjection(transposed(next(SIZE * TOKEN_DIMENSIONS)), tokenMean),
  };
}

function tokenProjection(components: Float32Array, mean?: Float32Array): Projection["tokens"] {
  const projected = new Float32Array(TOKEN_DIMENSIONS);
  return (states, rows) => {
    const vectors = new Int8Array(rows.length * TOKEN_DIMENSIONS);
    for (const [n, row] of rows.entries()) {
      const state = states.slice(row * SIZE, (row + 1) * SIZE);
      if (mean !== undefined) {
        scaleToUnit(state);
        for (let i = 0; i < SIZE; i++) state[i] = (state[i] ?? 0) - (mean[i] ?? 0);
      }
      project(components, state, projected);
      // Without it, the length that the projection loses counts against a token: R@10 on LoCoMo .701 instead of .713.
      scaleToUnit(projected);
      for (let j = 0; j < TOKEN_DIMENSIONS; j++) {
        vectors[n * TOKEN_DIMENSIONS + j] = toInt8((projected[j] ?? 0) * TOKEN_SCALE);
      }
    }
    return vectors;
  };
}

/** A matrix of `SIZE` rows, so that the inner loop of `project` reads both operands in order. */
function transposed(matrix: Float32Array): Float32Array {
  const columns = matrix.length / SIZE;
  return matrix.map((_, at) => matrix[(at % SIZE) * columns + Math.floor(at / SIZE)] ?? 0);
}

/** Four components at a time: each value read is used four times, which makes it three times as fast. */
function project(components: Float32Array, state: Float32Array, result: Float32Array) {
  for (let j = 0; j < result.length; j += 4) {
    let [a, b, c, d] = [0, 0, 0, 0];
    let at = j * SIZE;
    for (let i = 0; i < SIZE; i++, at++) {
      const x = state[i] ?? 0;
      a += x * (components[at] ?? 0);
      b += x * (components[at + SIZE] ?? 0);
      c += x * (components[at + 2 * SIZE] ?? 0);
      d += x * (components[at + 3 * SIZE] ?? 0);
    }
    result[j] = a;
    result[j + 1] = b;
    result[j + 2] = c;
    result[j + 3] = d;
  }
}

function toInt8(x: number): number {
  return Math.max(-127, Math.min(127, Math.round(x)));
}
