import { addMemory } from "../../src/core/memories/add-memories.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { deleteMemory } from "../../src/core/operations.ts";
import { queryMemory } from "../../src/core/recall/query-memory.ts";
import { recordFact } from "../../src/core/facts/record-fact.ts";
import { factStoreContract } from "../contract/fact-store.contract.ts";
import { createFakeFactPorts } from "../support/in-memory-fact-store.ts";
import { createMemoryWorld } from "../support/memory-world.ts";
import { createStoreOnDisk, type ReopenOptions, type StoreOnDisk } from "../support/store-on-disk.ts";

function onDisk(settle: (disk: StoreOnDisk) => Promise<void>, options: ReopenOptions = {}) {
  return async () => {
    let disk = await createStoreOnDisk(options);
    return {
      ports: disk.ports,
      async restart() {
        await settle(disk);
        await disk.close();
        disk = await disk.reopen();
        return disk.ports;
      },
      async close() {
        await disk.close();
        disk.removeDirectory();
      },
    };
  };
}

factStoreContract(
  "the store on disk, with facts in its journal",
  onDisk(async () => {}),
);
factStoreContract(
  "the store on disk, with facts in its tables",
  onDisk((disk) => disk.opened.checkpointer.flush()),
);
factStoreContract(
  "the store on disk, with a checkpoint always under way",
  onDisk(async () => {}, { limits: { rows: 5 } }),
);
factStoreContract("the fake that other tests rely on", async () => {
  const ports = createFakeFactPorts();
  return { ports, restart: async () => ports, close: async () => {} };
});

describe("facts beside memories", () => {
  let disk: StoreOnDisk;
  beforeEach(async () => {
    disk = await createStoreOnDisk();
  });
  afterEach(async () => {
    await disk.close();
    disk.removeDirectory();
  });

  it("lose the link to a memory that is deleted, in the record that deletes it, and stay", async () => {
    const { memory } = await addMemory(disk.ports, { content: "Ada moved to Paris", userId: "ann" });
    const { fact } = await recordFact(disk.ports, {
      subject: "Ada",
      predicate: "lives in",
      object: "Paris",
      userId: "ann",
      sourceMemoryId: memory.id,
    });
    await disk.opened.checkpointer.flush();
    await deleteMemory(disk.ports, { id: memory.id });
    const versions = () => disk.ports.store.catalogue.facts.find(fact.id)?.versions;
    expect(versions()).toEqual([{ ...fact, sourceMemoryId: null }]);
    await disk.close();
    disk = await disk.reopen();
    expect(versions()).toEqual([{ ...fact, sourceMemoryId: null }]);
  });

  it("come with the answer to a question that names them, of the same user only", async () => {
    const ports = disk.ports;
    const home = { subject: "Ada", predicate: "lives in" };
    await recordFact(ports, { ...home, object: "Paris", userId: "ann" });
    await recordFact(ports, { ...home, object: "Oslo", userId: "bob" });
    const ask = { query: "where does ada live?", limit: 5, filter: { userId: "ann" } };
    const { facts } = await queryMemory(disk.ports, { ...ask, includeFacts: true });
    expect(facts).toMatchObject([{ object: "Paris" }]);
    expect(await queryMemory(disk.ports, ask)).not.toHaveProperty("facts");
  });
});

describe("a write of facts that the journal refuses", () => {
  it("is taken back whole: versions, ends and new facts", async () => {
    const { ports, memory } = createMemoryWorld();
    const home = { subject: "Ada", predicate: "lives in" };
    const { fact: first } = await recordFact(ports, { ...home, object: "London", validFrom: 1 });
    memory.hold();
    const second = recordFact(ports, { ...home, object: "Paris", validFrom: 5 });
    const third = recordFact(ports, { ...home, object: "Oslo", validFrom: 2, validTo: 3 });
    await Promise.resolve();
    expect(ports.store.catalogue.facts.size).toBe(4);
    await Promise.all([
      expect(second).rejects.toMatchObject({ code: "STORE_FULL" }),
      expect(third).rejects.toMatchObject({ code: "STORE_FULL" }),
      memory.release("refused"),
    ]);
    expect(ports.store.catalogue.facts.size).toBe(1);
    expect(ports.store.catalogue.facts.find(first.id)?.versions).toEqual([first]);
    expect(ports.store.catalogue.facts.timelines({ subject: "ada" })[0]?.facts).toHaveLength(1);
  });
});
