import { addMemory } from "../../../src/core/memories/add-memories.ts";
import { beforeEach, describe, expect, it } from "vitest";
import { queryMemory } from "../../../src/core/recall/query-memory.ts";
import { createDocumentWorld } from "../../support/document-world.ts";
import { createMemoryWorld, type MemoryWorld } from "../../support/memory-world.ts";

const DAY = 86_400_000;
let world: MemoryWorld;
beforeEach(() => {
  world = createMemoryWorld();
  world.now = Date.UTC(2026, 10, 21, 15);
});

const add = async (content: string, occurredAt: number, more = {}) =>
  (await addMemory(world.ports, { content, occurredAt, ...more })).memory.content;
const found = async (query: string, more = {}) =>
  (await queryMemory(world.ports, { query, limit: 3, filter: {}, ...more })).hits.map(
    ({ memory }) => memory.content,
  );

describe("a question for a time", () => {
  it("is answered by what happened then, newest first, and by nothing else", async () => {
    await add("planted garlic", world.now - 30 * DAY);
    const days = [4, 3, 2, 1].map((ago) => [`note ${ago}`, world.now - ago * DAY] as const);
    for (const [content, at] of days) await add(content, at);
    expect(await found("what happened in the last 3 days?")).toEqual(["note 1", "note 2", "note 3"]);
    expect(await found("was war in den letzten 3 Tagen los?")).toEqual(["note 1", "note 2", "note 3"]);
    const { hits } = await queryMemory(world.ports, {
      query: "what did I do yesterday?",
      limit: 9,
      filter: {},
      explain: true,
    });
    expect(hits.map(({ memory }) => memory.content)).toEqual(["note 1"]);
    expect(hits[0]?.score).toBeGreaterThan(0.8);
    expect(hits[0]?.explain?.["time"]).toBe(hits[0]?.score);
  });

  it("is answered also where the time has no beginning: by what happened before it, or is due until then", async () => {
    await add("planted garlic", Date.UTC(2026, 4, 3));
    await add("picked the last apples", Date.UTC(2026, 9, 20));
    await add("Tax return is due on 10 December 2026.", Date.UTC(2026, 8, 1));
    await add("Passport photos until 20 January 2027.", Date.UTC(2026, 8, 2));
    expect(await found("what did I do before June?")).toEqual(["planted garlic"]);
    expect(await found("was war bis Mai?")).toEqual(["planted garlic"]);
    for (const query of ["what is due before Christmas?", "what do I have to do before 20 December?"])
      expect(await found(query)).toEqual(["Tax return is due on 10 December 2026."]);
    for (const query of ["before yesterday", "earlier than May", "vor Montag", "avant lundi", "до мая"])
      await found(query);
  });

  it("is not answered by what was only added then and tells of an earlier day, and by what is dated ahead", async () => {
    const plain = async (content: string) => (await addMemory(world.ports, { content })).memory.content;
    const fixed = await add("fixed the login bug", world.now - DAY);
    await add("the dentist has time", world.now + 5 * DAY);
    await add("the boiler was repaired", world.now - 900 * DAY);
    await plain("On 3 March 2024 the pump was replaced.");
    const booked = await plain("Booked the flights for 4 December 2026.");
    const lent = await plain("Lent the drill to Marek.");
    world.now += 1;
    const { hits, relevant } = await queryMemory(world.ports, {
      query: "what happened in the last 48 hours?",
      limit: 9,
      filter: {},
    });
    const found = hits.map(({ memory }) => memory.content);
    expect(found.slice(0, relevant)).toEqual([lent, booked, fixed]);
    expect(found.slice(relevant)).toEqual(["On 3 March 2024 the pump was replaced."]);
  });

  it("is answered by what names the time and was given none of its own", async () => {
    const plain = async (content: string) => (await addMemory(world.ports, { content })).memory.content;
    const wedding = await plain("Our wedding was on 12 May 2021 in Graz.");
    await add("The letter is of 14 May 2021.", world.now - 3 * DAY);
    await plain("It may rain.");
    expect(await found("what happened in May 2021?")).toEqual([wedding]);
    const boiler = await add("the boiler was repaired", Date.UTC(2021, 4, 9));
    expect((await found("what happened in May 2021?")).toSorted()).toEqual([wedding, boiler].toSorted());
  });

  it("is answered by the first text of a document that was ingested then, and by no other of it", async () => {
    const documents = createDocumentWorld();
    const { ports } = documents;
    const manual = "The valve must be closed before the pump is started. ".repeat(500);
    const { result } = await documents.ingest(manual);
    expect(result?.memoryIds.length).toBeGreaterThan(5);
    const { memory } = await addMemory(ports, { content: "Cleaned the filter." });
    const { hits } = await queryMemory(ports, { query: "what did I do today?", limit: 9, filter: {} });
    expect(hits.map(({ memory: { id } }) => id)).toEqual([memory.id, result?.memoryIds[0]]);
  });

  it("prefers what happened then to the same at another time, and to what only names the time", async () => {
    const soup = await add("cooked lentil soup", Date.UTC(2026, 4, 9));
    await add("cooked lentil soup again", Date.UTC(2026, 8, 9));
    await add("lentil soup cooked for the party of May 2026", Date.UTC(2026, 1, 9));
    expect((await found("when did I cook lentil soup in May 2026?"))[0]).toBe(soup);
  });

  it("also finds what happened then in other words, last", async () => {
    const garlic = await add("planted garlic", world.now - 2 * DAY);
    const bulbs = await add("tulips are in the ground", world.now - 3 * DAY);
    await add("tulips flowered", world.now - 200 * DAY);
    expect(await found("garlic in the last ten days")).toEqual([garlic, bulbs]);
  });

  it("means a time of which notes tell where none was written then", async () => {
    const ship = await add("grandpa worked on a whaling ship in 1956", Date.UTC(2026, 4, 9));
    expect(await found("what did grandpa do in 1956?")).toContain(ship);
  });

  it("means days as clocks of the zone show them", async () => {
    const late = await add("late call", Date.UTC(2026, 10, 20, 2));
    expect(await found("what happened yesterday?", { timeZone: "Europe/Berlin" })).toEqual([late]);
    expect(await found("what happened two days ago?", { timeZone: "America/New_York" })).toEqual([late]);
  });

  it("keeps to the filter", async () => {
    await add("of Ann", world.now - DAY, { userId: "ann" });
    const bob = await add("of Bob", world.now - DAY, { userId: "bob" });
    expect(await found("what happened yesterday?", { filter: { userId: "bob" } })).toEqual([bob]);
  });
});

