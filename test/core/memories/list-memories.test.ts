import { beforeEach, describe, expect, it } from "vitest";
import { addMemory } from "../../../src/core/memories/add-memories.ts";
import {
  countMemories,
  type CountMemoriesInput,
  listMemories,
} from "../../../src/core/memories/list-memories.ts";
import { createMemoryWorld, type MemoryWorld } from "../../support/memory-world.ts";

const MIDNIGHT = Date.UTC(2026, 4, 4);
const HOUR_MS = 3_600_000;
let world: MemoryWorld;

beforeEach(async () => {
  world = createMemoryWorld();
  world.now = MIDNIGHT - HOUR_MS;
  await addMemory(world.ports, { content: "Garlic is in.", tags: ["garden", "food"], userId: "ann" });
  world.now = MIDNIGHT + HOUR_MS;
  await addMemory(world.ports, {
    content: "Leeks are in.",
    // A repeated tag counts once.
    tags: ["garden", "garden"],
    userId: "ann",
    createdBy: "shell",
  });
  await addMemory(world.ports, {
    content: "The tyres are on.",
    userId: "ben",
    project: "car",
    createdBy: "shell",
  });
});

async function counts(by: CountMemoriesInput["by"], input: Partial<CountMemoriesInput> = {}) {
  const { items, total } = await countMemories(world.ports, {
    filter: {},
    by,
    limit: 10,
    timeZone: "UTC",
    ...input,
  });
  return { total, items: items.map(({ key, count }) => [key, count]) };
}

describe("countMemories", () => {
  it("counts by what a memory has, the most first, and null for those without", async () => {
    expect(await counts("client")).toEqual({
      total: 2,
      items: [
        ["shell", 2],
        [null, 1],
      ],
    });
    expect(await counts("user")).toEqual({
      total: 2,
      items: [
        ["ann", 2],
        ["ben", 1],
      ],
    });
    expect(await counts("project")).toEqual({
      total: 2,
      items: [
        [null, 2],
        ["car", 1],
      ],
    });
    expect(await counts("tag")).toEqual({
      total: 2,
      items: [
        ["garden", 2],
        ["food", 1],
      ],
    });
    expect(await counts("tag", { limit: 1 })).toEqual({ total: 2, items: [["garden", 2]] });
    expect(await counts("tag", { filter: { userId: "ben" } })).toEqual({ total: 0, items: [] });
  });

  it("counts days in the given time zone, in their order, with the first and last moment of each", async () => {
    expect((await counts("day")).items).toEqual([
      ["2026-05-03", 1],
      ["2026-05-04", 2],
    ]);
    expect((await counts("day", { timeZone: "Asia/Kathmandu" })).items).toEqual([["2026-05-04", 3]]);
    expect((await counts("day", { timeZone: "America/Lima" })).items).toEqual([["2026-05-03", 3]]);
    expect((await counts("day", { limit: 1 })).items).toEqual([["2026-05-04", 2]]);
    const { items } = await countMemories(world.ports, {
      filter: {},
      by: "day",
      limit: 1,
      timeZone: "Asia/Kathmandu",
    });
    expect(items).toEqual([
      { key: "2026-05-04", count: 3, firstAt: MIDNIGHT - HOUR_MS, lastAt: MIDNIGHT + HOUR_MS },
    ]);
  });

  it("counts days on which something happened apart from those of adding", async () => {
    await addMemory(world.ports, { content: "The frost came.", occurredAt: MIDNIGHT - 48 * HOUR_MS });
    expect((await counts("happened")).items).toEqual([
      ["2026-05-02", 1],
      ["2026-05-03", 1],
      ["2026-05-04", 2],
    ]);
    expect((await counts("happened", { timeZone: "America/Lima", limit: 1 })).items).toEqual([
      ["2026-05-03", 3],
    ]);
  });
});

describe("listMemories", () => {
  it("lists what happened last first, by place", async () => {
    const year = (n: number) => Date.UTC(n, 0, 1);
    for (const [content, occurredAt] of [
      ["middle", year(2020)],
      ["late", year(2024)],
      ["early", year(2016)],
    ] as const)
      await addMemory(world.ports, { content, occurredAt, userId: "zoe" });
    const list = async (offset: number) => {
      const filter = { userId: "zoe" };
      const { items, total } = await listMemories(world.ports, { filter, isByTime: true, limit: 2, offset });
      return [total, ...items.map(({ content }) => content)];
    };
    expect(await list(0)).toEqual([3, "late", "middle"]);
    expect(await list(2)).toEqual([3, "early"]);
  });
});
