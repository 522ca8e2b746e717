import { addMemory } from "../../../src/core/memories/add-memories.ts";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { recordFact } from "../../../src/core/facts/record-fact.ts";
import { deleteMemory } from "../../../src/core/operations.ts";
import { updateMemory } from "../../../src/core/memories/update-memory.ts";
import { deleteUserMemories } from "../../../src/core/users/delete-user-memories.ts";
import { userSummary } from "../../../src/core/users/user-summary.ts";
import { createDocumentWorld } from "../../support/document-world.ts";
import { createMemoryWorld, type MemoryWorld } from "../../support/memory-world.ts";
import { times } from "../../support/stress.ts";

let world: MemoryWorld;
beforeEach(() => {
  world = createMemoryWorld();
});

const summaryOf = (userId: string) => userSummary(world.ports, { userId });
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
    const summary = await summaryOf("u");
    expect(summary.highlights.map(({ text }) => text)).toEqual(expect.arrayContaining([NOTES[0], NOTES[4]]));
    expect(summary).toMatchObject({
      memories: 7,
      sectors: { semantic: 7, emotional: 0 },
      topTags: [{ tag: "garden", count: 3 }],
      firstMemoryAt: world.now,
      lastMemoryAt: world.now,
      updatedAt: world.now,
    });
    expect(summary.keyPhrases).toEqual(expect.arrayContaining(["allotment", "boiler"]));
    expect(summary.text).toBe(summary.highlights.map(({ text }) => text).join("\n"));
  });

  it("passes over replies and questions while there is better, and takes them where there is not", async () => {
    for (const [i, note] of NOTES.entries()) await add(note, i < 5 ? "talks" : "replies");
    for (let i = 0; i < 8; i += 1)
      await add(
        `Note ${i} on ${["oak", "elm", "ash", "fir", "yew", "fig", "box", "bay"][i]} trees of the park.`,
        "talks",
      );
    await add("Yes, that works for me!", "talks");
    const texts = (await summaryOf("talks")).highlights.map(({ text }) => text);
    expect(texts).not.toContain("Yes, that works for me!");
    expect((await summaryOf("replies")).highlights).not.toEqual([]);
  });

  it("says who speaks", async () => {
    await add("Caroline: Hey! I live in Leeds with my sister.", "u", { sessionId: "s" });
    const { highlights } = await summaryOf("u");
    expect(highlights[0]?.text).toBe("Caroline: I live in Leeds with my sister.");
  });

  it("shows the facts that are valid now, as of now", async () => {
    await rememberFact("Leeds");
    expect((await summaryOf("u")).text).toBe("Now: Ann lives in Leeds.");
    world.now += 1_000;
    await rememberFact("York");
    const summary = await summaryOf("u");
    expect(summary.facts.map(({ object }) => object)).toEqual(["York"]);
    expect(summary).toMatchObject({ factCount: 2, firstMemoryAt: null });
  });

  it("is not found for somebody with nothing stored, nor after all of it was deleted", async () => {
    await expect(summaryOf("u")).rejects.toMatchObject({ code: "NOT_FOUND" });
    await add("A note of some length on the garden wall.");
    await summaryOf("u");
    await deleteUserMemories(world.ports, { userId: "u", keepsDocuments: false, includesFacts: true });
    await expect(summaryOf("u")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("tells what holds and what lasts: wishes, decisions and facts before what happened, nothing replaced", async () => {
    const old = await add("I prefer coffee in the morning.");
    const wish = await add("I prefer tea in the morning, no coffee any more.", "u", { supersedes: [old.id] });
    const decision = await add("Wir haben beschlossen, das Dach im Frühjahr neu zu decken.");
    for (let i = 0; i < 40; i += 1) await add(`Walked to lake ${i} and back with dog number ${i * 7}.`);
    const ids = (await summaryOf("u")).highlights.map(({ memoryId }) => memoryId);
    expect(ids).toEqual(expect.arrayContaining([wish.id, decision.id]));
    expect(ids).not.toContain(old.id);
    expect(ids.length).toBeLessThan(30);
  });

  it("says of documents how they begin, where notes leave room", async () => {
    const world = createDocumentWorld();
    const result = (
      await world.ingest(`# Garlic\n${"Garlic is planted in autumn. ".repeat(300)}`, { userId: "u" })
    ).result;
    const { highlights } = await userSummary(world.ports, { userId: "u" });
    expect(highlights).toEqual([
      { memoryId: result?.document.rootMemoryId, text: expect.stringMatching(/^Garlic\b/) },
    ]);
  });

  it("has nothing of a memory that was deleted or changed", async () => {
    const secret = await add("The code of the old safe behind the painting is 4711-Zebra.");
    const changed = await add("The key to the cellar hangs behind the blue Xylophone.");
    for (const note of NOTES) await add(note);
    expect((await summaryOf("u")).text).toContain("Zebra");
    await deleteMemory(world.ports, { id: secret.id });
    expect(JSON.stringify(await summaryOf("u"))).not.toMatch(/zebra/i);
    await updateMemory(world.ports, { id: changed.id, content: "The key to the cellar is gone." });
    expect(JSON.stringify(await summaryOf("u"))).not.toMatch(/xylophone/i);
  });

  it("has nothing of what went while it was made", async () => {
    const secret = await add("The code of the old safe behind the painting is 4711-Zebra.");
    for (let i = 0; i < 30; i += 1) await add(`Note number ${i} on the garden wall.`);
    const nextTurn = async () =>
      void (await deleteMemory(world.ports, { id: secret.id }).catch(() => undefined));
    const answer = await userSummary({ ...world.ports, nextTurn }, { userId: "u" });
    expect(JSON.stringify(answer)).not.toMatch(/zebra/i);
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
        const [first, second] = [await summaryOf("u"), await summaryOf("u")];
        expect(second).toEqual(first);
        for (const { memoryId, text: told } of first.highlights) {
          // Of two like notes the older one stands behind the newer.
          const [, text = told, before] = /^(.*) \((?:before|earlier): (.*)\)$/u.exec(told) ?? [];
          if (before !== undefined) expect(own.map(plain).join("\n")).toContain(before.replace(/…$/u, ""));
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
