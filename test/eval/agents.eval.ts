/**
 * Everyday questions as an agent asks them (`memory_search`): how many tokens it reads for an answer, and how often the
 * right note is among them. Tokens are those of the tokenizer of the default model.
 *
 *   npx vitest run --project eval agents
 */
import { existsSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { bindOperations } from "../../src/core/operations.ts";
import { AddAllowance } from "../../src/mcp/add-allowance.ts";
import type { MemoryPorts } from "../../src/core/memories/memory-ports.ts";
import type { AgentContext } from "../../src/mcp/agent-context.ts";
import { add, search } from "../../src/mcp/memory-tools.ts";
import { MEMORYD_E5 } from "../../src/models/bundled-models.ts";
import { openEmbedder } from "../../src/models/onnx-embedder.ts";
import { openPieceReader } from "../../src/models/tokenizer/piece-reader.ts";
import { createDocumentWorld } from "../support/document-world.ts";
import { createPlaces } from "../../src/daemon/beside-store.ts";
import { createMemoryWorld } from "../support/memory-world.ts";
import { modelUnderTest } from "./bare-model.ts";
import { cachedEmbedder } from "./cached-embedder.ts";
import { readEverydaySet } from "./everyday-set.ts";
import { SETS } from "./note-sets.ts";
import { openSet } from "./recall-run.ts";

const agentOf = (
  userId: string | undefined,
  operations: ReturnType<typeof bindOperations>,
  { clock }: Pick<MemoryPorts, "clock">,
): AgentContext => ({
  operations,
  documents: createDocumentWorld().operations,
  project: null,
  userId,
  client: "agent",
  adder: "agent",
  allowance: new AddAllowance(10_000, clock),
  timeZone: "UTC",
  clock,
  places: createPlaces("a store"),
  newMark: () => "0123456789ab",
});

const EVERYDAY = process.env["MEMORYD_EVERYDAY"] ?? "../shared/data/daily-dev";

it.runIf(existsSync(EVERYDAY))("reads few tokens, with the right note among them", async () => {
  const set = readEverydaySet(EVERYDAY, "everyday");
  const embedder = await openEmbedder(modelUnderTest(), { workers: 1 });
  onTestFinished(() => embedder.close());
  const cached = cachedEmbedder(embedder, set.name);
  const { ports, nameOf } = await openSet(set, cached);
  const operations = bindOperations({ ...createMemoryWorld().ports, ...ports });
  const { reader } = await openPieceReader(MEMORYD_E5);
  const tokensOf = (text: string) =>
    Array.from(reader.units(text), ({ pieces }) => pieces.length).reduce((sum, count) => sum + count, 0);
  const asked = [];
  for (const question of set.questions) {
    const answer = await search(agentOf(question.userId, operations, ports), {
      query: question.text,
      scope: "all",
    });
    const names = Array.from(answer.matchAll(/^\[(m\d+) /gm), ([, id = ""]) => nameOf.get(id) ?? "");
    asked.push({
      question,
      tokens: tokensOf(answer),
      any: names.some((name) => question.expect.includes(name)),
      notes: names.length,
    });
  }
  for (const isAnswerable of [true, false]) {
    const some = asked.filter(({ question }) => question.expect.length > 0 === isAnswerable);
    const sorted = some.map(({ tokens }) => tokens).sort((a, b) => a - b);
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
    const share = some.filter(({ any }) => any).length / some.length;
    const notes = some.reduce((sum, each) => sum + each.notes, 0) / some.length;
    console.log(
      `${isAnswerable ? "answerable" : "not answerable"} (${some.length}): tokens median ${at(0.5)}, ` +
        `p95 ${at(0.95)}; notes ${notes.toFixed(1)}; right note shown ${share.toFixed(3)}`,
    );
    expect(some.length).toBeGreaterThan(0);
  }
  cached.save();
});

it("shows an agent what its note may replace", async () => {
  const embedder = await openEmbedder(modelUnderTest(), { workers: 1 });
  onTestFinished(() => embedder.close());
  for (const [name, readSet] of SETS) {
    const set = readSet?.();
    if (set === undefined) continue;
    const replaced = new Set(
      set.questions.flatMap(({ stale, expect: [now] }) => stale.map((old) => `${old} by ${now}`)),
    );
    if (replaced.size < 10) continue;
    const cached = cachedEmbedder(embedder, set.name);
    const { ports } = await openSet({ ...set, memories: [] }, cached);
    const operations = bindOperations({ ...createMemoryWorld().ports, ...ports });
    const nameOf = new Map<string, string>();
    const shown = new Set<string>();
    let notes = 0;
    for (const { name: own, userId, content, tags, occurredAt } of set.memories) {
      const reply = await add(agentOf(userId, operations, ports), {
        content,
        ...(tags !== undefined && { tags: [...tags] }),
        occurred_at: new Date(occurredAt ?? ports.clock.now()).toISOString(),
        allow_secret: true,
      });
      nameOf.set(/id=(\w+)/.exec(reply)?.[1] ?? "", own);
      for (const [, id = ""] of reply.matchAll(/^\[(m\d+) /gm)) {
        notes += 1;
        shown.add(`${nameOf.get(id)} by ${own}`);
      }
    }
    const found = [...replaced].filter((pair) => shown.has(pair)).length;
    console.log(
      `${name}: ${found} of ${replaced.size} outdated notes shown, ${(notes / set.memories.length).toFixed(1)} notes an add`,
    );
    cached.save();
  }
  expect(SETS).not.toEqual([]);
});
