import { addMemory } from "../../../src/core/memories/add-memories.ts";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { deleteMemory } from "../../../src/core/operations.ts";
import { FollowUps } from "../../../src/core/memories/follow-ups.ts";
import { updateMemory } from "../../../src/core/memories/update-memory.ts";
import { createMemoryWorld, type MemoryWorld } from "../../support/memory-world.ts";

let world: MemoryWorld;
let followUps: FollowUps;
let woken: number;
let busy: boolean;
/** Turns of others, and scans of all vectors where a test looks at these. */
let seen: string[];
beforeEach(() => {
  world = createMemoryWorld();
  woken = 0;
  busy = false;
  seen = [];
  followUps = new FollowUps(world.memory.store, {
    onPending: () => (woken += 1),
    isBusy: () => busy,
    minSimilarity: () => 0.55,
    nextTurn: async () => void seen.push("turn"),
  });
});

const HOUR_MS = 3_600_000;

/** Adds with an hour between, so that no `next` waypoints come in. */
async function add(content: string, userId?: string, metadata = {}): Promise<string> {
  world.now += HOUR_MS;
  const ports = { ...world.ports, followUps };
  return (await addMemory(ports, { content, metadata, ...(userId === undefined ? {} : { userId }) })).memory
    .id;
}

const edges = (id: string) =>
  world.memory.store.catalogue.edgesOf(id).map(({ source, target, kind }) => `${source} ${kind} ${target}`);

