import { addMemory } from "../../../src/core/memories/add-memories.ts";
import { beforeEach, expect, it } from "vitest";
import { queryMemory } from "../../../src/core/recall/query-memory.ts";
import { createMemoryWorld, type MemoryWorld } from "../../support/memory-world.ts";

let world: MemoryWorld;
beforeEach(async () => {
  world = createMemoryWorld();
  for (let i = 0; i < 20; i += 1)
    await addMemory(world.ports, { content: `note ${i} on bread, bicycles, weather and rivers` });
});
const ask = (query: string) => queryMemory(world.ports, { query, limit: 8, filter: {} });

it("counts the leading matches that answer, and none where nothing does", async () => {
  await addMemory(world.ports, { content: "the winter tyres of the van are in the cellar" });
  expect((await ask("where are the winter tyres of the van?")).relevant).toBe(1);
  expect((await ask("what is the capital of Mongolia?")).relevant).toBe(0);
});

it("lets nothing count as remembered that does not answer", async () => {
  const recalled: (readonly string[])[] = [];
  const followUps = { added: () => {}, recalled: (ids: readonly string[]) => recalled.push(ids) };
  const { relevant } = await queryMemory(
    { ...world.ports, followUps },
    { query: "what is the capital of Mongolia?", limit: 8, filter: {} },
  );
  expect(relevant).toBe(0);
  expect(recalled).toEqual([[]]);
});
