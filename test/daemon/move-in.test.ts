import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { factTimeline } from "../../src/core/facts/find-facts.ts";
import { eraseFact } from "../../src/core/facts/erase-fact.ts";
import { recordFact } from "../../src/core/facts/record-fact.ts";
import { addMemory } from "../../src/core/memories/add-memories.ts";
import type { MemoryPorts } from "../../src/core/memories/memory-ports.ts";
import { reinforceMemory } from "../../src/core/memories/reinforce-memory.ts";
import { updateMemory } from "../../src/core/memories/update-memory.ts";
import { deleteMemory } from "../../src/core/operations.ts";
import { queryMemory } from "../../src/core/recall/query-memory.ts";
import type { ApiKey } from "../../src/core/access/key-ring.ts";
import { keyRingOf } from "../../src/daemon/key-service.ts";
import { moveIn } from "../../src/daemon/move-in.ts";
import { nodeDisk } from "../../src/storage/files/disk.ts";
import { openKeyFile } from "../../src/storage/files/key-file.ts";
import { DatabaseKeys } from "../../src/storage/postgres/database-keys.ts";
import { openDatabase } from "../../src/storage/postgres/database.ts";
import { prepareSchema } from "../../src/storage/postgres/schema.ts";
import { hasPostgres, sharedPostgres } from "../support/postgres-server.ts";
import { createStoreOnDisk, type StoreOnDisk } from "../support/store-on-disk.ts";
import { openTestNode, SetClock, type TestNode } from "../support/user-stores.ts";

