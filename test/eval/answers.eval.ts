/**
 * Every question of every set once, with the default model: how many are right first, among the first three, called an answer and
 * offered, how many find an outdated note first, and how many that nothing answers are refused. For comparing two versions:
 *
 *   MEMORYD_ANSWERS=/tmp/before.jsonl npx vitest run --project eval answers
 *   MEMORYD_ANSWERS=/tmp/after.jsonl MEMORYD_BEFORE=/tmp/before.jsonl npx vitest run --project eval answers
 *
 * writes what was found, and prints each question that is answered otherwise than before. `MEMORYD_SETS` names some of the sets
 * ("tenth notes;pairs").
 */
import { readFileSync, writeFileSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { MEMORYD_E5 } from "../../src/models/bundled-models.ts";
import { openEmbedder } from "../../src/models/onnx-embedder.ts";
import { cachedEmbedder } from "./cached-embedder.ts";
import { SETS } from "./note-sets.ts";
import { type Asked, openSet } from "./recall-run.ts";

interface Answer {
  readonly set: string;
  readonly user: string;
  readonly question: string;
  readonly expect: readonly string[];
  readonly stale: readonly string[];
  readonly found: readonly string[];
  /** The text of the first note. */
  readonly first: string;
  readonly relevant: number;
  readonly plausible: number;
}

const { MEMORYD_ANSWERS: written, MEMORYD_BEFORE: before, MEMORYD_SETS: wanted } = process.env;

it("answers", async () => {
  const embedder = await openEmbedder(MEMORYD_E5, { workers: 1 });
  onTestFinished(() => embedder.close());
  const answers: Answer[] = [];
  for (const [name, read] of SETS) {
    if (read === undefined || (wanted !== undefined && !wanted.split(";").includes(name))) continue;
    const set = read();
    const cached = cachedEmbedder(embedder, set.name);
    const world = await openSet(set, cached);
    for (const question of set.questions) answers.push(answerOf(name, await world.ask(question)));
    cached.save();
  }
  const names = [...new Set(answers.map(({ set }) => set))];
  console.table(
    Object.fromEntries(names.map((name) => [name, figuresOf(answers.filter(({ set }) => set === name))])),
  );
  if (before !== undefined) printChanges(readAnswers(before), answers);
  if (written !== undefined)
    writeFileSync(written, answers.map((answer) => `${JSON.stringify(answer)}\n`).join(""));
  expect(answers).not.toEqual([]);
});

const answerOf = (set: string, { question, found, hits, relevant, plausible }: Asked): Answer => ({
  set,
  user: question.userId,
  question: question.text,
  expect: question.expect,
  stale: question.stale,
  found,
  first: hits[0]?.memory.content ?? "",
  relevant,
  plausible,
});

const isAmong = ({ expect: wanted, found }: Answer, count: number) =>
  found.slice(0, count).some((name) => wanted.includes(name));

function figuresOf(answers: readonly Answer[]) {
  const [answerable, others] = [
    answers.filter(({ expect: wanted }) => wanted.length > 0),
    answers.filter(({ expect: wanted }) => wanted.length === 0),
  ];
  const count = (among: readonly Answer[], is: (answer: Answer) => boolean) => among.filter(is).length;
  return {
    n: answerable.length,
    right: count(answerable, (answer) => isAmong(answer, 1)),
    "among three": count(answerable, (answer) => isAmong(answer, 3)),
    answer: count(answerable, (answer) => isAmong(answer, answer.relevant)),
    offered: count(answerable, (answer) => isAmong(answer, answer.plausible)),
    outdated: count(answerable, ({ stale, found: [first = ""] }) => stale.includes(first)),
    "no answer": others.length,
    refused: count(others, ({ relevant }) => relevant === 0),
    silent: count(others, ({ plausible }) => plausible === 0),
  };
}

const readAnswers = (file: string) =>
  readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Answer);

/** What became of each question whose first note or whose level is another than before. */
function printChanges(old: readonly Answer[], now: readonly Answer[]): void {
  const keyOf = ({ set, user, question }: Answer) => JSON.stringify([set, user, question]);
  const known = new Map(old.map((answer) => [keyOf(answer), answer]));
  const verdictOf = (answer: Answer) => {
    const level = answer.relevant > 0 ? "answer" : "perhaps";
    if (answer.expect.length === 0) return answer.relevant > 0 ? "answered" : "refused";
    return `${isAmong(answer, 1) ? "right" : "wrong"}, ${level}`;
  };
  for (const answer of now) {
    const earlier = known.get(keyOf(answer));
    if (earlier === undefined || verdictOf(earlier) === verdictOf(answer)) continue;
    const { set, question, first } = answer;
    console.log(
      `${verdictOf(earlier)} → ${verdictOf(answer)} | ${set} | ${question}\n  ${earlier.first.slice(0, 120)}\n  ${first.slice(0, 120)}`,
    );
  }
}
