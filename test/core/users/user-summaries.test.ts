import { addMemory } from "../../../src/core/memories/add-memories.ts";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { recordFact } from "../../../src/core/facts/record-fact.ts";
import { deleteMemory } from "../../../src/core/operations.ts";
import { updateMemory } from "../../../src/core/memories/update-memory.ts";
import { deleteUserMemories } from "../../../src/core/users/delete-user-memories.ts";
import { UserSummaries } from "../../../src/core/users/user-summaries.ts";
import { createMemoryWorld, type MemoryWorld } from "../../support/memory-world.ts";
import { times } from "../../support/stress.ts";

let world: MemoryWorld;
let summaries: UserSummaries;
beforeEach(() => {
  world = createMemoryWorld();
  summaries = new UserSummaries({ ...world.ports, nextTurn });
});

const nextTurn = () => new Promise<void>((turn) => setImmediate(turn));
const add = async (content: string, userId = "u", more: object = {}) =>
  (await addMemory(world.ports, { content, userId, ...more })).memory;
const rememberFact = (object: string, userId = "u") =>
  recordFact(world.ports, { subject: "Ann", predicate: "lives in", object, userId });

const NOTES = [
  "Planted 24 cloves of garlic in bed three of the allotment.",
  "The allotment committee meets on the first Monday of each month.",
  "Ordered two bags of compost for the allotment from Greenway.",
  "The boiler was serviced by Harris Heating for 90 euros.",
  "Boiler pressure should stay between 1.2 and 1.5 bar.",
  "Yes, that works for me!",
  "What do you think of it?",
];

