import { beforeEach, describe, expect, it } from "vitest";
import { addMemory } from "../../../src/core/memories/add-memories.ts";
import { memoryGraph, type MemoryGraphInput } from "../../../src/core/memories/related-memories.ts";
import { createMemoryWorld, type MemoryWorld } from "../../support/memory-world.ts";

let world: MemoryWorld;
const ids: Record<string, string> = {};

/** A chain in the order of adding: one – two – three – four; three is of another project. */
beforeEach(async () => {
  world = createMemoryWorld();
  const session = { sessionId: "s", userId: "ann" };
  for (const content of ["one", "two", "three", "four"]) {
    const project = content === "three" ? { project: "car" } : {};
    ids[content] = (await addMemory(world.ports, { content, ...session, ...project })).memory.id;
  }
  ids["ben"] = (await addMemory(world.ports, { content: "ben's", userId: "ben" })).memory.id;
});

async function graph(input: Partial<MemoryGraphInput> = {}) {
  const { nodes, edges, total } = await memoryGraph(world.ports, { filter: {}, limit: 10, ...input });
  const nameOf = (id: string) => Object.keys(ids).find((name) => ids[name] === id);
  return {
    total,
    nodes: nodes.map(({ id }) => nameOf(id)),
    edges: edges.map(({ source, target }) => `${nameOf(source)}-${nameOf(target)}`).toSorted(),
  };
}
const around = (name: string, depth: number) => ({ id: ids[name] ?? "", depth });

describe("memoryGraph", () => {
  it("has the newest that match, and the waypoints between them", async () => {
    expect(await graph()).toEqual({
      nodes: ["ben", "four", "three", "two", "one"],
      edges: ["one-two", "three-four", "two-three"],
      total: 5,
    });
    expect(await graph({ filter: { userId: "ann" }, limit: 2 })).toEqual({
      nodes: ["four", "three"],
      edges: ["three-four"],
      total: 4,
    });
    expect(await graph({ filter: { projects: [null] } })).toMatchObject({ edges: ["one-two"], total: 4 });
  });

  it("goes from a memory outwards, over matching ones only, up to the depth and the limit", async () => {
    expect(new Set((await graph({ around: around("two", 1) })).nodes)).toEqual(
      new Set(["one", "two", "three"]),
    );
    expect(await graph({ around: around("one", 3) })).toMatchObject({
      nodes: ["one", "two", "three", "four"],
    });
    expect(await graph({ around: around("one", 3), limit: 2 })).toMatchObject({ nodes: ["one", "two"] });
    expect(await graph({ around: around("one", 3), filter: { projects: [null] } })).toMatchObject({
      nodes: ["one", "two"],
      edges: ["one-two"],
    });
  });

  it("knows no memory of another user", async () => {
    for (const id of [ids["ben"] ?? "", "unknown"])
      await expect(graph({ filter: { userId: "ann" }, around: { id, depth: 1 } })).rejects.toMatchObject({
        code: "NOT_FOUND",
      });
  });

  it("cuts texts, in one line and between whole characters", async () => {
    const { memory } = await addMemory(world.ports, {
      content: `line\n\n${"😀".repeat(50_000)}`,
      userId: "cat",
    });
    const { nodes } = await memoryGraph(world.ports, { filter: { userId: "cat" }, limit: 9 });
    expect(nodes).toMatchObject([{ id: memory.id, userId: "cat" }]);
    expect(nodes[0]?.text).toMatch(/^line 😀+…$/u);
    expect(nodes[0]?.text.length).toBeLessThanOrEqual(121);
  });
});
