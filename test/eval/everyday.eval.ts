/**
 * First answers on everyday notes, on notes of which later ones change earlier ones, and on conversations, by kind of
 * question and for each model that ships. Embeddings are kept in the temporary folder, so a second run takes seconds.
 *
 *   npx vitest run --project eval everyday
 *
 * `MEMORYD_EVERYDAY` names a folder with `notes.json` and `questions.json`, `MEMORYD_CONVERSATIONS` a file of conversations.
 */
import { describe, it, onTestFinished } from "vitest";
import { BUNDLED_MODELS } from "../../src/models/bundled-models.ts";
import { openEmbedder } from "../../src/models/onnx-embedder.ts";
import { cachedEmbedder } from "./cached-embedder.ts";
import { SETS } from "./note-sets.ts";
import { type Asked, figuresOf, openSet, relevanceOf, toldApart } from "./recall-run.ts";

describe.each(BUNDLED_MODELS)("$name", (model) => {
  it.each(SETS)("%s", async (_, read) => {
    if (read === undefined) return console.log("skipped: the data set is not there");
    const set = read();
    const embedder = await openEmbedder(model, { workers: 1 });
    onTestFinished(() => embedder.close());
    const cached = cachedEmbedder(embedder, set.name);
    const world = await openSet(set, cached);
    const asked: Asked[] = [];
    for (const question of set.questions) asked.push(await world.ask(question));
    cached.save();
    const answerable = asked.filter(({ question }) => question.expect.length > 0);
    const kinds = [...new Set(answerable.map(({ question }) => question.kind))].sort();
    console.table({
      ...Object.fromEntries(
        kinds.map((kind) => [kind, figuresOf(answerable.filter(({ question }) => question.kind === kind))]),
      ),
      all: figuresOf(answerable),
    });
    if (answerable.length < asked.length)
      console.log("told apart", toldApart(asked).toFixed(3), "relevance", relevanceOf(asked));
  });
});
