import { describe, expect, it } from "vitest";
import { bindOperations } from "../../../src/core/operations.ts";
import { createDocumentWorld } from "../../support/document-world.ts";

const PAGE = { limit: 100, offset: 0 };
const MINUTE_MS = 60_000;

function createWorld() {
  const world = createDocumentWorld();
  const all = bindOperations(world.ports);
  const add = async (content: string, createdBy: string, more: object = {}) =>
    (await all.addMemory({ content, createdBy, ...more })).memory.id;
  const texts = async () =>
    (await all.listMemories({ filter: {}, ...PAGE })).items.map(({ content }) => content).sort();
  const undo = async (input: Partial<Parameters<typeof all.undoChanges>[0]> = {}) =>
    (await all.undoChanges({ dryRun: false, undoneBy: "ann", ...input })).map(
      ({ kind, id, done, reason }) => [kind, id, done, ...(reason === undefined ? [] : [reason])],
    );
  return { world, all, add, texts, undo };
}

const sorted = (items: readonly (readonly unknown[])[]) => items.map((item) => item.join(" ")).sort();

describe("undo", () => {
  it("takes back what one client added, changed and deleted, and does so once", async () => {
    const { world, all, add, texts, undo } = createWorld();
    const changed = await add("as it was", "ann");
    const deleted = await add("was here", "ann");
    const both = await add("first", "ann");
    world.now += 30 * MINUTE_MS;
    const since = world.now;
    const added = await add("invented", "agent");
    const short = await add("added and deleted", "agent");
    await all.updateMemory({ id: changed, content: "spoilt", changedBy: "agent" });
    await all.updateMemory({ id: changed, content: "spoilt more", changedBy: "agent" });
    await all.deleteMemory({ id: deleted, trash: true, deletedBy: "agent" });
    await all.updateMemory({ id: both, content: "second", changedBy: "agent" });
    await all.deleteMemory({ id: both, trash: true, deletedBy: "agent" });
    await all.deleteMemory({ id: short, trash: true, deletedBy: "agent" });
    world.now += MINUTE_MS;

    const plan = await undo({ client: "agent", since, dryRun: true });
    expect(sorted(plan)).toEqual(
      sorted([
        ["added", added, true],
        ["updated", changed, true],
        ["deleted", deleted, true],
        ["deleted", both, true],
      ]),
    );
    expect(await texts()).toEqual(["invented", "spoilt more"]);
    expect(sorted(await undo({ client: "agent", since }))).toEqual(sorted(plan));
    expect(await texts()).toEqual(["as it was", "first", "was here"]);
    expect(await undo({ client: "agent", since })).toEqual([]);
    expect(await undo({ since })).toEqual([]);
    // And back again: what the undo did is a change like any other.
    await undo({ client: "ann", since });
    expect(await texts()).toEqual(["invented", "spoilt more"]);
  });

  it.each([0, 1, 2, 3, 4, 5, 6])(
    "is finished by asking again where it was cut short after %i writes",
    async (writes) => {
      const { world, all, add, texts, undo } = createWorld();
      const changed = await add("as it was", "ann");
      const deleted = await add("was here", "ann");
      const both = await add("first", "ann");
      world.now += MINUTE_MS;
      const since = world.now;
      await add("invented", "agent");
      await all.updateMemory({ id: changed, content: "spoilt", changedBy: "agent" });
      await all.deleteMemory({ id: deleted, trash: true, deletedBy: "agent" });
      await all.updateMemory({ id: both, content: "second", changedBy: "agent" });
      await all.deleteMemory({ id: both, trash: true, deletedBy: "agent" });
      world.now += MINUTE_MS;

      const { store } = world.ports;
      const commit = store.commit.bind(store);
      let left = writes;
      const cutting: typeof commit = (decide) =>
        (left -= 1) < 0 ? Promise.reject(new Error("gone")) : commit(decide);
      Object.assign(store, { commit: cutting });
      const outcome = await undo({ client: "agent", since }).catch((error: unknown) => error);
      Object.assign(store, { commit });
      expect(outcome instanceof Error).toBe(writes < 6);
      expect((await undo({ client: "agent", since })).filter(([, , done]) => done !== true)).toEqual([]);
      expect(await texts()).toEqual(["as it was", "first", "was here"]);
      expect(await undo({ client: "agent", since })).toEqual([]);
    },
  );

  it("takes nothing back since a time to come", async () => {
    const { world, undo } = createWorld();
    await expect(undo({ since: world.now + 1 })).rejects.toThrow(/since a time that has passed; got 20/);
  });

  it("removes only what a client added, where only that is asked for", async () => {
    const { world, all, add, texts, undo } = createWorld();
    const changed = await add("as it was", "ann");
    world.now += MINUTE_MS;
    const since = world.now;
    await add("invented", "agent");
    await all.updateMemory({ id: changed, content: "spoilt", changedBy: "agent" });
    const wanted = { client: "agent", since, kinds: ["added"] } as const;
    expect((await undo({ ...wanted, dryRun: true })).map(([kind]) => kind)).toEqual(["added"]);
    await undo(wanted);
    expect(await texts()).toEqual(["spoilt"]);
  });

  it("leaves what others changed since, and says so", async () => {
    const { world, all, add, texts, undo } = createWorld();
    const changed = await add("one", "ann");
    world.now += MINUTE_MS;
    const since = world.now;
    const added = await add("agent's", "agent");
    await all.updateMemory({ id: changed, content: "two", changedBy: "agent" });
    await all.updateMemory({ id: changed, content: "three", changedBy: "ben" });
    await all.updateMemory({ id: added, tags: ["mine"], changedBy: "ben" });
    const skipped = await undo({ client: "agent", since });
    expect(skipped).toContainEqual(["updated", changed, false, "ben changed it since."]);
    expect(skipped).toContainEqual(["added", added, false, "ben changed it since."]);
    expect(await texts()).toEqual(["agent's", "three"]);
    // Of everybody it is as it was at that time.
    await undo({ since });
    expect(await texts()).toEqual(["one"]);
  });

  it("goes two hours back, and not to other users", async () => {
    const { world, all, add, texts, undo } = createWorld();
    await add("old", "agent", { userId: "ann" });
    world.now += 121 * MINUTE_MS;
    await add("ann's", "agent", { userId: "ann" });
    const bens = await add("ben's", "agent", { userId: "ben" });
    await undo({ userId: "ann", client: "agent" });
    expect(await texts()).toEqual(["ben's", "old"]);
    await all.deleteMemory({ id: bens });
    expect(await undo({ client: "agent" })).toEqual([]);
    expect(await texts()).toEqual(["old"]);
  });

  it("takes back a change of what a memory replaces", async () => {
    const { world, all, add, undo } = createWorld();
    const older = await add("older", "ann");
    const newer = await add("newer", "ann");
    world.now += MINUTE_MS;
    const since = world.now;
    await all.updateMemory({ id: newer, supersedes: [older], changedBy: "agent" });
    expect((await all.getMemory({ id: older })).superseded).not.toBeNull();
    expect(await undo({ client: "agent", since })).toEqual([["updated", newer, true]]);
    expect((await all.getMemory({ id: older })).superseded).toBeNull();
  });

  it("takes a document as one", async () => {
    const { world, all, texts, undo } = createWorld();
    const text = Array.from({ length: 40 }, (_, i) => `Paragraph ${i} on bees and honey.`.repeat(12)).join(
      "\n\n",
    );
    const { result } = await world.ingest(text, { createdBy: "agent" });
    const root = result?.document.rootMemoryId ?? "";
    const all1 = await texts();
    expect(all1.length).toBeGreaterThan(2);
    expect(await undo({ client: "agent", since: 0 })).toEqual([["added", root, true]]);
    expect(await texts()).toEqual([]);
    expect(await undo({ client: "ann", since: 0 })).toEqual([["deleted", root, true]]);
    expect(await texts()).toEqual(all1);
    const chunk = result?.document.memoryIds.at(-1) ?? "";
    await all.updateMemory({ id: chunk, content: "corrected by hand", changedBy: "ben" });
    expect(await undo({ client: "agent", since: 0 })).toEqual([
      ["added", root, false, "ann changed it since."],
    ]);
  });
});
