import type { Static } from "typebox";
import { expectTypeOf, it } from "vitest";
import type { Formed } from "../../src/json-form.ts";
import type { ListMemoriesReply } from "../../src/schemas/list-memories.ts";
import type { MemoryRecord } from "../../src/schemas/memory.ts";
import type { MemoryPage, ShownMemory } from "../../src/cli/shown-memory.ts";

it("asks for nothing that the daemon does not promise", () => {
  expectTypeOf<Static<typeof MemoryRecord>>().toExtend<ShownMemory>();
  expectTypeOf<Static<typeof ListMemoriesReply>>().toExtend<Formed<typeof MemoryPage>>();
});
