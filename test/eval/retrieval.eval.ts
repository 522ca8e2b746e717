/**
 * How well the ranking finds what questions rest on: beside BM25 and dense alone, without each of its terms, on short
 * chat, on the same chat as long memories, and on single notes; and what its scores say of questions that nothing answers.
 *
 *   npm run eval -- retrieval
 */
import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WEIGHTS } from "../../src/core/recall/ranking-terms.ts";
import { type ModelEmbedder, openEmbedder } from "../../src/models/onnx-embedder.ts";
import { modelUnderTest } from "./bare-model.ts";
import { calibration, percentile } from "./calibration.ts";
import { type DataSet, joinTurns, readLocomo } from "./data-sets.ts";
import { embedAll } from "./embedding-cache.ts";
import { type InProcessSearch, inProcessSearch } from "./in-process-search.ts";
import { evaluate, type EvalQuestion, type Metrics, overall, table } from "./metrics.ts";
import { NOTES_SET } from "./notes.ts";

const LOCOMO = process.env["MEMORYD_LOCOMO"] ?? "../shared/data/locomo-dev.json";

const sets: DataSet[] = [NOTES_SET];
if (existsSync(LOCOMO)) {
  const chat = readLocomo(LOCOMO);
  sets.push(chat, joinTurns(chat, 3), joinTurns(chat, 8));
}

describe.each(sets)("$name", (set) => {
  let embedder: ModelEmbedder;
  let service: InProcessSearch;

  beforeAll(async () => {
    embedder = await openEmbedder(modelUnderTest());
    const questions = [...set.questions, ...set.unanswerable].map(({ text }) => text);
    const contents = set.memories.map(({ content }) => content);
    service = inProcessSearch(set, await embedAll(embedder, contents, questions));
  }, 600_000);
  afterAll(() => embedder.close());

  const found = () =>
    evaluate(set.questions, async (question) => service.search(question).map(({ id }) => id));

  it("finds more than words or vectors alone", async () => {
    const [words, vectors, ranking] = [
      await evaluate(set.questions, service.byWords),
      await evaluate(set.questions, service.byVectors),
      await found(),
    ];
    print(set.name, [["BM25", overall(words)], ["dense", overall(vectors)], ...ranking]);
    expect(overall(ranking).recallAt10).toBeGreaterThanOrEqual(
      Math.max(overall(words).recallAt10, overall(vectors).recallAt10),
    );
    if (set.name === "locomo") expect(overall(ranking)).toSatisfy(reachesGoals);
  });

  it("prints what each term is worth", async () => {
    const rows: [string, Metrics][] = [["everything", overall(await found())]];
    for (const term of Object.keys(WEIGHTS) as (keyof typeof WEIGHTS)[]) {
      const weight = WEIGHTS[term];
      WEIGHTS[term] = 0;
      rows.push([`without ${term}`, overall(await found())]);
      WEIGHTS[term] = weight;
    }
    print(`${set.name}, ablations`, rows);
    expect(rows).toHaveLength(1 + Object.keys(WEIGHTS).length);
  });

  it("gives low scores where nothing answers", () => {
    const users = [...new Set(set.memories.map(({ userId }) => userId))];
    const another = ({ userId }: EvalQuestion) => users[(users.indexOf(userId) + 1) % users.length] ?? userId;
    const rows = [
      calibration(
        "answerable",
        set.questions.map((question) => service.search(question)),
      ),
      calibration(
        "unanswerable",
        set.unanswerable.map((question) => service.search(question)),
      ),
    ];
    if (users.length > 1) {
      const strangers = set.questions.map((question) =>
        service.search(question, { userId: another(question) }),
      );
      rows.push(calibration("asked of another user", strangers));
      const pairs = strangers.flatMap((hits) =>
        hits.filter((_, i) => i % 37 === 11).map(({ score }) => score),
      );
      expect(percentile(pairs, 0.9)).toBeLessThan(0.25);
    }
    console.log(`\n${set.name}\n${rows.map(({ line }) => line).join("\n")}`);
  });
});

const reachesGoals = ({ recallAt10, allAt10 }: Metrics) => recallAt10 >= 0.85 && allAt10 >= 0.79;

function print(name: string, rows: readonly (readonly [string, Metrics])[]) {
  console.log(`\n${name}\n${table(rows)}`);
}
