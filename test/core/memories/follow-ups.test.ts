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

const RENT = "the rent of the studio in the old town is 640 a month";
const RAISED = "the rent of the studio in the old town is raised to 690 a month";

describe("FollowUps", () => {
  it("infers nothing before, and nothing for another user", async () => {
    const rent = await add(RENT);
    const theirs = await add(RAISED, "ann");
    const raised = await add(RAISED);
    const records = world.memory.records.length;
    expect(edges(raised)).toEqual([]);
    await followUps.flush();
    expect(edges(raised)).toEqual([`${raised} updates ${rent}`]);
    expect(edges(theirs)).toEqual([]);
    expect(world.memory.records.length).toBe(records + 1);
  });

  it("writes nothing for notes that are merely similar, and scans no vectors for them", async () => {
    await add("green tea grows in Japan");
    await add("green tea grows in Japan too");
    const scan = vi.spyOn(world.memory.store, "scoreVectors");
    const records = world.memory.records.length;
    await followUps.flush();
    expect(world.memory.records.length).toBe(records);
    expect(scan).not.toHaveBeenCalled();
  });

  it("finds the later note that replaces one which comes after it, or has its text since", async () => {
    const raised = await add(RAISED);
    await followUps.flush();
    const ports = { ...world.ports, followUps };
    const { memory } = await addMemory(ports, { content: RENT, occurredAt: 5 });
    await followUps.flush();
    expect(edges(raised)).toEqual([`${raised} updates ${memory.id}`]);
    await updateMemory(ports, { id: memory.id, content: "the printer is out of paper" });
    expect(edges(raised)).toEqual([]);
    await updateMemory(ports, { id: memory.id, content: RENT });
    await followUps.flush();
    expect(edges(raised)).toEqual([`${raised} updates ${memory.id}`]);
  });

  it("infers after the next start what a crash left, and writes nothing the second time", async () => {
    const rent = await add(RENT);
    const raised = await add(RAISED);
    const after = new FollowUps(world.memory.store, {
      onPending: () => (woken += 1),
      isBusy: () => false,
      nextTurn: async () => undefined,
    });
    woken = 0;
    after.resume();
    expect(woken).toBe(1);
    await after.flush();
    expect(edges(raised)).toEqual([`${raised} updates ${rent}`]);
    const records = world.memory.records.length;
    after.resume();
    await after.flush();
    expect(world.memory.records.length).toBe(records);
  });

  it("waits while callers do, and says that there is work left", async () => {
    await add(RENT);
    const raised = await add(RAISED);
    busy = true;
    await followUps.flush();
    expect([edges(raised), woken]).toEqual([[], 2]);
    busy = false;
    await followUps.flush();
    expect([edges(raised).length, woken]).toEqual([1, 2]);
  });

  it("looks at no more than asked", async () => {
    await add(RENT);
    const raised = await add(RAISED);
    await followUps.flush(1);
    expect(edges(raised)).toEqual([]);
    await followUps.flush(1);
    expect(edges(raised)).toHaveLength(1);
  });

  it("makes no link to a text that is replaced while it is looked for", async () => {
    const rent = await add(RENT);
    await followUps.flush();
    const raised = await add(RAISED);
    const readMemories = world.memory.store.readMemories.bind(world.memory.store);
    let reads = 0;
    vi.spyOn(world.memory.store, "readMemories").mockImplementation(async (ids) => {
      const found = await readMemories(ids);
      // The second is of the notes around it.
      if ((reads += 1) === 2) await updateMemory(world.ports, { id: rent, content: "out of paper" });
      return found;
    });
    await followUps.flush();
    expect(world.memory.store.catalogue.find(rent)?.version).toBe(2);
    expect(edges(raised)).toEqual([]);
  });

  it("infers nothing by a text that has been replaced", async () => {
    await add(RENT);
    const moving = await add(RAISED);
    await updateMemory(world.ports, { id: moving, content: "the printer is out of paper" });
    await followUps.flush();
    expect(edges(moving)).toEqual([]);
  });

  it("keeps what waits when the store refuses, until there is work again", async () => {
    await add(RENT);
    const raised = await add(RAISED);
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
    expect(edges(raised)).toHaveLength(1);
  });

  it("passes over what was deleted meanwhile", async () => {
    const gone = await add(RENT);
    const raised = await add(RAISED);
    await deleteMemory(world.ports, { id: gone });
    await followUps.flush();
    expect(edges(raised)).toEqual([]);
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

  it("says once that there is work, until it is done", async () => {
    await add("a");
    await add("b");
    expect(woken).toBe(1);
    await followUps.flush();
    await add("c");
    expect(woken).toBe(2);
  });
});