describe("a summary", () => {
  it("is made of whole sentences, figures and phrases", async () => {
    for (const note of NOTES) await add(note, "u", { tags: note.includes("allotment") ? ["garden"] : [] });
    const summary = await summaries.get("u");
    expect(summary.highlights.map(({ text }) => text)).toEqual(expect.arrayContaining([NOTES[0], NOTES[3]]));
    expect(summary).toMatchObject({
      memories: 7,
      sectors: { semantic: 7, emotional: 0 },
      topTags: [{ tag: "garden", count: 3 }],
      firstMemoryAt: world.now,
      lastMemoryAt: world.now,
      updatedAt: world.now,
      isStale: false,
    });
    expect(summary.keyPhrases).toEqual(expect.arrayContaining(["allotment", "boiler"]));
    expect(summary.text).toBe(summary.highlights.map(({ text }) => text).join(" "));
  });

  it("passes over replies and questions while there is better, and takes them where there is not", async () => {
    for (const [i, note] of NOTES.entries()) await add(note, i < 5 ? "talks" : "replies");
    for (let i = 0; i < 8; i += 1)
      await add(
        `Note ${i} on ${["oak", "elm", "ash", "fir", "yew", "fig", "box", "bay"][i]} trees of the park.`,
        "talks",
      );
    await add("Yes, that works for me!", "talks");
    const texts = (await summaries.get("talks")).highlights.map(({ text }) => text);
    expect(texts).not.toContain("Yes, that works for me!");
    expect((await summaries.get("replies")).highlights).not.toEqual([]);
  });

  it("says who speaks", async () => {
    await add("Caroline: Hey! I went to the adoption agency in Leeds with my sister.");
    const { highlights } = await summaries.get("u");
    expect(highlights[0]?.text).toBe("Caroline: I went to the adoption agency in Leeds with my sister.");
  });

  it("shows the facts that are valid now, as of now", async () => {
    await rememberFact("Leeds");
    expect((await summaries.get("u")).text).toBe("Now: Ann lives in Leeds.");
    world.now += 1_000;
    await rememberFact("York");
    const summary = await summaries.get("u");
    expect(summary.facts.map(({ object }) => object)).toEqual(["York"]);
    expect(summary).toMatchObject({ isStale: true, factCount: 2, firstMemoryAt: null });
  });

  it("is not found for somebody with nothing stored, nor after all of it was deleted", async () => {
    await expect(summaries.get("u")).rejects.toMatchObject({ code: "NOT_FOUND" });
    await add("A note of some length on the garden wall.");
    await summaries.get("u");
    await deleteUserMemories(world.ports, { userId: "u", keepsDocuments: false, includesFacts: true });
    await expect(summaries.get("u")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("is stale once something came, until it is made again", async () => {
    await add(NOTES[0] ?? "");
    const { updatedAt } = await summaries.get("u");
    world.now += 5_000;
    await add(NOTES[3] ?? "");
    expect(await summaries.get("u")).toMatchObject({ isStale: true, updatedAt, memories: 2 });
    expect(await summaries.regenerate("u")).toMatchObject({ isStale: false, updatedAt: world.now });
  });

  it("has nothing of a memory that was deleted or changed", async () => {
    const secret = await add("The code of the old safe behind the painting is 4711-Zebra.");
    const changed = await add("The key to the cellar hangs behind the blue Xylophone.");
    for (const note of NOTES) await add(note);
    expect((await summaries.get("u")).text).toContain("Zebra");
    await deleteMemory(world.ports, { id: secret.id });
    expect(JSON.stringify(await summaries.get("u"))).not.toMatch(/zebra/i);
    await updateMemory(world.ports, { id: changed.id, content: "The key to the cellar is gone." });
    expect(JSON.stringify(await summaries.get("u"))).not.toMatch(/xylophone/i);
  });

  it("is made anew where what it rests on went while it was made", async () => {
    const secret = await add("The code of the old safe behind the painting is 4711-Zebra.");
    await add(NOTES[0] ?? "");
    const answer = summaries.get("u");
    await deleteMemory(world.ports, { id: secret.id });
    expect(JSON.stringify(await answer)).not.toMatch(/zebra/i);
  });

  it("has only sentences of that user's memories, whatever those are, and the same each time", async () => {
    const word = fc.constantFrom(
      "garlic",
      "boiler",
      "Leeds",
      "it",
      "yes",
      "I",
      "paints",
      "the",
      "Ann:",
      "4711",
      "-",
      "日本。",
    );
    const text = fc
      .array(
        fc.tuple(fc.array(word, { minLength: 1, maxLength: 9 }), fc.constantFrom(".", "!", "?", "\n", "")),
        { minLength: 1, maxLength: 4 },
      )
      .map((parts) => parts.map(([words, end]) => words.join(" ") + end).join(" "));
    const memories = fc.array(fc.tuple(text, fc.constantFrom("u", "v")), { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(memories, async (given) => {
        world = createMemoryWorld();
        const own: string[] = [];
        for (const [content, userId] of given) {
          await add(content, userId);
          if (userId === "u") own.push(content);
        }
        if (own.length === 0) return;
        const plain = (content: string) => content.replaceAll(/\s+/g, " ");
        const [first, second] = [
          await new UserSummaries({ ...world.ports, nextTurn }).get("u"),
          await new UserSummaries({ ...world.ports, nextTurn }).get("u"),
        ];
        expect(second).toEqual(first);
        for (const { memoryId, text } of first.highlights) {
          const memory = (await world.ports.store.readMemories([memoryId])).get(memoryId);
          expect(memory?.userId).toBe("u");
          const content = plain(memory?.content ?? "");
          const [, speaker, said = text] = /^(.{1,41}?): (.*)$/u.exec(text) ?? [];
          expect(content.includes(text) || content.trimStart().startsWith(`${speaker}:`)).toBe(true);
          expect(content).toContain(said);
        }
        for (const phrase of first.keyPhrases) {
          expect(own.some((content) => plain(content).toLowerCase().includes(phrase.toLowerCase()))).toBe(
            true,
          );
        }
      }),
      { numRuns: times(20) },
    );
  });
});

describe("a kept summary", () => {
  it("is made again once many memories came", async () => {
    await add("The first note of all about the garden.");
    await summaries.get("u");
    const ofThen = world.now;
    world.now += 1_000;
    for (let i = 0; i < 19; i += 1) await add(`Note number ${i} on the garden wall and its stones.`);
    expect(await summaries.get("u")).toMatchObject({ updatedAt: ofThen, isStale: true });
    await add("One more note, on the roses.");
    expect(await summaries.get("u")).toMatchObject({ updatedAt: world.now, isStale: false });
  });
});
