import { memoryStoreContract } from "../contract/memory-store.contract.ts";
import { twoOpenersContract } from "../contract/two-openers.contract.ts";
import { createMemoryWorld } from "../support/memory-world.ts";
import { openSharedStore, type SharedRecords } from "../support/shared-store.ts";
import { times } from "../support/stress.ts";

memoryStoreContract("a store whose journal is shared", async () => {
  const { ports } = createMemoryWorld();
  const { store } = openSharedStore([], ports.clock);
  return { ports: { ...ports, store }, settle: async () => {}, close: () => store.close() };
});

twoOpenersContract(
  "a store whose journal is shared",
  async (clock) => {
    const records: SharedRecords = [];
    return {
      async open() {
        const opened = openSharedStore(records, clock);
        return { ...opened, close: () => opened.store.close() };
      },
      remove: async () => {},
    };
  },
  times(3),
);
