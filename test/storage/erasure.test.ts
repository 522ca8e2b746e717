import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { eraseFact } from "../../src/core/facts/erase-fact.ts";
import { recordFact } from "../../src/core/facts/record-fact.ts";
import { addMemory } from "../../src/core/memories/add-memory.ts";
import { deleteMemory } from "../../src/core/memories/delete-memory.ts";
import { updateMemory } from "../../src/core/memories/update-memory.ts";
import { placesOf, readEveryByte } from "../support/every-byte.ts";
import { createStoreOnDisk, type StoreOnDisk } from "../support/store-on-disk.ts";
import { erase, survive } from "../support/store-survival.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

/** No compressor makes it shorter, and no other text holds it. */
const marker = () => `mk${randomBytes(15).toString("hex")}`;

let store: StoreOnDisk;
beforeEach(async () => {
  store = await createStoreOnDisk({ limits: { freeBytes: 0 } });
  Object.assign(store.ports, { ids: { newId: marker } });
});
afterEach(async () => {
  await store.close();
  store.removeDirectory();
});

async function add(content: string, fields = {}): Promise<string> {
  return (await addMemory(store.ports, { content, ...fields })).memory.id;
}

function factPorts() {
  const { catalogue } = store.ports.store;
  return { ...store.ports, catalogue, ownerOfMemory: (id: string) => catalogue.find(id)?.userId };
}

describe("erasing", () => {
  it("leaves nothing of what was deleted or replaced in any file, and all of the rest", async () => {
    const gone: string[] = [];
    const doomed = () => {
      gone.push(marker());
      return gone.at(-1) ?? "";
    };
    const kept = [marker(), marker(), marker()];
    await add(`stays ${kept[0]}`, { tags: [kept[1]], metadata: { note: kept[2] } });
    const ids: string[] = [];
    for (let i = 0; i < 3; i += 1) {
      ids.push(
        await add(`goes ${doomed()}`, {
          tags: [doomed()],
          metadata: { [doomed()]: doomed() },
          userId: doomed(),
          project: doomed(),
          sessionId: doomed(),
        }),
      );
      if (i === 0) await store.opened.checkpointer.flush();
    }
    const changed = await add(`first ${doomed()}`, { tags: [doomed()] });
    const { fact } = await recordFact(factPorts(), {
      subject: doomed(),
      predicate: "keeps",
      object: doomed(),
      metadata: { a: doomed() },
      validFrom: 1,
    });
    await store.opened.checkpointer.flush();
    await updateMemory(store.ports, { id: changed, content: "second", tags: [] });

    const before = await readEveryByte(store.directory);
    for (const text of [...gone, ...kept])
      expect(placesOf(text, before), `the places of ${text}`).not.toEqual([]);

    for (const id of ids) await deleteMemory(store.ports, { id });
    await eraseFact(factPorts(), { id: fact.id });
    expect(store.opened.erasure.waiting).toMatchObject({ items: 5, rows: { memories: 4, facts: 1 } });
    const report = await erase(store);

    const after = await readEveryByte(store.directory);
    for (const text of gone) expect(placesOf(text, after), `the places of ${text}`).toEqual([]);
    for (const id of [...ids, fact.id]) expect(placesOf(id, after), `the places of ${id}`).toEqual([]);
    for (const text of kept) expect(placesOf(text, after), `the places of ${text}`).not.toEqual([]);
    expect(after.unseen).toEqual([]);
    expect(store.opened.erasure.waiting).toBeUndefined();
    const memories = report.tables.find(({ table }) => table === "memories");
    expect(memories?.rows).toBe(4);
    expect(report.journal.after.bytes).toBeLessThan(report.journal.before.bytes);
    const tables = store.opened.checkpointer.latest?.tables ?? [];
    expect(tables.map(({ name }) => name)).toEqual(tables.map(({ name }) => name.replace(/\d+$/, "2")));

    await store.close();
    store = await store.reopen();
    expect(store.ports.store.catalogue.size).toBe(2);
    expect((await store.ports.store.readMemories([changed])).get(changed)?.content).toBe("second");
    expect(store.opened.erasure.waiting).toBeUndefined();
  });
});

describe("a store that lives on through failures while it erases", () => {
  it.each([
    { fault: "crash", remains: ["zeroed", "truncated", "kept", "mixed"], stride: 127 },
    { fault: "crash", remains: [], stride: 163 },
    { fault: "EIO", remains: ["mixed", "zeroed"], stride: 191 },
    { fault: "ENOSPC", remains: [], stride: 211 },
  ] as const)("has all it acknowledged: $fault at many steps", async ({ fault, remains, stride }) => {
    expect(await survive({ seed: 5, stride, fault, remains, erasing: true })).toBeGreaterThan(1);
  });
});
