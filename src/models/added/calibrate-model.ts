import { dot, EMBEDDING_DIMENSIONS, TOKEN_DIMENSIONS, TOKEN_SCALE } from "../../core/embedding.ts";
import type { SectorModel } from "../../core/sectors/sectors.ts";
import { type Statement, trainSectors } from "../../core/sectors/train-sectors.ts";
import type { EmbeddingModel } from "../bundled-models.ts";
import { type ModelSession, pool, scaleToUnit } from "../model-session.ts";
import { readProjection } from "../projection.ts";
import { isKept, type PieceReader } from "../windows.ts";

/** Texts to measure a model with: labelled statements, and pairs of texts that say the same in other words. */
export interface CalibrationTexts {
  readonly statements: readonly Statement[];
  readonly pairs: readonly (readonly [string, string])[];
}

/** Cosines of a model, and what follows from them. */
export interface ModelFigures {
  /** Median cosine of texts that say the same, and mean cosine of texts that have nothing to do with each other. */
  readonly related: number;
  readonly unrelated: number;
  /** See `EmbeddingProfile`. */
  readonly similar: number;
  readonly tokenFloor: number;
}

export interface Calibration {
  /** A `centred` projection file, see `readProjection`. */
  readonly projection: Uint8Array;
  readonly sectors: SectorModel;
  readonly figures: ModelFigures;
}

type Encoder = Pick<EmbeddingModel, "hiddenSize" | "maxPieces" | "pooling" | "prefixes" | "files"> & {
  readonly session: ModelSession;
  readonly reader: PieceReader;
};
type TextKind = keyof EmbeddingModel["prefixes"];

/** Between unrelated and related texts: where the thresholds of the models that ship lie. */
const SIMILAR_SHARE = 0.8;
/** So far above what tokens of unrelated short texts reach at best on average, as for the models that ship. */
const TOKEN_FLOOR_ABOVE = 0.1;
/** Steps of the subspace iteration; more change no figure. */
const STEPS = 12;

/**
 * Measures a model: brings its vectors to the length that stores have, subtracts what they have in common, and finds the
 * thresholds that depend on it. Equal input gives equal output on one machine. Takes about 900 runs of the model.
 */
