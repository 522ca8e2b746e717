import { addMemories, addMemory } from "../../../src/core/memories/add-memories.ts";
import { beforeEach, describe, expect, it } from "vitest";
import { deleteMemory, getMemory } from "../../../src/core/operations.ts";
import { listSuperseded } from "../../../src/core/memories/list-superseded.ts";
import { updateMemory } from "../../../src/core/memories/update-memory.ts";
import type { AddMemoryInput } from "../../../src/core/memories/memory-ports.ts";
import { exportRecords, type TransferRecord } from "../../../src/core/transfer/export-records.ts";
import { restoreRecords } from "../../../src/core/transfer/restore-records.ts";
import { edgeId, type EdgeRow } from "../../../src/core/rows.ts";
import { createMemoryWorld, type MemoryWorld } from "../../support/memory-world.ts";

let world: MemoryWorld;
beforeEach(() => {
  world = createMemoryWorld();
});

const add = async (content: string, rest: Omit<AddMemoryInput, "content"> = {}) =>
  (await addMemory(world.ports, { content, userId: "ann", ...rest })).memory;
const read = (id: string) => getMemory(world.ports, { id });
const putEdge = (row: EdgeRow) =>
  world.ports.store.commit(() => ({
    changes: [{ table: "edges", id: edgeId(row), row }],
    result: undefined,
  }));

