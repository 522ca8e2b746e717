import { addMemory } from "../../src/core/memories/add-memories.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deleteMemory } from "../../src/core/operations.ts";
import { gatherCandidates } from "../../src/core/recall/gather-candidates.ts";
import type { MemoryPorts } from "../../src/core/memories/memory-ports.ts";
import type { MemoryFilter, Selection } from "../../src/core/ports.ts";
import { currentFirst, LOOKED_AT } from "../../src/core/recall/currency.ts";
import { tenseOf } from "../../src/core/recall/tense.ts";
import { anotherBehind, namingAnother } from "../../src/core/recall/identifiers.ts";
import { queryMemory } from "../../src/core/recall/query-memory.ts";
import { termWeights } from "../../src/core/recall/bm25.ts";
import { readQuestion } from "../../src/core/recall/question.ts";
import { rank } from "../../src/core/recall/ranking.ts";
import { nodeDisk } from "../../src/storage/files/disk.ts";
import { type OpenedStore, openStore } from "../../src/storage/open-store.ts";
import { fillStore, SUBJECTS } from "../support/fill-store.ts";
import { createMemoryWorld } from "../support/memory-world.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { times } from "../support/stress.ts";

/** A filter must not cost recall: the answer is that of ranking every memory that passes it. */
const MEMORIES = 20_000;
const QUESTIONS = times(25);
const HITS = 10;
/** Share of the best score from which a match is worth reading, see `plausibleCount`. */
const WORTH_READING = 0.35;

const world = createMemoryWorld();
const directory = mkdtempSync(join(tmpdir(), "memoryd-recall-"));
const random = seededRandom(7);
let opened: OpenedStore;
let ports: MemoryPorts;
beforeAll(async () => {
  await fillStore({ directory, count: MEMORIES, stamp: world.embedder.stamp, embedder: world.embedder });
  opened = await openStore({
    disk: nodeDisk,
    directory,
    clock: world.ports.clock,
    stamp: () => world.embedder.stamp,
    log: { info() {}, warn() {}, error: console.error },
  });
  world.now = Date.now();
  ports = { ...world.ports, store: opened.store };
}, 300_000);
afterAll(async () => {
  await opened?.store.close();
  rmSync(directory, { recursive: true, force: true });
});

/** What somebody asks who remembers a quarter of a memory that passes the filter. */
async function question(filter: MemoryFilter): Promise<string> {
  const { store } = ports;
  const list = store.catalogue.select(filter).list();
  const id = store.catalogue.idAt(list[Math.floor(random() * list.length)] ?? -1) ?? "";
  const [memory] = (await store.readMemories([id])).values();
  const words = memory?.content.match(/w\d+/g) ?? [];
  const subject = SUBJECTS.find((each) => memory?.content.startsWith(each)) ?? "";
  return `what about ${subject} ${words.filter((_, i) => i % 4 === 0).join(" ")}`;
}

/**
 * The best of all that pass the filter, each scored as a candidate, and those first that hold.
 *
 * @param least share of the best score.
 */
