/**
 * Which size of window finds long texts best: LoCoMo's turns are joined into texts of `TURNS` turns, and each question
 * looks for the texts that hold its evidence, by the best window alone.
 *
 *   npx jiti test/eval/windows.eval.ts LOCOMO_JSON
 */
import { cutWindow, type WindowSizes } from "../../src/models/windows.ts";
import { openBareModel } from "./bare-model.ts";
import { readLocomo, RecallSum } from "./locomo.ts";

const TURNS = 15;
const SIZES: WindowSizes[] = [
  { pieces: 62, overlap: 16, rest: 80 },
  { pieces: 94, overlap: 24, rest: 120 },
  { pieces: 126, overlap: 0, rest: 160 },
  { pieces: 126, overlap: 32, rest: 160 },
  { pieces: 190, overlap: 48, rest: 240 },
  { pieces: 254, overlap: 64, rest: 320 },
  { pieces: 510, overlap: 0, rest: 510 },
];

const [source] = process.argv.slice(2);
if (source === undefined) throw new Error("usage: windows.eval.ts LOCOMO_JSON");
const conversations = readLocomo(source);
const model = await openBareModel();

const asked = new Map<string, Float32Array>();
for (const { q } of conversations.flatMap(({ questions }) => questions))
  asked.set(q, (await model.read(q)).vector);

for (const sizes of SIZES) {
  const sum = new RecallSum();
  const startedAt = performance.now();
  let count = 0;
  for (const { turns, questions } of conversations) {
    const textOf = new Map(turns.map((turn, i) => [turn.id, String(Math.floor(i / TURNS))]));
    const texts = Array.from({ length: Math.ceil(turns.length / TURNS) }, (_, i) =>
      turns
        .slice(i * TURNS, (i + 1) * TURNS)
        .map((turn) => turn.text)
        .join("\n"),
    );
    const windows: { id: string; vector: Float32Array }[] = [];
    for (const [id, text] of texts.entries()) {
      for (let start = 0; start < text.length;) {
        const rest = text.slice(start);
        const window = cutWindow(rest, model.reader.units(rest), true, sizes);
        const pieces = window.units.flatMap((unit) => unit.pieces).slice(0, 510);
        windows.push({ id: String(id), vector: await model.embed(pieces) });
        start += window.next;
      }
    }
    count += windows.length;
    for (const { q, evidence } of questions) {
      const question = asked.get(q) ?? new Float32Array();
      const best = new Map<string, number>();
      for (const { id, vector } of windows) best.set(id, Math.max(best.get(id) ?? -1, dot(question, vector)));
      const ranked = Array.from(best)
        .sort((a, b) => b[1] - a[1])
        .map(([id]) => id);
      // Recall at 3 says more than at 10 where there are forty texts: repeat no more than the first three.
      sum.add(
        ranked.slice(0, 3),
        evidence.map((id) => textOf.get(id) ?? id),
      );
    }
  }
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
  process.stdout.write(
    `${JSON.stringify(sizes).padEnd(42)} of the first 3: ${sum.toString()}  ${count} windows, ${seconds} s\n`,
  );
}
await model.release();

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}
