import { beforeEach, describe, expect, it } from "vitest";
import { ServiceError } from "../../../src/core/errors.ts";
import { addMemory } from "../../../src/core/memories/add-memories.ts";
import {
  tagMemories,
  type TagMemoriesInput,
  updateMemory,
} from "../../../src/core/memories/update-memory.ts";
import { bindOperations, type Operations } from "../../../src/core/operations.ts";
import { createDocumentWorld, type DocumentWorld } from "../../support/document-world.ts";

let world: DocumentWorld;
let all: Operations;
let ids: string[];

beforeEach(async () => {
  world = createDocumentWorld();
  all = bindOperations(world.ports);
  ids = [];
  for (const content of ["Garlic is in.", "Leeks are in.", "The tyres are on."])
    ids.push((await addMemory(world.ports, { content, tags: ["old", "kept"], userId: "ann" })).memory.id);
});

const tag = async (input: Partial<TagMemoriesInput>) => {
  const memories = ids.map((id) => ({ id }));
  return (await tagMemories(world.ports, { memories, add: [], remove: [], ...input })).results;
};
const tagsOf = async (id: string | undefined) => (await all.getMemory({ id: id ?? "" })).tags;

describe("tagMemories", () => {
  it("adds and removes tags, and keeps the versions before with who changed them", async () => {
    const results = await tag({ add: ["garden"], remove: ["old"], changedBy: "ann's shell" });
    expect(results).toEqual(ids.map((id) => ({ id, version: 2, tags: ["kept", "garden"], changed: true })));
    const { items } = await all.memoryHistory({ id: ids[0] ?? "", limit: 9, offset: 0 });
    expect(items.map(({ memory, changedBy }) => [memory.tags, changedBy])).toEqual([
      [["kept", "garden"], "ann's shell"],
      [["old", "kept"], null],
    ]);
  });

  it("changes nothing the second time", async () => {
    await tag({ add: ["garden"], remove: ["old"] });
    expect(await tag({ add: ["garden"], remove: ["old"] })).toEqual(
      ids.map((id) => ({ id, version: 2, tags: ["kept", "garden"], changed: false })),
    );
  });

  it("is taken back by undo", async () => {
    await tag({ add: ["wrong"], changedBy: "rogue" });
    const undone = await all.undoChanges({ client: "rogue", dryRun: false });
    expect(undone.map(({ done }) => done)).toEqual([true, true, true]);
    expect(await Promise.all(ids.map(tagsOf))).toEqual(ids.map(() => ["old", "kept"]));
  });

  it("refuses each by itself: unknown, another's, changed since, too many tags", async () => {
    const [first = "", second = "", third = ""] = ids;
    await updateMemory(world.ports, { id: second, content: "Leeks are out." });
    const tags = Array.from({ length: 64 }, (_, index) => `tag ${index}`);
    await updateMemory(world.ports, { id: third, tags });
    const other = await addMemory(world.ports, { content: "ben's", userId: "ben" });
    const memories = [
      { id: first, ifVersion: 1 },
      { id: second, ifVersion: 1 },
      { id: third },
      { id: "unknown" },
      { id: other.memory.id },
    ];
    const results = await tag({ memories, add: ["garden"], userId: "ann" });
    expect(results.map((each) => (each instanceof ServiceError ? each.code : each.tags))).toEqual([
      ["old", "kept", "garden"],
      "VERSION_MISMATCH",
      "INVALID_REQUEST",
      "NOT_FOUND",
      "NOT_FOUND",
    ]);
    expect(await tagsOf(second)).toEqual(["old", "kept"]);
    expect(await tagsOf(third)).toEqual(tags);
    expect(await tagsOf(other.memory.id)).toEqual([]);
  });

  it("loses no tag where two tag the same memories at once", async () => {
    await Promise.all(["a", "b", "c"].map((name) => tag({ add: [name] })));
    for (const id of ids) expect((await tagsOf(id)).toSorted()).toEqual(["a", "b", "c", "kept", "old"]);
  });
});