describe("FollowUps", () => {
  it("links a new memory to similar ones of the same user, in a record after the add's", async () => {
    const tea = await add("green tea grows in Japan");
    const others = await add("green tea grows in Japan today", "ann");
    const again = await add("green tea grows in Japan too");
    await add("the printer is out of paper");
    const before = world.memory.records.length;
    await followUps.flush();
    // Both were new: the first to be linked found the other.
    expect(edges(again)).toEqual([`${tea} similar ${again}`]);
    expect(edges(others)).toEqual([]);
    expect(world.memory.records.length).toBeGreaterThan(before);
  });

  it("links the latest memories that a crash left without links after the next start", async () => {
    const tea = await add("green tea grows in Japan");
    await followUps.flush();
    const again = await add("green tea grows in Japan too");
    const after = new FollowUps(world.memory.store, {
      onPending: () => (woken += 1),
      isBusy: () => false,
      minSimilarity: () => 0.55,
      nextTurn: async () => undefined,
    });
    woken = 0;
    after.resume();
    expect(woken).toBe(1);
    await after.flush();
    expect(edges(again)).toEqual([`${again} similar ${tea}`]);
    const records = world.memory.records.length;
    after.resume();
    await after.flush();
    expect(world.memory.records.length).toBe(records);
  });

  it("links what changes something to the one note it is nearest to, and to no other", async () => {
    const rent = await add("the rent of the studio in the old town is 640 a month");
    const studio = await add("the studio in the old town has a leaking window");
    const raised = await add("the rent of the studio in the old town is raised to 690 a month");
    await followUps.flush();
    const updates = (id: string) => edges(id).filter((edge) => edge.includes("updates"));
    expect(updates(raised)).toEqual([`${raised} updates ${rent}`]);
    expect(updates(studio)).toEqual([]);
  });

  it("holds two notes with one subject in common for no update, though each is the nearest of all to the other", async () => {
    const [horn, trailer] = [await add("a loud boat"), await add("boat trailer replaced")];
    await add("the printer is out of paper");
    await followUps.flush();
    const replaces = [horn, trailer].flatMap(edges).filter((edge) => edge.includes("updates"));
    expect(replaces).toEqual([]);
  });

  it("holds no summary of a conversation for an update of what it repeats", async () => {
    await add("the rent of the studio in the old town is 640 a month");
    const raised = "the rent of the studio in the old town is raised to 690 a month";
    const summary = await add(raised, undefined, { kind: "summary" });
    await followUps.flush();
    expect(edges(summary).filter((edge) => edge.includes("updates"))).toEqual([]);
  });

  it("looks no further than the note that it replaces, and gives others their turn before each look", async () => {
    const rent = await add("the rent of the studio in the old town is 640 a month");
    for (const more of ["and has a cellar", "without the heating", "with the heating", "by transfer"])
      await add(`the rent of the studio in the old town is paid each month ${more}`);
    await followUps.flush();
    const raised = await add("the rent of the studio in the old town is raised to 690 a month");
    const scoreVectors = world.memory.store.scoreVectors.bind(world.memory.store);
    vi.spyOn(world.memory.store, "scoreVectors").mockImplementation((...words) => {
      seen.push("scan");
      return scoreVectors(...words);
    });
    seen = [];
    await followUps.flush();
    expect(edges(raised)).toContain(`${raised} updates ${rent}`);
    // Its own, and that around the note.
    expect(seen).toEqual(["turn", "scan", "turn", "scan"]);
  });

  it("lets links wait while callers do, and says that there is work left", async () => {
    const tea = await add("green tea grows in Japan");
    await add("green tea grows in Japan too");
    busy = true;
    await followUps.flush();
    expect([edges(tea), woken]).toEqual([[], 2]);
    busy = false;
    await followUps.flush();
    expect([edges(tea).length, woken]).toEqual([1, 2]);
  });

  it("links no more than asked", async () => {
    for (let i = 0; i < 6; i += 1) await add(`the weekly meeting was about the budget ${i}`);
    const records = world.memory.records.length;
    await followUps.flush(2);
    expect(world.memory.records.length).toBe(records + 1);
  });

  it("bounds how many links a memory makes and takes", async () => {
    for (let i = 0; i < 30; i += 1) {
      await add(`the weekly meeting was about the budget ${i}`);
      await followUps.flush();
    }
    for (const { id } of world.memory.store.catalogue
      .page({}, { limit: 99, offset: 0 })
      .ids.map((id) => ({ id }))) {
      const own = edges(id);
      expect(own.filter((edge) => edge.startsWith(`${id} `)).length).toBeLessThanOrEqual(4);
      expect(own.filter((edge) => edge.endsWith(` ${id}`)).length).toBeLessThanOrEqual(8);
    }
  });

  it("makes no further links of a memory that has them, as a remake does that was interrupted", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 12; i += 1) {
      ids.push(await add(`the weekly meeting was about the budget ${i}`));
      await followUps.flush();
    }
    const { store } = world.memory;
    const last = ids.at(-1) ?? "";
    const [window = new Float32Array()] = store.windowsOf(store.catalogue.find(last)?.ordinal ?? 0);
    const before = edges(last);
    expect(before).toHaveLength(4);
    followUps.added(last, 1, window);
    await followUps.flush();
    expect(edges(last)).toEqual(before);
  });

  describe("after an import", () => {
    async function untilOver() {
      for (let i = 0; i < 12; i += 1) await followUps.flush();
    }

    it("links what came without waypoints, once no more comes", async () => {
      const tea = await add("green tea grows in Japan");
      await followUps.flush();
      world.now += HOUR_MS;
      const { memory } = await addMemory(world.ports, { content: "green tea grows in Japan too" });
      const again = memory.id;
      followUps.restored([again]);
      await followUps.flush();
      expect(edges(again)).toEqual([]);
      await untilOver();
      expect(edges(again)).toEqual([`${again} similar ${tea}`]);
    });

    it("makes no further links of what came with them, however often it is imported", async () => {
      const ids: string[] = [];
      for (let i = 0; i < 12; i += 1) {
        ids.push(await add(`the weekly meeting was about the budget ${i}`));
        await followUps.flush();
      }
      const before = ids.map(edges);
      followUps.restored(ids);
      await untilOver();
      expect(ids.map(edges)).toEqual(before);
    });

    it("links at a stop, as far as is asked", async () => {
      const tea = await add("green tea grows in Japan");
      await followUps.flush();
      followUps.restored([tea, "e8b6a3c2-94d0-4b8f-8a55-1d2c3b4a5f60"]);
      const again = await add("green tea grows in Japan too");
      await followUps.flush(2);
      expect(edges(tea)).toEqual([`${again} similar ${tea}`]);
    });
  });

  it("links anew what was given another text", async () => {
    const tea = await add("green tea grows in Japan");
    const printer = await add("the printer is out of paper");
    const moving = await add("green tea grows in Japan too");
    await followUps.flush();
    expect(edges(tea)).toHaveLength(1);
    const ports = { ...world.ports, followUps };
    await updateMemory(ports, { id: moving, content: "the printer is out of paper again" });
    expect(edges(tea)).toEqual([]);
    await followUps.flush();
    expect(edges(printer)).toEqual([`${moving} similar ${printer}`]);
  });

  it("makes no link to a text that is replaced while the links are looked for", async () => {
    const tea = await add("green tea grows in Japan");
    await followUps.flush();
    const again = await add("green tea grows in Japan too");
    const readMemories = world.memory.store.readMemories.bind(world.memory.store);
    vi.spyOn(world.memory.store, "readMemories").mockImplementationOnce(async (ids) => {
      await updateMemory(world.ports, { id: tea, content: "the printer is out of paper" });
      return await readMemories(ids);
    });
    await followUps.flush();
    expect(world.memory.store.catalogue.find(tea)?.version).toBe(2);
    expect(edges(again)).toEqual([]);
  });

  it("makes no links by a text that has been replaced", async () => {
    await add("green tea grows in Japan");
    const moving = await add("green tea grows in Japan too");
    await updateMemory(world.ports, { id: moving, content: "the printer is out of paper" });
    await followUps.flush();
    expect(edges(moving)).toEqual([]);
  });

  it("keeps the links to make when the store refuses, until there is work again", async () => {
    await add("green tea grows in Japan");
    const again = await add("green tea grows in Japan too");
    world.memory.hold();
    const refused = followUps.flush();
    refused.catch(() => undefined);
    await new Promise((done) => setImmediate(done));
    await world.memory.release("refused");
    await expect(refused).rejects.toMatchObject({ code: "STORE_FULL" });
    const before = woken;
    await add("the printer is out of paper");
    expect(woken).toBe(before + 1);
    await followUps.flush();
    expect(edges(again)).toHaveLength(1);
  });

  it("passes over what was deleted meanwhile", async () => {
    const gone = await add("green tea grows in Japan");
    await add("green tea grows in Japan too");
    await deleteMemory(world.ports, { id: gone });
    await followUps.flush();
    expect(world.memory.store.catalogue.find(gone)).toBeUndefined();
  });

  it("says once that there is work, until it is done", async () => {
    await add("a");
    await add("b");
    expect(woken).toBe(1);
    await followUps.flush();
    await add("c");
    expect(woken).toBe(2);
  });
});
