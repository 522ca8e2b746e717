/**
 * The context at the start of a conversation, on scripted projects: share of what is needed that it tells, beside the ten newest
 * notes. Embeddings are kept in the temporary folder.
 *
 *   npx vitest run --project eval context
 */
import { describe, it, onTestFinished } from "vitest";
import { BUNDLED_MODELS } from "../../src/models/bundled-models.ts";
import { openEmbedder } from "../../src/models/onnx-embedder.ts";
import { cachedEmbedder } from "./cached-embedder.ts";
import { JUDGED } from "./context-judged.ts";
import { openProject, readScript, type Told, toldByContext, toldByNewest } from "./context-set.ts";
import { TUNED } from "./context-tuned.ts";

const SETS = { tuned: TUNED, judged: JUDGED };

describe.each(BUNDLED_MODELS)("$name", (model) => {
  it.each(Object.entries(SETS))("%s", async (name, scripts) => {
    const embedder = await openEmbedder(model, { workers: 1 });
    onTestFinished(() => embedder.close());
    const cached = cachedEmbedder(embedder, `context-${name}`);
    const told: Record<string, Told[]> = {};
    for (const [place, text] of scripts.entries()) {
      const script = readScript(text, place);
      const world = await openProject(script, cached, model);
      for (const tokens of [300, 600, 1_200]) {
        (told[`context ${tokens}`] ??= []).push(await toldByContext(world, script, tokens));
        (told[`newest ${tokens}`] ??= []).push(await toldByNewest(world, script, tokens));
      }
    }
    cached.save();
    console.table(Object.fromEntries(Object.entries(told).map(([way, each]) => [way, figures(each)])));
  });
});

function figures(each: readonly Told[]) {
  const sum = (of: (told: Told) => number) => each.reduce((total, one) => total + of(one), 0);
  const share = (part: number, whole: number) => Math.round((1_000 * part) / whole) / 1_000;
  return {
    needed: share(
      sum(({ toldNeeded }) => toldNeeded),
      sum(({ needed }) => needed),
    ),
    "of no use": share(
      sum(({ useless }) => useless),
      sum(({ told }) => told),
    ),
    superseded: sum(({ superseded }) => superseded),
    items: share(
      sum(({ told }) => told),
      each.length,
    ),
    tokens: Math.round(sum(({ tokens }) => tokens) / each.length),
  };
}
