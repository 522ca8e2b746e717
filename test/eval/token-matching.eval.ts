/**
 * How well token matching alone finds the turns that LoCoMo's questions rest on, by the form of the token vectors:
 * whole, projected, brought back to unit length or not, and rounded to int8 on several scales.
 *
 *   npx jiti test/eval/token-matching.eval.ts LOCOMO_JSON
 */
// Matrices: every index is in range by construction, and a check in each step would hide the formulas.
/* oxlint-disable typescript/no-non-null-assertion */
import { readFileSync } from "node:fs";
import { EMBEDDING_DIMENSIONS, TOKEN_DIMENSIONS } from "../../src/core/embedding.ts";
import { MINILM } from "../../src/models/bundled-models.ts";
import { scaleToUnit } from "../../src/models/model-session.ts";
import { isKept } from "../../src/models/windows.ts";
import { openBareModel } from "./bare-model.ts";
import { readLocomo, RecallSum } from "./locomo.ts";

type Form = {
  readonly name: string;
  readonly of: (row: Float32Array) => Float32Array;
  readonly unit: number;
};

const [source] = process.argv.slice(2);
if (source === undefined) throw new Error("usage: token-matching.eval.ts LOCOMO_JSON");
const file = readFileSync(MINILM.files.projection.path);
const components = new Float32Array(file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength));

const project = (row: Float32Array) => {
  const result = new Float32Array(TOKEN_DIMENSIONS);
  for (let i = 0; i < EMBEDDING_DIMENSIONS; i++) {
    for (let j = 0; j < TOKEN_DIMENSIONS; j++) result[j]! += row[i]! * components[i * TOKEN_DIMENSIONS + j]!;
  }
  return result;
};
let clipped = 0;
let rounded = 0;
const round = (scale: number) => (row: Float32Array) =>
  row.map((x) => {
    rounded += 1;
    if (Math.abs(x * scale) > 127) clipped += 1;
    return Math.max(-127, Math.min(127, Math.round(x * scale)));
  });
const forms: Form[] = [
  { name: "384 float", of: (row) => row, unit: 1 },
  { name: "128 float", of: project, unit: 1 },
  { name: "128 float, unit length", of: (row) => scaleToUnit(project(row)), unit: 1 },
  ...[127, 200, 256, 320, 400].flatMap((scale) => [
    { name: `128 int8 × ${scale}`, of: (row: Float32Array) => round(scale)(project(row)), unit: scale },
    {
      name: `128 int8 × ${scale}, unit length`,
      of: (row: Float32Array) => round(scale)(scaleToUnit(project(row))),
      unit: scale,
    },
  ]),
];

const model = await openBareModel();
const read = async (text: string, keepAll: boolean) => {
  const { pieces, rows } = await model.read(text);
  let kept = pieces.flatMap((piece, i) => (isKept(piece) ? [i] : []));
  if (keepAll && kept.length === 0) kept = pieces.flatMap((piece, i) => (piece.isWord ? [i] : []));
  return kept.map((i) => ({ id: pieces[i]!.id, row: rows[i]! }));
};
const conversations = [];
for (const { turns, questions } of readLocomo(source)) {
  const documents = [];
  for (const turn of turns) documents.push({ id: turn.id, tokens: await read(turn.text, false) });
  const asked = [];
  for (const question of questions)
    asked.push({ evidence: question.evidence, tokens: await read(question.q, true) });
  conversations.push({ documents, asked });
}
await model.release();

const only = process.argv[3];
for (const form of forms.filter(({ name }) => only === undefined || name.includes(only))) {
  const sum = new RecallSum();
  let [best, bests, self, selves] = [0, 0, 0, 0];
  [clipped, rounded] = [0, 0];
  for (const { documents, asked } of conversations) {
    const frequency = new Map<number, number>();
    for (const { tokens } of documents) {
      for (const id of new Set(tokens.map((token) => token.id)))
        frequency.set(id, (frequency.get(id) ?? 0) + 1);
    }
    const shaped = documents.map(({ id, tokens }) => ({ id, rows: tokens.map(({ row }) => form.of(row)) }));
    for (const { tokens, evidence } of asked) {
      const rows = tokens.map(({ row }) => form.of(row));
      const idf = tokens.map(({ id }) => {
        const n = frequency.get(id) ?? 0;
        return Math.log(1 + (documents.length - n + 0.5) / (n + 0.5));
      });
      const total = idf.reduce((a, b) => a + b, 0);
      for (const row of rows) [self, selves] = [self + dot(row, row) / form.unit ** 2, selves + 1];
      const scored = shaped.map(({ id, rows: theirs }) => {
        let score = 0;
        rows.forEach((row, j) => {
          let nearest = 0;
          for (const other of theirs) nearest = Math.max(nearest, dot(row, other));
          score += (idf[j]! / total) * nearest;
        });
        return { id, score: score / form.unit ** 2 };
      });
      scored.sort((a, b) => b.score - a.score);
      [best, bests] = [best + (scored[0]?.score ?? 0), bests + 1];
      sum.add(
        scored.map(({ id }) => id),
        evidence,
      );
    }
  }
  process.stdout.write(
    `${form.name.padEnd(30)} ${sum.toString()}  clipped ${((100 * clipped) / rounded || 0).toFixed(2)} %  ` +
      `mean best score ${(best / bests).toFixed(3)}  self ${(self / selves).toFixed(3)}\n`,
  );
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}
