/**
 * Makes `data/token-projection.bin`: the first principal components, without centring, of the token vectors that
 * all-MiniLM-L6-v2 gives to the statements of `sectors-dev.json` and to the English words of its own vocabulary.
 * Both count half: 200 statements alone know too few words (R@10 of token matching on LoCoMo .700, both .710, the
 * vectors before projection .712), words alone no sentences.
 *
 *   npx jiti test/eval/train-token-projection.ts SECTORS_DEV_JSON
 *
 * Written are the components row-major, one row a dimension of the model, float32 little-endian, and a JSON file
 * that says what they are. Made again from the same input they may differ in the last bits: a new file means a new
 * SHA-256 in `src/models/bundled-models.ts`, and vectors that no longer mix with the old ones.
 */
// Matrices: every index is in range by construction, and a check in each step would hide the formulas.
/* oxlint-disable typescript/no-non-null-assertion */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { EMBEDDING_DIMENSIONS as SIZE, TOKEN_DIMENSIONS } from "../../src/core/embedding.ts";
import { MINILM } from "../../src/models/bundled-models.ts";
import { isKept } from "../../src/models/windows.ts";
import { openBareModel } from "./bare-model.ts";

const WORDS_PER_RUN = 10;
const { files } = MINILM;

const [source] = process.argv.slice(2);
if (source === undefined) throw new Error("usage: train-token-projection.ts SECTORS_DEV_JSON");
const input = readFileSync(source);
const statements = JSON.parse(input.toString("utf8")) as { readonly text: string }[];

const model = await openBareModel();

const vocabulary = Object.keys(
  (JSON.parse(readFileSync(files.tokenizer.path, "utf8")) as { model: { vocab: Record<string, number> } })
    .model.vocab,
).filter((word) => /^[a-z]{3,}$/.test(word));
// Words far apart in the vocabulary, which is in order of frequency, so that no run is of rare words alone.
const runs = Math.ceil(vocabulary.length / WORDS_PER_RUN);
const wordLists = Array.from({ length: runs }, (_, run) =>
  vocabulary.filter((__, i) => i % runs === run).join(" "),
);

const fromStatements = await secondMoments(statements.map(({ text }) => text));
const fromWords = await secondMoments(wordLists);
const moments = fromStatements.moments.map(
  (x, i) => x / fromStatements.tokens + fromWords.moments[i]! / fromWords.tokens,
);
await model.release();

const { vectors, values } = eigen(moments, SIZE);
const order = Array.from(values.keys())
  .sort((a, b) => values[b]! - values[a]!)
  .slice(0, TOKEN_DIMENSIONS);
const projection = new Float32Array(SIZE * TOKEN_DIMENSIONS);
order.forEach((column, component) => {
  for (let i = 0; i < SIZE; i++) projection[i * TOKEN_DIMENSIONS + component] = vectors[i * SIZE + column]!;
});

const bytes = new DataView(new ArrayBuffer(projection.length * 4));
projection.forEach((x, i) => bytes.setFloat32(i * 4, x, true));
const file = new Uint8Array(bytes.buffer);
const sha256 = createHash("sha256").update(file).digest("hex");
const kept = order.reduce((sum, column) => sum + values[column]!, 0) / values.reduce((sum, x) => sum + x, 0);
writeFileSync(files.projection.path, file);
writeFileSync(
  files.projection.path.replace(/bin$/, "json"),
  `${JSON.stringify(
    {
      what: "first principal components, not centred, of unit token vectors; float32 little-endian, a row a model dimension",
      rows: SIZE,
      columns: TOKEN_DIMENSIONS,
      model: MINILM.name,
      modelSha256: files.model.sha256,
      source: `${basename(source)} and the vocabulary of the tokenizer, half each`,
      sourceSha256: createHash("sha256").update(input).digest("hex"),
      tokens: { statements: fromStatements.tokens, vocabulary: fromWords.tokens },
      keptOfSquaredLength: Number(kept.toFixed(4)),
      sha256,
    },
    null,
    2,
  )}\n`,
);
process.stdout.write(`${(kept * 100).toFixed(1)} % of squared length kept, sha256 ${sha256}\n`);

/** Sum of the outer products of the texts' kept token vectors, row-major. */
async function secondMoments(texts: readonly string[]): Promise<{ moments: Float64Array; tokens: number }> {
  const moments = new Float64Array(SIZE * SIZE);
  let tokens = 0;
  for (const text of texts) {
    const { pieces, rows } = await model.read(text);
    for (const [i, row] of rows.entries()) {
      if (!pieces[i] || !isKept(pieces[i])) continue;
      tokens += 1;
      for (let a = 0; a < SIZE; a++) {
        const x = row[a]!;
        const start = a * SIZE;
        for (let b = 0; b < SIZE; b++) moments[start + b]! += x * row[b]!;
      }
    }
  }
  return { moments, tokens };
}

/** Eigenvectors (columns) of a symmetric matrix by cyclic Jacobi rotations. @see Golub & Van Loan, Matrix Computations, 8.5 */
function eigen(matrix: Float64Array, size: number): { vectors: Float64Array; values: Float64Array } {
  const a = matrix.slice();
  const vectors = new Float64Array(size * size);
  for (let i = 0; i < size; i++) vectors[i * size + i] = 1;
  for (let sweep = 0; sweep < 30; sweep++) {
    let rest = 0;
    for (let p = 0; p < size; p++) for (let q = p + 1; q < size; q++) rest += a[p * size + q]! ** 2;
    if (rest < 1e-18) break;
    for (let p = 0; p < size; p++) for (let q = p + 1; q < size; q++) rotate(a, vectors, size, p, q);
  }
  return { vectors, values: Float64Array.from({ length: size }, (_, i) => a[i * size + i]!) };
}

function rotate(a: Float64Array, v: Float64Array, n: number, p: number, q: number) {
  const off = a[p * n + q]!;
  if (Math.abs(off) < 1e-300) return;
  const theta = (a[q * n + q]! - a[p * n + p]!) / (2 * off);
  const t = Math.sign(theta || 1) / (Math.abs(theta) + Math.hypot(1, theta));
  const c = 1 / Math.hypot(1, t);
  const s = t * c;
  for (let k = 0; k < n; k++) {
    const x = a[k * n + p]!;
    const y = a[k * n + q]!;
    a[k * n + p] = c * x - s * y;
    a[k * n + q] = s * x + c * y;
  }
  for (let k = 0; k < n; k++) {
    const x = a[p * n + k]!;
    const y = a[q * n + k]!;
    a[p * n + k] = c * x - s * y;
    a[q * n + k] = s * x + c * y;
    const e = v[k * n + p]!;
    const f = v[k * n + q]!;
    v[k * n + p] = c * e - s * f;
    v[k * n + q] = s * e + c * f;
  }
}