describe("the score of a user's memory", () => {
  it("does not tell which words another user wrote", async () => {
    for (const text of ["alice keeps fish tanks", "alice walks the dog", "the garden of alice"])
      await add(text, world.now, { userId: "a" });
    const ask = async (word: string) => {
      const input = { query: `tanks ${word}`, limit: 1, filter: { userId: "a" }, explain: true };
      const [hit] = (await queryMemory(world.ports, input)).hits;
      return [hit?.score, hit?.explain];
    };
    const before = [await ask("quetzalmine"), await ask("zorkblatt")];
    await add("bob: the quetzalmine merger is secret", world.now, { userId: "b" });
    expect([await ask("quetzalmine"), await ask("zorkblatt")]).toEqual(before);
  });

  it("does not depend on what else filters", async () => {
    await add("green tea", world.now, { userId: "a", tags: ["x"] });
    await add("black coffee", world.now, { userId: "a" });
    const score = async (filter: object) =>
      (await queryMemory(world.ports, { query: "tea", limit: 1, filter: { userId: "a", ...filter } })).hits[0]
        ?.score;
    expect(await score({ tags: ["x"] })).toBe(await score({}));
  });
});

describe("a misspelt word", () => {
  it("finds what the user's own notes have in its place, by words alone", async () => {
    const dentist = await add("dentist moved to Thursday", world.now, { userId: "a" });
    await add("the printer is out of paper", world.now, { userId: "a" });
    const explained = async (query: string) =>
      (await queryMemory(world.ports, { query, limit: 1, filter: { userId: "a" }, explain: true })).hits[0];
    expect((await explained("dentits"))?.memory.content).toBe(dentist);
    expect((await explained("dentits"))?.explain?.["words"]).toBeGreaterThan(0);
  });

  it("finds the name of a project as a word of its memories", async () => {
    const note = await add("moved off port 8080", world.now, { project: "tidemark" });
    await add("moved off port 9090", world.now, { project: "kiosk" });
    expect((await found("port of tidemark"))[0]).toBe(note);
  });
});

describe("what a question teaches", () => {
  it("is nothing where nothing answers", async () => {
    await add("the printer is out of paper", world.now);
    const { hits } = await queryMemory(world.ports, {
      query: "boiling point of ethanol",
      limit: 9,
      filter: {},
    });
    expect(hits.every(({ score }) => score >= 0.005)).toBe(true);
    const before = world.memory.records.length;
    for (let i = 0; i < 50; i += 1)
      await queryMemory(world.ports, { query: "boiling point of ethanol", limit: 9, filter: {} });
    await world.followUps.flush();
    expect(
      world.memory.records
        .slice(before)
        .flat()
        .filter(({ table }) => table === "signals"),
    ).toEqual([]);
  });
});
