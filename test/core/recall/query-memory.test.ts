import { describe, beforeEach, expect, it } from "vitest";
import { recordFact } from "../../../src/core/facts/record-fact.ts";
import { addMemory } from "../../../src/core/memories/add-memories.ts";
import type { MemoryFilter } from "../../../src/core/ports.ts";
import { queryMemory, denialsFirst } from "../../../src/core/recall/query-memory.ts";
import { createMemoryWorld, type MemoryWorld } from "../../support/memory-world.ts";

describe("query memory", () => {
  let world: MemoryWorld;
  beforeEach(() => {
    world = createMemoryWorld();
  });

  const add = async (content: string, more = {}) =>
    (await addMemory(world.ports, { content, ...more })).memory;
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

    it.each([["tokens"], ["tokens", "vectors"]] as const)(
      "finds by its words what has lost its %s",
      async (...tables) => {
        const tea = await add("green tea grows in Japan");
        for (let i = 0; i < 5; i += 1) await add(`green paint number ${i} dries in an hour`);
        const before = await query("where does green tea grow?");
        await world.ports.store.commit(() => ({
          changes: tables.map((table) => ({ table, id: tea.id, row: null })),
          result: undefined,
        }));
        const [first] = await query("where does green tea grow?");
        expect(first?.memory.id).toBe(tea.id);
        expect(first?.score).toBeGreaterThan(0.6 * (before[0]?.score ?? 1));
      },
    );

    it("finds as many as are asked for where that is more than are usually looked at", async () => {
      for (let i = 0; i < 400; i += 1) await add(`green tea number ${i} grows in Japan`);
      const found = await query("green tea in Japan", {}, { limit: 200, minScore: 0 });
      expect(found.length).toBeGreaterThanOrEqual(100);
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

    it("finds what is planned for a month that the question names without a year, beside what happened in the last", async () => {
      world.now = Date.UTC(2026, 10, 23);
      const planned = await add("dentist appointment for Leni on 14 December");
      await add("skis for Leni", { occurredAt: Date.UTC(2025, 11, 5) });
      const { hits, relevant } = await queryMemory(world.ports, {
        query: "when is the dentist appointment for Leni in December?",
        limit: 10,
        filter: {},
      });
      expect([hits[0]?.memory.id, relevant]).toEqual([planned.id, 1]);
      const ofAYear = await query("when was the dentist appointment for Leni in December 2025?");
      expect(ofAYear[0]?.score ?? 0).toBeLessThan(hits[0]?.score ?? 0);
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
});

describe("denial", () => {
  const ordered = (question: string, contents: readonly string[]) =>
    denialsFirst(
      question,
      contents.map((_, ordinal) => ({ ordinal, score: 0.6 - ordinal / 20, shares: {}, path: [ordinal] })),
      (ordinal) => contents[ordinal],
    );

  it.each([
    [
      "Which library did we decide against?",
      ["We took Redux to the workshop.", "No Redux: it is too much code."],
    ],
    ["Was isst Jule nicht?", ["Jule isst gern Pilze.", "Jule isst keine Nüsse."]],
    ["¿Qué no bebe Pavel?", ["Pavel bebe té.", "Pavel nunca bebe café."]],
  ])("%s is answered by what denies", (question, contents) => {
    const [first] = ordered(question, contents);
    expect(first?.ordinal).toBe(1);
    expect(first?.shares.denial).toBeCloseTo((first?.score ?? 0) - 0.55);
  });

  it("leaves other questions alone, and what answers much worse", () => {
    const contents = ["Jule likes mushrooms.", "Jule eats no nuts."];
    expect(ordered("What does Jule eat?", contents).map(({ ordinal }) => ordinal)).toEqual([0, 1]);
    const far = [...Array.from({ length: 8 }, () => "Jule likes mushrooms."), "No bread today."];
    expect(ordered("What does Jule not eat?", far)[0]?.ordinal).toBe(0);
  });
});

it("finds the note that a prompt asks for beside what was pasted, and reads the time in the question alone", async () => {
  const world = createMemoryWorld();
  for (let i = 0; i < 20; i += 1)
    await addMemory(world.ports, { content: `note ${i} on bread, weather and rivers` });
  await addMemory(world.ports, { content: "the touring bike has tyres of 42 mm" });
  const log = Array.from(
    { length: 6 },
    (_, i) => `2026-11-2${i}T10:00:00Z WARN scheduler: job ${i} took ${i} ms, retrying`,
  ).join("\n");
  const question = "How wide are the tyres of my touring bike?";
  for (const query of [`${question}\n${log}`, `${log}\n\n${question}`, `${log}\n\n${question}\n\n${log}`]) {
    const { hits, plausible } = await queryMemory(world.ports, { query, limit: 3, filter: {} });
    expect(hits[0]?.memory.content).toContain("42 mm");
    expect(plausible).toBeGreaterThan(0);
  }
});

it("finds the note with the rare words and numbers of a paste where the question only points to it", async () => {
  const world = createMemoryWorld();
  for (let i = 0; i < 20; i += 1)
    await addMemory(world.ports, { content: `note ${i} on bread, weather and rivers` });
  await addMemory(world.ports, { content: "Dash shows SPN 3364: quality of the additive. Drain and refill" });
  await addMemory(world.ports, { content: "SPN 3346 is the heater of the additive" });
  const query =
    "10:00:01 lamp AMBER\n10:00:02 SPN 3364 FMI 1\n10:00:09 still active\nwhat did we do about this last time?";
  const { hits } = await queryMemory(world.ports, { query, limit: 3, filter: {} });
  expect(hits[0]?.memory.content).toContain("3364");
});

it("finds the note that a question asks for beside a mail that quotes another one", async () => {
  const world = createMemoryWorld();
  for (let i = 0; i < 20; i += 1)
    await addMemory(world.ports, { content: `note ${i} on bread, weather and rivers` });
  await addMemory(world.ports, { content: "the touring bike has tyres of 42 mm" });
  await addMemory(world.ports, {
    content: "Gearbox oil 75W-90, two litres, in the cellar beside the ladder",
  });
  const quoted = "> Gearbox oil 75W-90, two litres, in the cellar beside the ladder";
  const mail = `From: Ida\nSubject: Re: yesterday\n\nas you told me\n${quoted}\nThanks\n---`;
  const query = `${mail}\nwhich tyres do I need?`;
  const { hits } = await queryMemory(world.ports, { query, limit: 3, filter: {} });
  expect(hits[0]?.memory.content).toContain("42 mm");
  const { hits: beside } = await queryMemory(world.ports, { query: `${mail}\nok?`, limit: 3, filter: {} });
  expect(beside[0]?.memory.content).toContain("Gearbox");
});

it("takes the time of asking beside a paste for none of the answer", async () => {
  const world = createMemoryWorld();
  const now = Date.UTC(2026, 10, 26, 12);
  world.now = now;
  for (let i = 0; i < 20; i += 1)
    await addMemory(world.ports, { content: `note ${i} on bread, weather and rivers` });
  await addMemory(world.ports, {
    content: "the mortgage may be repaid by ten per cent",
    occurredAt: now - 700 * 86_400_000,
  });
  const query =
    "Part 1   214.300,00\nPart 2    38.000,00\nRepaid     5.000,00\nhow much of the mortgage may be repaid this year?";
  const { hits } = await queryMemory(world.ports, { query, limit: 3, filter: {} });
  expect(hits[0]?.memory.content).toContain("mortgage");
  expect(hits[0]?.score).toBeGreaterThan(0.3);
});

it("finds what is to come by the dates that notes name, soonest first, and drops a time that nothing names", async () => {
  const world = createMemoryWorld();
  const now = Date.UTC(2026, 10, 26, 12);
  world.now = now;
  const add = async (content: string, daysAgo: number) =>
    (await addMemory(world.ports, { content, occurredAt: now - daysAgo * 86_400_000 })).memory.id;
  await add("the fire inspection passed", 350);
  const late = await add("flight home on 19 December at 9", 3);
  const soon = await add("inspección el 10 de diciembre de 2026", 20);
  await add("the boiler was serviced", 5);
  const ask = async (query: string) =>
    (await queryMemory(world.ports, { query, limit: 5, filter: {} })).hits.map(({ memory }) => memory.id);
  expect(await ask("what have I got on in December?")).toEqual([soon, late]);
  expect((await ask("what is planned in February for the boiler?")).length).toBeGreaterThan(0);
});

it("takes a month without a year for the coming one where that is nearer and a note names it", async () => {
  const world = createMemoryWorld();
  const now = Date.UTC(2026, 10, 26, 12);
  world.now = now;
  const add = async (content: string, daysAgo: number) =>
    (await addMemory(world.ports, { content, occurredAt: now - daysAgo * 86_400_000 })).memory.id;
  await add("the shop and the kitchen closed early", 20);
  const closed = await add("shop closed from 3 to 18 January 2027", 30);
  const query = "is the kitchen shop closed in January";
  const asked = await queryMemory(world.ports, { query, limit: 5, filter: {} });
  expect(asked.hits[0]?.memory.id).toBe(closed);
  const past = await add("the kitchen shop was closed for stocktaking", 310);
  const both = await queryMemory(world.ports, { query, limit: 5, filter: {} });
  expect(both.hits.slice(0, 2).map(({ memory }) => memory.id)).toEqual(
    expect.arrayContaining([closed, past]),
  );
});

it("lists for a coming day what names it, and not what names its month, or a day that was just over", async () => {
  const world = createMemoryWorld();
  // A Saturday.
  const now = Date.UTC(2026, 10, 28, 12);
  world.now = now;
  const add = async (content: string, daysAgo: number) =>
    (await addMemory(world.ports, { content, occurredAt: now - daysAgo * 86_400_000 })).memory.content;
  const found = async (query: string) =>
    (await queryMemory(world.ports, { query, limit: 5, filter: {} })).hits.map(
      ({ memory }) => memory.content,
    );
  await add("Fuel: October 612.50, November 580.", 26);
  await add("New flat, moved in on January 3rd.", 327);
  const flight = await add("Flight to Lisbon on 3 December 2026, TP 531.", 170);
  const heron = await add("Heron goes live on 14 January 2027.", 50);
  expect(await found("what's on next Thursday?")).toEqual([flight]);
  expect(await found("was steht nächste Woche an?")).toEqual([flight]);
  expect(await found("que dois-je faire en décembre ?")).toEqual([flight]);
  expect(await found("what's planned for January 2027?")).toEqual([heron]);
  expect(await found("what's on tomorrow?")).not.toContain("Fuel: October 612.50, November 580.");
});

it("takes a day of the week for the last one where the question asks what happened, whatever it asks", async () => {
  const world = createMemoryWorld();
  // A Thursday.
  const now = Date.UTC(2026, 10, 26, 12);
  world.now = now;
  const add = async (content: string, daysAgo: number) =>
    (await addMemory(world.ports, { content, occurredAt: now - daysAgo * 86_400_000 })).memory.id;
  const ask = async (query: string) =>
    (await queryMemory(world.ports, { query, limit: 5, filter: {} })).hits[0]?.memory.id;
  const soup = await add("lunch in the canteen: lentil soup", 2);
  await add("lunch in the canteen: pancakes, did eat two", 9);
  const course = await add("the course in the canteen is on Tuesday", 40);
  expect(await ask("what did I eat for lunch in the canteen on Tuesday?")).toBe(soup);
  expect(await ask("which course did we book in the canteen on Tuesday?")).toBe(course);
});

it("answers facts as of the time that a question names", async () => {
  const world = createMemoryWorld();
  world.now = Date.UTC(2026, 10, 26, 12);
  for (const [object, validFrom] of [
    ["Alder", Date.UTC(2023, 0, 1)],
    ["Birch", Date.UTC(2025, 5, 1)],
  ] as const)
    await recordFact(world.ports, { subject: "Ilse", predicate: "works at", object, validFrom });
  const ask = async (query: string) =>
    (await queryMemory(world.ports, { query, limit: 5, filter: {}, includeFacts: true })).facts?.map(
      ({ object }) => object,
    );
  expect(await ask("where did Ilse work in 2024?")).toEqual(["Alder"]);
  expect(await ask("where does Ilse work?")).toEqual(["Birch"]);
});

it("embeds a text with vowel signs as it is typed without, and finds tags whose accents are written apart", async () => {
  const world = createMemoryWorld();
  const asked: string[] = [];
  const { embedder } = world.ports;
  const ports = {
    ...world.ports,
    embedder: {
      ...embedder,
      embedDocument: (text: string) => (asked.push(text), embedder.embedDocument(text)),
      embedQuestion: (text: string) => embedder.embedQuestion(text),
    },
  };
  await addMemory(ports, { content: "كِتَابٌ جَدِيدٌ", tags: ["caf\u0065\u0301"] });
  expect(asked).toEqual(["كتاب جديد"]);
  const { hits } = await queryMemory(ports, {
    query: "كتاب جديد",
    limit: 3,
    filter: { tags: ["caf\u00e9"] },
  });
  expect(hits[0]?.memory.content).toBe("كِتَابٌ جَدِيدٌ");
});
