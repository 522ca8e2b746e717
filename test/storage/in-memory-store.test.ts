import { memoryStoreContract } from "../contract/memory-store.contract.ts";
import { createMemoryWorld } from "../support/memory-world.ts";

memoryStoreContract("createInMemoryStore", async () => {
  const { ports, memory } = createMemoryWorld();
  return { ports, settle: async () => {}, close: () => memory.store.close() };
});