describe("supersedes", () => {
  it("is told by the newer memory and read of the older one, as of when the newer one happened", async () => {
    const paris = await add("lives in Paris", { occurredAt: 1_000 });
    const rome = await add("lives in Rome", { occurredAt: 2_000, supersedes: [paris.id] });
    expect(rome).toMatchObject({ supersedes: [paris.id], superseded: null });
    expect((await read(paris.id)).superseded).toEqual({ by: rome.id, at: 2_000, how: "told" });
    const { ordinal } = world.ports.store.catalogue.find(paris.id) ?? { ordinal: -1 };
    expect(world.ports.store.catalogue.supersession(ordinal, 1_999)).toBeUndefined();
  });

  it("leaves the older one current again when the newer one is deleted", async () => {
    const paris = await add("lives in Paris");
    const rome = await add("lives in Rome", { supersedes: [paris.id] });
    await deleteMemory(world.ports, { id: rome.id });
    expect((await read(paris.id)).superseded).toBeNull();
  });

  it("does not name what is gone", async () => {
    const paris = await add("lives in Paris");
    const rome = await add("lives in Rome", { supersedes: [paris.id] });
    await deleteMemory(world.ports, { id: paris.id });
    expect((await read(rome.id)).supersedes).toEqual([]);
  });

  it("goes by when things happened, whatever came first", async () => {
    const later = await add("lives in Rome", { occurredAt: 2_000 });
    const earlier = await add("lives in Paris", { occurredAt: 1_000 });
    await updateMemory(world.ports, { id: later.id, supersedes: [earlier.id] });
    expect((await read(earlier.id)).superseded).toMatchObject({ by: later.id, at: 2_000 });
  });

  it("takes Paris, Rome, Paris again for three memories, and a repeated add for one", async () => {
    const paris = await add("lives in Paris");
    const rome = await add("lives in Rome", { supersedes: [paris.id] });
    const again = await add("lives in Paris", { supersedes: [rome.id] });
    expect(new Set([paris.id, rome.id, again.id]).size).toBe(3);
    const repeated = await addMemory(world.ports, {
      content: "lives in Paris",
      userId: "ann",
      supersedes: [rome.id],
    });
    expect(repeated).toMatchObject({ deduplicated: true, memory: { id: again.id } });
  });

  it("repeats a superseded memory for one that happened at the same given time", async () => {
    const paris = await add("lives in Paris", { occurredAt: 1_000 });
    await add("lives in Rome", { supersedes: [paris.id] });
    expect((await add("lives in Paris", { occurredAt: 1_000 })).id).toBe(paris.id);
  });

  it("repeats a superseded memory of an import, which says nothing anew", async () => {
    const metadata = { source: "markdown", path: "home.md" };
    const paris = await add("lives in Paris", { metadata });
    await add("lives in Rome", { supersedes: [paris.id] });
    expect((await add("lives in Paris", { metadata })).id).toBe(paris.id);
  });

  it("repeats a superseded memory that comes among others, as a table imported again does", async () => {
    const items = [
      { content: "lives in Paris", userId: "ann" },
      { content: "likes tea", userId: "ann" },
    ];
    const { results } = await addMemories(world.ports, { items });
    const [paris] = results.map((one) => ("memory" in one ? one.memory.id : ""));
    await add("lives in Rome", { supersedes: [paris ?? ""] });
    const again = await addMemories(world.ports, { items });
    expect(again.results).toMatchObject([{ deduplicated: true }, { deduplicated: true }]);
    expect((await add("lives in Paris")).id).not.toBe(paris);
  });

  it("refuses unknown memories, those of others, and cycles, and stores nothing", async () => {
    const hers = await add("lives in Paris");
    const his = await add("lives in Oslo", { userId: "bob" });
    const before = world.memory.records.length;
    await expect(add("x", { supersedes: ["none"] })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(add("x", { supersedes: [his.id] })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(updateMemory(world.ports, { id: hers.id, supersedes: [his.id] })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    await expect(updateMemory(world.ports, { id: hers.id, supersedes: [hers.id] })).rejects.toMatchObject({
      code: "INVALID_REQUEST",
    });
    expect(world.memory.records).toHaveLength(before);

    const second = await add("lives in Rome", { supersedes: [hers.id] });
    const third = await add("lives in Bonn", { supersedes: [second.id] });
    await expect(updateMemory(world.ports, { id: hers.id, supersedes: [third.id] })).rejects.toMatchObject({
      code: "INVALID_REQUEST",
    });
  });

  it("is taken back by an empty list", async () => {
    const paris = await add("lives in Paris");
    const rome = await add("lives in Rome", { supersedes: [paris.id] });
    expect(await updateMemory(world.ports, { id: rome.id, supersedes: [] })).toMatchObject({ version: 2 });
    expect((await read(paris.id)).superseded).toBeNull();
  });

  it("comes through an export in any order", async () => {
    const paris = await add("lives in Paris");
    await add("lives in Rome", { supersedes: [paris.id] });
    const records: TransferRecord[] = [];
    for await (const record of exportRecords(world.ports, { waypoints: true })) records.push(record);
    world = createMemoryWorld();
    world.now += 60_000;
    const { results } = await restoreRecords(world.ports, { items: records.slice(0, 2).reverse() });
    expect(results).toMatchObject([{ outcome: "added" }, { outcome: "added" }]);
    expect((await read(paris.id)).superseded).toMatchObject({ how: "told" });
  });
});

describe("an inferred update", () => {
  it("is rejected for good by saying that the memory still holds", async () => {
    const [paris, rome] = [await add("lives in Paris"), await add("works in Rome")];
    const guess = { source: rome.id, target: paris.id, kind: "updates", createdAt: 0 } as const;
    await putEdge({ ...guess, weight: 0.7 });
    expect((await read(paris.id)).superseded).toMatchObject({ by: rome.id, how: "inferred" });

    const updated = await updateMemory(world.ports, { id: paris.id, stillHolds: true });
    expect(updated).toMatchObject({ superseded: null, version: 1 });
    expect((await read(paris.id)).superseded).toBeNull();
    expect(world.ports.store.catalogue.edgesOf(paris.id).map(({ weight }) => weight)).toContain(0);
    await updateMemory(world.ports, { id: rome.id, content: "works in Rome, near the river" });
    expect(
      world.ports.store.catalogue.edgesOf(paris.id).filter(({ kind }) => kind === "updates"),
    ).toMatchObject([{ weight: 0 }]);
  });

  it("takes no month for somebody whom the later note is about", async () => {
    for (const note of ["Oslo in March was cold", "March budget", "Taxes in March", "March: new tyres"])
      await add(note, { occurredAt: 1_000 });
    const before = await add("Ada takes the budesonide inhaler in the morning", { occurredAt: 2_000 });
    for (const note of ["Ada plays chess", "Ada swims", "Ada sings"]) await add(note, { occurredAt: 2_500 });
    const text = "The doctor changed ada to another budesonide inhaler in March";
    const after = await add(text, { occurredAt: 3_000 });
    await world.followUps.flush();
    expect((await read(before.id)).superseded).toMatchObject({ by: after.id, how: "inferred" });
  });

  it("is rejected before anybody has seen it, too", async () => {
    const before = await add("The alarm code of the workshop is 4417", { occurredAt: 1_000 });
    await add("The alarm code of the workshop is 5528 now", { occurredAt: 2_000 });
    await updateMemory(world.ports, { id: before.id, stillHolds: true });
    await world.followUps.flush();
    expect((await read(before.id)).superseded).toBeNull();
    expect(world.ports.store.catalogue.edgesOf(before.id)).toMatchObject([{ weight: 0 }]);
  });

  it("gives way to what was told", async () => {
    const [paris, rome] = [await add("lives in Paris"), await add("works in Rome")];
    await putEdge({ source: rome.id, target: paris.id, kind: "updates", weight: 0.7, createdAt: 0 });
    const bonn = await add("lives in Bonn", { supersedes: [paris.id] });
    expect((await read(paris.id)).superseded).toMatchObject({ by: bonn.id, how: "told" });
  });
});

describe("the list of superseded memories", () => {
  it("has each pair once, the last added first, of what was told, guessed or both", async () => {
    const [paris, rome] = [await add("lives in Paris"), await add("works in Rome")];
    await putEdge({ source: rome.id, target: paris.id, kind: "updates", weight: 0.7, createdAt: 0 });
    const bonn = await add("works in Bonn", { supersedes: [rome.id] });
    const ids = async (input: Partial<Parameters<typeof listSuperseded>[1]>) => {
      const all = { filter: {}, limit: 10, offset: 0, ...input };
      const { items, total } = await listSuperseded(world.ports, all);
      return [total, ...items.map(({ older, newer }) => [older.id, newer.id])];
    };
    const [told, guess] = [
      [rome.id, bonn.id],
      [paris.id, rome.id],
    ];
    expect(await ids({})).toEqual([2, told, guess]);
    expect(await ids({ how: "told" })).toEqual([1, told]);
    expect(await ids({ how: "inferred" })).toEqual([1, guess]);
    expect(await ids({ limit: 1, offset: 1 })).toEqual([2, guess]);
    expect(await ids({ limit: 0 })).toEqual([2]);
    expect(await ids({ filter: { userId: "bob" } })).toEqual([0]);
    await updateMemory(world.ports, { id: paris.id, stillHolds: true });
    expect(await ids({ how: "inferred" })).toEqual([0]);
  });
});
