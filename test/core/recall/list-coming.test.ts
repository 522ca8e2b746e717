import { expect, it } from "vitest";
import { addMemory } from "../../../src/core/memories/add-memories.ts";
import { listComing, type ListComingInput } from "../../../src/core/recall/list-coming.ts";
import { createMemoryWorld } from "../../support/memory-world.ts";

it("lists the notes that name a day or month to come, the soonest first", async () => {
  const world = createMemoryWorld();
  world.now = Date.UTC(2026, 10, 26, 23);
  const add = async (content: string, more: object = {}) =>
    (await addMemory(world.ports, { content, ...more })).memory.id;
  await add("The lease ends on 30 November 2027.");
  await add("The fair is in December.");
  await add("The dentist is on 3 December 2026, not on 1 November.");
  await add("Saw the dentist on 12 November 2026.");
  const moved = await add("The plumber comes on 2026-11-30.", { userId: "ann" });
  await add("Milk is out.");
  const coming = async (input: Partial<ListComingInput> = {}) =>
    (await listComing(world.ports, { filter: {}, days: 30, limit: 10, ...input })).map(
      ({ on, memory }) => `${on} ${memory.content.split(" ")[1]}`,
    );
  expect(await coming()).toEqual(["2026-11-30 plumber", "2026-12 fair", "2026-12-03 dentist"]);
  expect(await coming({ limit: 1 })).toEqual(["2026-11-30 plumber"]);
  expect(await coming({ filter: { userId: "ann" } })).toEqual(["2026-11-30 plumber"]);
  expect(await coming({ days: 1 })).toEqual([]);
  expect(await coming({ days: 4, timeZone: "Asia/Kathmandu" })).toEqual(["2026-11-30 plumber"]);
  await add("The plumber comes on 2026-12-07.", { userId: "ann", supersedes: [moved] });
  expect(await coming()).toEqual(["2026-12 fair", "2026-12-03 dentist", "2026-12-07 plumber"]);
});
