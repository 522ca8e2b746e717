import { addMemory } from "../../../src/core/memories/add-memories.ts";
import { beforeEach, describe, expect, it } from "vitest";
import type { MemoryFilter } from "../../../src/core/ports.ts";
import { queryMemory } from "../../../src/core/recall/query-memory.ts";
import { createMemoryWorld, type MemoryWorld } from "../../support/memory-world.ts";

let world: MemoryWorld;
beforeEach(() => {
  world = createMemoryWorld();
});

const add = async (content: string, more = {}) => (await addMemory(world.ports, { content, ...more })).memory;
const query = async (text: string, filter: MemoryFilter = {}, more = {}) =>
  (await queryMemory(world.ports, { query: text, limit: 10, filter, ...more })).hits;

describe("queryMemory", () => {
  it("puts the memory that answers first, near 1 for the same text", async () => {
    const tea = await add("green tea grows in Japan");
    await add("the printer is out of paper");
    const [first, second] = await query("green tea grows in Japan");
    expect(first?.memory).toEqual(tea);
    expect(first?.score).toBeGreaterThan(0.9);
    expect(first?.path).toEqual([tea.id]);
    expect(second?.score ?? 0).toBeLessThan(0.25);
  });

  it("scores a memory the same under any filter that lets it through, and shows nothing else", async () => {
    const session = { sessionId: "s", userId: "ann" };
    await add("Ann: where shall we meet for the tea tasting?", { ...session, tags: ["plan"] });
    const answer = await add("Bob: at the harbour, at noon", { ...session, tags: ["place"] });
    await add("Ann: the harbour tasting it is then", { ...session, tags: ["plan"] });
    const of = async (filter: MemoryFilter) => {
      const hits = await query("where is the tea tasting?", filter);
      return {
        shown: hits.map(({ memory }) => memory.id),
        hit: hits.find(({ memory }) => memory.id === answer.id),
      };
    };
    const all = await of({});
    const tagged = await of({ tags: ["place"] });
    expect(tagged.shown).toEqual([answer.id]);
    expect(tagged.hit?.score).toBeCloseTo(all.hit?.score ?? 0, 10);
    expect(tagged.hit?.path).toEqual([answer.id]);
  });

  it("cuts at the score that is asked for, and at the limit", async () => {
    for (let i = 0; i < 20; i += 1) await add(`green tea note ${i}`);
    const scores = (await query("green tea")).map(({ score }) => score);
    expect(scores).toHaveLength(10);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect(await query("green tea", {}, { minScore: 1 })).toEqual([]);
    expect(await query("green tea", {}, { limit: 3 })).toHaveLength(3);
  });

  it("explains a score by parts that add up to it", async () => {
    await add("green tea grows in Japan");
    const [hit] = await query("where does green tea grow?", {}, { explain: true });
    const parts = Object.values(hit?.explain ?? {});
    expect(parts.reduce((sum, part) => sum + part, 0)).toBeCloseTo(hit?.score ?? 0, 10);
  });

  it("shows each user his own, and everybody's to who names none", async () => {
    const ann = await add("green tea", { userId: "ann" });
    const bob = await add("green tea", { userId: "bob" });
    const nobody = await add("green tea");
    const ids = async (filter: MemoryFilter) =>
      (await query("green tea", filter)).map(({ memory }) => memory.id);
    expect(await ids({ userId: "ann" })).toEqual([ann.id]);
    expect(await ids({ userId: "carl" })).toEqual([]);
    expect((await ids({})).toSorted()).toEqual([ann.id, bob.id, nobody.id].toSorted());
  });

  it("reads tags and projects as words of a memory", async () => {
    const insured = await add("Kia: Direct Line, renews in March", { tags: ["car insurance"] });
    const planned = await add("Order new tyres before the frost", { project: "garage" });
    await add("the insurance of words against silence");
    const tokens = async (text: string) => {
      const [first] = await query(text, {}, { explain: true });
      return { id: first?.memory.id, share: first?.explain?.["tokens"] ?? 0 };
    };
    expect(await tokens("our car insurance")).toMatchObject({ id: insured.id });
    expect((await tokens("our car insurance")).share).toBeGreaterThan(0);
    expect(await tokens("all of the garage")).toMatchObject({ id: planned.id });
  });

  it("answers where a speaker has the name of what every object has", async () => {
    const said = await add("constructor: green tea for all", { sessionId: "s" });
    expect((await query("green tea"))[0]?.memory.id).toBe(said.id);
  });

  it("puts a quoted phrase before the same words apart", async () => {
    await add("the tea was green and the pot was grey");
    const phrase = await add("a pot of green tea");
    const [first] = await query('who mentioned "green tea"?');
    expect(first?.memory.id).toBe(phrase.id);
  });

  it("gives the best part of a long text", async () => {
    await add(
      `${"It rained all day. ".repeat(40)}The spare key hangs in the cellar. ${"It rained again. ".repeat(40)}`,
    );
    const [hit] = await query("where is the spare key?", {}, { snippetChars: 80 });
    expect(hit?.snippet).toContain("spare key");
    expect(hit?.snippet?.length).toBeLessThanOrEqual(80);
  });
});