describe.skipIf(!hasPostgres)("moving into a database", () => {
  let disk: StoreOnDisk;
  let config: { store: string; storePasswordFile: string };
  let node: TestNode | undefined;
  beforeEach(async () => {
    disk = await createStoreOnDisk();
    config = { store: await (await sharedPostgres()).database(randomUUID()), storePasswordFile: "" };
    const database = openDatabase({ connectionString: config.store });
    await prepareSchema(database);
    await database.close();
  });
  afterEach(async () => {
    await node?.close();
    node = undefined;
    disk.removeDirectory();
  });

  const add = async (content: string, more = {}) =>
    (await addMemory(disk.ports, { content, ...more })).memory;
  const move = (options: Partial<Parameters<typeof moveIn>[2]> = {}) =>
    moveIn(config, disk.directory, {
      withoutDocuments: false,
      withoutKeys: false,
      onProgress: () => {},
      ...options,
    });

  /** All that reads answer of a user. */
  async function view(ports: MemoryPorts, userId: string) {
    const { store } = ports;
    const { ids } = store.catalogue.page({ userId }, { limit: 1_000, offset: 0 });
    const versions = [...store.catalogue.versions.all()].filter((version) => version.userId === userId);
    const question = { query: "where is the tea?", limit: 20, filter: { userId }, leavesNoTrace: true };
    return {
      memories: [...(await store.readMemories(ids))],
      edges: ids.map((id) => store.catalogue.edgesOf(id)),
      versions: await store.readVersions(versions.map(({ id }) => id)),
      facts: factTimeline(ports, { subject: "Ada", userId, limit: 1_000 }),
      hits: (await queryMemory(ports, question)).hits.map(({ memory, score }) => [
        memory.id,
        score.toFixed(5),
      ]),
    };
  }

  async function fill() {
    for (const userId of ["ann", "ben"]) {
      const first = await add(`tea at four of ${userId}`, { userId, tags: ["drink"], metadata: { n: 1 } });
      await add(`no tea but coffee for ${userId}`, { userId, sessionId: "s", supersedes: [first.id] });
      const gone = await add(`soup of ${userId}`, { userId });
      for (let i = 0; i < 250; i += 1) await add(`note ${i} of ${userId} about the tea`, { userId });
      await updateMemory(disk.ports, { id: first.id, content: `tea at five of ${userId}` });
      await deleteMemory(disk.ports, { id: gone.id, trash: true });
      await reinforceMemory(disk.ports, { id: first.id, boost: 0.5 });
      const home = { subject: "Ada", predicate: "lives in", userId, sourceMemoryId: first.id };
      await recordFact(disk.ports, { ...home, object: "London", validFrom: 1 });
      await recordFact(disk.ports, { ...home, object: "Paris", validFrom: 5 });
    }
  }

  it("copies each user whole, also after an interruption, and answers as before", async () => {
    await fill();
    const before = [await view(disk.ports, "ann"), await view(disk.ports, "ben")];
    await disk.close();
    const interrupted = () => {
      throw new Error("interrupted");
    };
    await expect(move({ onProgress: interrupted })).rejects.toThrow("interrupted");
    const moved = { users: 2, memories: 504, facts: 4, versions: 4 };
    expect(await move()).toEqual(moved);
    expect(await move()).toEqual(moved);
    node = await openTestNode(config.store, { clock: new SetClock(disk.ports.clock) });
    for (const [i, user] of ["ann", "ben"].entries()) {
      expect(await view(await node.portsOf(user), user)).toEqual(before[i]);
    }
    const again = await addMemory(await node.portsOf("ann"), {
      content: "note 7 of ann about the tea",
      userId: "ann",
    });
    expect(again.deduplicated).toBe(true);
    const next = await addMemory(await node.portsOf("ann"), { content: "new", userId: "ann" });
    expect(next.memory.order).toBeGreaterThan(before[0]?.memories[0]?.[1].order ?? 0);
  });

  it("asks whose they become that have no user, and refuses a user who has something", async () => {
    const { id } = await add("tea of nobody");
    await add("milk of nobody");
    await add("tea of ann", { userId: "ann" });
    await disk.close();
    await expect(move()).rejects.toMatchObject({ message: expect.stringMatching(/--nobody-as/) as string });
    await expect(move({ nobodyAs: "ann" })).rejects.toMatchObject({
      message: expect.stringMatching(/nothing in the store yet; "ann" has/) as string,
    });
    node = await openTestNode(config.store);
    await addMemory(await node.portsOf("hall"), { content: "elsewhere", userId: "hall" });
    await expect(move({ nobodyAs: "hall" })).rejects.toMatchObject({
      message: expect.stringMatching(/were left alone: "hall"/) as string,
    });
    expect(await move({ nobodyAs: "our house" })).toMatchObject({ users: 2, memories: 3 });
    const repeated = await addMemory(await node.portsOf("our house"), {
      content: "tea of nobody",
      userId: "our house",
    });
    expect(repeated).toMatchObject({ deduplicated: true, memory: { userId: "our house" } });
    await deleteMemory(await node.portsOf("our house"), { id });
    await expect(move({ nobodyAs: "garden" })).rejects.toMatchObject({
      message: expect.stringMatching(
        /given to "our house" by an earlier run. Go on with --nobody-as "our house"/,
      ) as string,
    });
    expect((await node.portsOf("garden")).store.catalogue.size).toBe(0);
  });

  it("moves keys, and none behind the back of a database that has others", async () => {
    await add("tea of ann", { userId: "ann" });
    const ring = keyRingOf(openKeyFile(nodeDisk, disk.directory), undefined, disk.ports.clock);
    await ring.create({ name: "laptop", scope: "write", userId: "ann" });
    await disk.close();
    await move();
    await move();
    const database = openDatabase({ connectionString: config.store });
    const kept = new DatabaseKeys(database);
    const [laptop] = (await kept.read()) ?? [];
    expect(laptop).toMatchObject({ name: "laptop" });
    await kept.write([{ ...(laptop as ApiKey), id: randomUUID(), name: "other" }]);
    await expect(move()).rejects.toMatchObject({
      message: expect.stringMatching(/not among them: "laptop"\..*--without-keys/) as string,
    });
    expect(await move({ withoutKeys: true })).toMatchObject({ memories: 1 });
    expect(await kept.read()).toMatchObject([{ name: "other" }]);
    await kept.write([{ ...(laptop as ApiKey), revokedAt: null }]);
    const ofStore = openKeyFile(nodeDisk, disk.directory);
    await ofStore.write([{ ...(laptop as ApiKey), revokedAt: 1 }]);
    await expect(move()).rejects.toMatchObject({
      message: expect.stringMatching(
        /revoked in the store, and the database still takes them: "laptop"\./,
      ) as string,
    });
    await kept.write([{ ...(laptop as ApiKey), revokedAt: 1 }]);
    expect(await move()).toMatchObject({ memories: 1 });
    await database.close();
  });

  it("leaves deleted what was deleted in the database since, with its facts, links and versions", async () => {
    const [erased, trashed, kept] = [
      await add("tea", { userId: "ann" }),
      await add("milk", { userId: "ann" }),
      await add("cake", { userId: "ann" }),
    ];
    await updateMemory(disk.ports, { id: erased.id, content: "green tea" });
    await updateMemory(disk.ports, { id: kept.id, content: "plum cake", supersedes: [trashed.id] });
    const { fact } = await recordFact(disk.ports, {
      subject: "Ada",
      predicate: "lives in",
      object: "London",
      userId: "ann",
    });
    await disk.close();
    expect(await move()).toMatchObject({ memories: 3, facts: 1, versions: 2 });
    node = await openTestNode(config.store, { clock: new SetClock(disk.ports.clock) });
    const ports = await node.portsOf("ann");
    await deleteMemory(ports, { id: erased.id });
    await deleteMemory(ports, { id: trashed.id, trash: true });
    await eraseFact(ports, { id: fact.id });
    const before = await view(ports, "ann");
    expect(await move()).toMatchObject({ memories: 1, facts: 0, versions: 1 });
    const after = await view(await node.portsOf("ann"), "ann");
    expect(after).toEqual(before);
    expect(after.memories.map(([id]) => id)).toEqual([kept.id]);
  });

  it("says in a sentence that the database refuses to be written", async () => {
    await add("tea of ann", { userId: "ann" });
    await disk.close();
    const database = openDatabase({ connectionString: config.store });
    await database.query(
      "create function refuse() returns trigger language plpgsql as 'begin raise exception ''full''; end'",
    );
    await database.query(
      "create trigger refused before insert on memoryd.row for each row execute function refuse()",
    );
    await expect(move()).rejects.toMatchObject({
      code: "STORE_UNUSABLE",
      message: expect.stringMatching(/^The database refused memoryd: full/) as string,
    });
    await database.close();
  });

  it("moves all but a user who has other memories in the database, and says whose are left", async () => {
    await add("tea of ann", { userId: "ann" });
    await add("tea of ben", { userId: "ben" });
    await disk.close();
    node = await openTestNode(config.store);
    await addMemory(await node.portsOf("ann"), { content: "elsewhere", userId: "ann" });
    await expect(move()).rejects.toMatchObject({
      message: expect.stringMatching(
        /left alone: "ann"\. All else was moved \(1 users, 1 memories\)/,
      ) as string,
    });
    expect((await node.portsOf("ann")).store.catalogue.size).toBe(1);
    expect((await node.portsOf("ben")).store.catalogue.size).toBe(1);
  });

  it("goes on after an interruption whatever nodes have written meanwhile, keys first", async () => {
    const tea = await add("tea of ann", { userId: "ann" });
    await add("tea of ben", { userId: "ben" });
    const ring = keyRingOf(openKeyFile(nodeDisk, disk.directory), undefined, disk.ports.clock);
    await ring.create({ name: "laptop", scope: "write", userId: "ann" });
    await disk.close();
    const interrupted = () => {
      throw new Error("interrupted");
    };
    await expect(move({ onProgress: interrupted })).rejects.toThrow("interrupted");
    const database = openDatabase({ connectionString: config.store });
    expect(await new DatabaseKeys(database).read()).toMatchObject([{ name: "laptop" }]);
    await database.close();
    node = await openTestNode(config.store);
    const ann = await node.portsOf("ann");
    await addMemory(ann, { content: "milk of ann", userId: "ann" });
    await updateMemory(ann, { id: tea.id, content: "tea at five", userId: "ann" });
    expect(await move()).toMatchObject({ users: 2, memories: 2 });
    const { store } = await node.portsOf("ann");
    expect(store.catalogue.size).toBe(2);
    expect((await store.readMemories([tea.id])).get(tea.id)?.content).toBe("tea at five");
  });
});