async function exactly(query: string, filter: MemoryFilter, least: number): Promise<string[]> {
  const { store } = ports;
  const embedding = await ports.embedder.embedQuestion(query);
  const { userId } = filter;
  const ofUser = userId === undefined ? undefined : store.catalogue.select({ userId });
  const weights = termWeights(store.termStatistics(ofUser), ports.frequencies);
  const read = readQuestion({
    text: query,
    topic: query,
    period: undefined,
    words: embedding.words,
    weights,
    profile: ports.embedder.profile,
  });
  // A selection that says it is small is taken whole.
  const selected = store.catalogue.select(filter);
  const all: Selection = {
    size: 0,
    has: (ordinal) => selected.has(ordinal),
    list: () => selected.list(),
  };
  const { candidates, edges } = await gatherCandidates(store, read, embedding, {
    whole: ofUser,
    selection: all,
  });
  const ids = new Map(
    candidates.filter(({ isSelected }) => isSelected).map(({ ordinal, id }) => [ordinal, id]),
  );
  const ranked = rank(read, candidates, { now: world.now, edges }).filter(({ ordinal }) => ids.has(ordinal));
  const idsOf = (hits: typeof ranked) => hits.flatMap(({ ordinal }) => ids.get(ordinal) ?? []);
  // What was superseded falls behind others of nearly its score, of which made-up questions find many.
  const memories = await store.readMemories(idsOf(ranked.slice(0, LOOKED_AT)));
  const options = {
    question: query,
    tense: tenseOf(query),
    asOf: undefined,
    period: undefined,
    lackOf: () => 0,
    isCommon: weights.isCommon,
  };
  const looked = ranked.slice(0, LOOKED_AT).map((hit) => ({
    hit,
    content: memories.get(ids.get(hit.ordinal) ?? "")?.content ?? "",
  }));
  const found = anotherBehind(ranked, namingAnother(query, looked));
  const { hits } = currentFirst(store, found, memories, options);
  const [best] = hits;
  return idsOf(hits.filter(({ score }) => score >= least * (best?.score ?? 0))).slice(0, HITS);
}

async function recall(
  filter: MemoryFilter,
  least = 0,
  beforeEach: () => Promise<unknown> = async () => {},
): Promise<number> {
  let found = 0;
  let wanted = 0;
  for (let i = 0; i < QUESTIONS; i += 1) {
    await beforeEach();
    const query = await question(filter);
    const expected = await exactly(query, filter, least);
    const { hits } = await queryMemory(ports, { query, limit: HITS, filter, minScore: 0 });
    const ids = new Set(hits.map(({ memory }) => memory.id));
    wanted += expected.length;
    found += expected.filter((id) => ids.has(id)).length;
  }
  return wanted === 0 ? 0 : found / wanted;
}

describe(`filters among ${MEMORIES} memories`, () => {
  const hour = 3_600_000;
  const newest = () => opened.store.catalogue.page({}, { limit: 1, offset: 0 }).ids[0] ?? "";
  const occurredAt = () => opened.store.catalogue.find(newest())?.occurredAt ?? 0;

  it.each<[string, () => MemoryFilter]>([
    ["one user in a hundred", () => ({ userId: "user7" })],
    ["a rare tag", () => ({ tags: ["rare"] })],
    ["four hours of two weeks", () => ({ from: occurredAt() - 4 * hour, to: occurredAt() })],
    ["one value of metadata", () => ({ metadata: { place: 77 } })],
    ["a session", () => ({ userId: "user8", sessionId: "session0" })],
  ])("keep every one of the best: %s", async (_name, filter) => {
    expect(await recall(filter())).toBe(1);
  });

  it.each<[string, () => MemoryFilter]>([
    ["twenty-five hours", () => ({ from: occurredAt() - 25 * hour, to: occurredAt() })],
    ["two thousand", () => ({ tags: ["common"], to: occurredAt() - 300 * hour })],
  ])("keep all that is worth reading of more than are looked at whole: %s", async (_name, filter) => {
    // A memory can be among the best ten by the sum of its terms and in neither arm's best sixty: one word of several has that.
    expect(await recall(filter(), WORTH_READING)).toBeGreaterThan(0.98);
  });

  it("keep every one of the best while rows come and go", async () => {
    let added = 0;
    const change = async () => {
      const { memory } = await addMemory(ports, {
        content: `my sister moved w${added} w1 w2`,
        userId: "user7",
      });
      added += 1;
      if (added % 2 === 0) await deleteMemory(ports, { id: memory.id });
    };
    expect(await recall({ userId: "user7" }, 0, change)).toBe(1);
  });

  it("keep every one of the best while a checkpoint runs", async () => {
    let flushing: Promise<void> | undefined;
    const change = async () => {
      await addMemory(ports, {
        content: `the garden w${Math.floor(random() * 900)} note ${random()}`,
        userId: "user7",
      });
      flushing ??= opened.checkpointer.flush().finally(() => (flushing = undefined));
    };
    expect(await recall({ userId: "user7" }, 0, change)).toBe(1);
    await flushing;
  });
});
