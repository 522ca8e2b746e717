/**
 * The context at the start of a session, on 60 notes of each of two projects: what must be told and under which title, and what must not.
 *
 *   npm run eval -- project-notes
 */
import { it, onTestFinished } from "vitest";
import { composeContext } from "../../src/core/context/compose-context.ts";
import { BUNDLED_MODELS } from "../../src/models/bundled-models.ts";
import { openEmbedder } from "../../src/models/onnx-embedder.ts";
import { openProject } from "./context-set.ts";
import { JUDGED_NOTES, TUNED_NOTES } from "./project-notes-set.ts";

const NOW = Date.UTC(2026, 10, 21, 9);
const DAY_MS = 86_400_000;
const PART_OF_KIND: Readonly<Record<string, string>> = { correction: "decision", summary: "done" };

it.each([
  ["tuned", TUNED_NOTES],
  ["judged", JUDGED_NOTES],
])("tells what must be told, as what it is: %s", async (name, all) => {
  const [model] = BUNDLED_MODELS;
  if (model === undefined) throw new TypeError("no model");
  const embedder = await openEmbedder(model, { workers: 1 });
  onTestFinished(() => embedder.close());
  const lines = all.map(({ text }, i) => ({
    mark: "=" as const,
    at: NOW - (all.length - i) * DAY_MS,
    project: "shop",
    kind: undefined,
    text,
  }));
  const script = { project: "shop", userId: "jana", query: undefined, lines };
  const { ports, markOf } = await openProject(script, embedder, model);
  const { items, tokens } = await composeContext(ports, {
    project: "shop",
    userId: "jana",
    maxTokens: 2_000,
  });
  const toldAs = new Map(items.map((item) => [markOf.get(item.id)?.text, item]));
  const count = { told: 0, right: 0, missed: 0, silent: 0, useless: 0, updates: 0, before: 0, outdated: 0 };
  for (const [i, { part, text, thing }] of all.entries()) {
    const item = toldAs.get(text);
    const kind = item && (PART_OF_KIND[item.kind] ?? item.kind);
    const isOutdated = thing !== undefined && all.slice(i + 1).some((later) => later.thing === thing);
    if (isOutdated) {
      count.outdated += item === undefined ? 0 : 1;
      if (item !== undefined) console.log("outdated, told as", kind, "|", text);
      continue;
    }
    if (part === "-") count[item === undefined ? "silent" : "useless"] += 1;
    else if (item === undefined) count.missed += 1;
    else {
      count.told += 1;
      if (part.split("/").includes(kind ?? "")) count.right += 1;
    }
    const isEnd = all.some((other) => other.thing === thing && other.part === "open");
    if (thing !== undefined && !isEnd) {
      count.updates += 1;
      if (/\((?:before|earlier): /.test(item?.text ?? "")) count.before += 1;
      else console.log("without what was before |", text);
    }
    if (part === "-" ? item !== undefined : !part.split("/").includes(kind ?? ""))
      console.log(part, "told as", kind, "|", text);
  }
  console.table({ [name]: { ...count, tokens } });
});