export async function calibrateModel(
  encoder: Encoder,
  { statements, pairs }: CalibrationTexts,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<Calibration> {
  const texts = [...statements.map(({ text }) => text), ...pairs.flat()];
  const { hiddenSize: size } = encoder;
  const means = { question: new Float32Array(size), window: new Float32Array(size) };
  const runs: { readonly states: Float32Array; readonly rows: readonly number[] }[] = [];
  const total = 2 * texts.length;
  let done = 0;
  for (const text of texts) {
    for (const kind of ["window", "question"] as const) {
      onProgress(done++, total);
      const isSame = kind === "question" && encoder.prefixes.question === encoder.prefixes.window;
      const run = isSame ? runs.at(-1) : await read(encoder, kind, text);
      if (run === undefined) continue;
      const pooled = pool(run.states, encoder);
      for (let i = 0; i < size; i++) means[kind][i] = (means[kind][i] ?? 0) + (pooled[i] ?? 0) / texts.length;
      if (kind === "window") runs.push(run);
    }
  }

  const tokensOfAll = function* () {
    for (const { states, rows } of runs)
      for (const row of rows) yield scaleToUnit(states.slice(row * size, (row + 1) * size));
  };
  const { mean, covariance } = momentsOf(tokensOfAll(), size);
  const columns = Math.min(size, size > EMBEDDING_DIMENSIONS ? EMBEDDING_DIMENSIONS : TOKEN_DIMENSIONS);
  const components = principalComponents(covariance, size, columns);
  const projection = Float32Array.from([
    ...means.question,
    ...means.window,
    // Shorter vectors are filled up, longer ones keep the directions in which tokens differ most.
    ...matrix(size, EMBEDDING_DIMENSIONS, (row, column) =>
      size > EMBEDDING_DIMENSIONS ? (components[column]?.[row] ?? 0) : row === column ? 1 : 0,
    ),
    ...mean,
    ...matrix(size, TOKEN_DIMENSIONS, (row, column) => components[column]?.[row] ?? 0),
  ]);
  const bytes = new Uint8Array(projection.buffer);
  const reading = readProjection(bytes, { ...encoder, projection: "centred" });
  const vectors = runs.map(({ states }) => reading.vector(states, "window"));
  const paired = runs.slice(statements.length).map(({ states, rows }) => reading.tokens(states, rows));
  return {
    projection: bytes,
    figures: figuresOf(vectors.slice(statements.length), paired),
    sectors: trainSectors(
      encoder.files.model.sha256,
      statements.map((statement, i) => ({
        ...statement,
        embedding: vectors[i] ?? new Float32Array(EMBEDDING_DIMENSIONS),
      })),
    ),
  };
}

/** The hidden states of a text with the prefix of its kind, and the rows of what token matching keeps. */
async function read({ session, reader, prefixes, maxPieces }: Encoder, kind: TextKind, text: string) {
  const idsOf = (from: string) => Array.from(reader.units(from), ({ pieces }) => pieces).flat();
  const prefix = idsOf(prefixes[kind]);
  const pieces = idsOf(text).slice(0, maxPieces - 2 - prefix.length);
  const states = await session.run([...prefix, ...pieces].map(({ id }) => id));
  // Row 0 is the first mark.
  const rows = pieces.flatMap((piece, i) => (isKept(piece) ? [1 + prefix.length + i] : []));
  return { states, rows };
}

/** Compares texts in pairs: each one with the next, and with the first of the pair after that. */
function figuresOf(vectors: readonly Float32Array[], tokens: readonly Int8Array[]): ModelFigures {
  const related: number[] = [];
  const [unrelated, matches]: [number[], number[]] = [[], []];
  for (let i = 0; i + 1 < vectors.length; i += 2) {
    related.push(dot(vectors[i] ?? [], vectors[i + 1] ?? []));
    for (let j = i + 2; j < vectors.length; j += 2) unrelated.push(dot(vectors[i] ?? [], vectors[j] ?? []));
    const other = (i + 2) % vectors.length;
    matches.push(...bestMatches(tokens[i] ?? new Int8Array(), tokens[other] ?? new Int8Array()));
  }
  const median = related.sort((a, b) => a - b)[Math.floor(related.length / 2)] ?? 1;
  const mean = average(unrelated);
  return {
    related: rounded(median),
    unrelated: rounded(mean),
    similar: rounded(mean + SIMILAR_SHARE * (median - mean)),
    tokenFloor: rounded(TOKEN_FLOOR_ABOVE + Math.max(0, average(matches))),
  };
}

/** Per token the highest cosine with one of the others. */
function bestMatches(own: Int8Array, others: Int8Array): number[] {
  const rowsOf = (all: Int8Array) =>
    Array.from({ length: all.length / TOKEN_DIMENSIONS }, (_, n) =>
      Float32Array.from(all.subarray(n * TOKEN_DIMENSIONS, (n + 1) * TOKEN_DIMENSIONS)),
    );
  const among = rowsOf(others);
  if (among.length === 0) return [];
  return rowsOf(own).map((row) => Math.max(...among.map((other) => dot(row, other))) / TOKEN_SCALE ** 2);
}

/** The mean of vectors, and how their numbers vary together. */
function momentsOf(vectors: Iterable<Float32Array>, size: number) {
  const mean = new Float64Array(size);
  const covariance = new Float64Array(size * size);
  let count = 0;
  for (const vector of vectors) {
    count += 1;
    for (const [a, x] of vector.entries()) {
      mean[a] = (mean[a] ?? 0) + x;
      const start = a * size;
      for (let b = 0; b < size; b++)
        covariance[start + b] = (covariance[start + b] ?? 0) + x * (vector[b] ?? 0);
    }
  }
  for (const [a, sum] of mean.entries()) mean[a] = sum / Math.max(1, count);
  for (const [at, product] of covariance.entries())
    covariance[at] =
      product / Math.max(1, count) - (mean[Math.floor(at / size)] ?? 0) * (mean[at % size] ?? 0);
  return { mean, covariance };
}

/** The first eigenvectors, by orthogonal iteration. @see Golub & Van Loan, Matrix Computations, 8.2.4 */
function principalComponents(symmetric: Float64Array, size: number, count: number): Float64Array[] {
  // Any beginning will do that no eigenvector is at right angles to.
  let columns = Array.from({ length: count }, (_, c) =>
    Float64Array.from({ length: size }, (__, i) => Math.sin(1 + c * size + i) + (i === c ? 1 : 0)),
  );
  for (let step = 0; step < STEPS; step++) {
    columns = columns.map((column) =>
      Float64Array.from({ length: size }, (_, i) =>
        dot(symmetric.subarray(i * size, (i + 1) * size), column),
      ),
    );
    for (const [c, column] of columns.entries()) {
      for (const before of columns.slice(0, c)) {
        const along = dot(before, column);
        for (let i = 0; i < size; i++) column[i] = (column[i] ?? 0) - along * (before[i] ?? 0);
      }
      const length = Math.sqrt(dot(column, column));
      // Directions without variance are left out.
      for (let i = 0; i < size; i++) column[i] = length > 1e-9 ? (column[i] ?? 0) / length : 0;
    }
  }
  return columns;
}

/** Row by row. */
const matrix = (rows: number, columns: number, at: (row: number, column: number) => number): Float32Array =>
  Float32Array.from({ length: rows * columns }, (_, i) => at(Math.floor(i / columns), i % columns));

const average = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
const rounded = (value: number) => Number(value.toFixed(3));
