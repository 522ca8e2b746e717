import { beforeEach, describe, expect, it } from "vitest";
import { ServiceError } from "../../../src/core/errors.ts";
import { bindOperations, type Operations } from "../../../src/core/operations.ts";
import type { DocumentTransfer, TransferRecord } from "../../../src/core/transfer/export-records.ts";
import { createDocumentWorld, type DocumentWorld } from "../../support/document-world.ts";

const LONG = Array.from(
  { length: 60 },
  (_, n) => `# Bed ${n}\n${"Garlic is in the ground. ".repeat(20)}`,
).join("\n");

interface Place {
  readonly world: DocumentWorld;
  readonly all: Operations;
}

/** Each draws ids of its own. */
function place(name: number): Place {
  const world = createDocumentWorld();
  let ids = name * 1_000_000;
  const newId = () => `019aa5a0-6c1e-7c3a-9d0f-${(ids += 1).toString(16).padStart(12, "0")}`;
  Object.assign(world.ports.ids, { newId });
  Object.assign(world.documentPorts.ids, { newId });
  return { world, all: bindOperations(world.ports) };
}

async function exported({ all }: Place): Promise<TransferRecord[]> {
  const records: TransferRecord[] = [];
  for await (const record of await all.exportRecords({ waypoints: true })) records.push(record);
  return JSON.parse(JSON.stringify(records)) as TransferRecord[];
}

async function outcomes({ all }: Place, items: readonly TransferRecord[]): Promise<string[]> {
  const { results } = await all.restoreRecords({ items });
  return results.map((result) => (result instanceof ServiceError ? result.code : result.outcome));
}

const documentsOf = ({ world }: Place) => world.operations.listDocuments({ limit: 100, offset: 0 }).items;
const isDocument = (record: TransferRecord): record is DocumentTransfer => record.kind === "document";

/** With a further memory among those of every document. */
function claimed(records: readonly TransferRecord[], memoryId: string): TransferRecord[] {
  return records.map((record) =>
    isDocument(record)
      ? {
          ...record,
          document: {
            ...record.document,
            strategy: "root-child",
            memoryIds: [...record.document.memoryIds, memoryId],
          },
        }
      : record,
  );
}

let from: Place;
let to: Place;
beforeEach(async () => {
  from = place(1);
  to = place(2);
});

describe("a document", () => {
  it("comes back with its id, its place and its chunks, and a second time changes nothing", async () => {
    await from.world.ingest(LONG, { userId: "ada", tags: ["garden"], metadata: { bed: 3 } });
    await from.world.ingest("A short note.", { userId: "ada", project: "p" });
    const records = await exported(from);
    expect(new Set(await outcomes(to, records))).toEqual(new Set(["added"]));
    expect(await exported(to)).toEqual(records);
    const [here, there] = [documentsOf(from), documentsOf(to)];
    expect(there.map(({ order: _order, ...rest }) => rest)).toEqual(
      here.map(({ order: _order, ...rest }) => rest),
    );

    const [, long] = there;
    const id = long?.id ?? "";
    const shown = await to.world.operations.getDocument({ id, limit: 1, offset: 0 });
    expect(shown).toMatchObject({ hasOriginal: false, total: (long?.memoryIds.length ?? 0) - 1 });
    expect(new Set(await outcomes(to, records))).toEqual(new Set(["known"]));
  });

  it("comes after its memories, in one write or in several", async () => {
    await from.world.ingest(LONG);
    const records = await exported(from);
    const memories = records.filter(({ kind }) => kind === "memory");
    const documents = records.filter(isDocument);
    expect(await outcomes(to, documents)).toEqual(["NOT_FOUND"]);
    await outcomes(to, memories);
    expect(await outcomes(to, documents)).toEqual(["added"]);
  });

  it("that never comes leaves memories that can be deleted one by one", async () => {
    await from.world.ingest(LONG);
    const memories = (await exported(from)).flatMap((record) => (record.kind === "memory" ? [record] : []));
    await outcomes(to, memories);
    for (const { memory } of memories)
      expect(await to.all.deleteMemory({ id: memory.id })).toEqual({ id: memory.id, deleted: 1 });
    expect(await exported(to)).toEqual([]);
  });

  it("goes with its root, and is the same document when its file is taken in again", async () => {
    await from.world.ingest(LONG);
    await outcomes(to, await exported(from));
    const again = await to.world.ingest(LONG);
    expect(again.result).toMatchObject({ deduplicated: true, document: { id: documentsOf(from)[0]?.id } });
    const [document] = documentsOf(to);
    expect(
      await to.world.operations.getDocument({ id: document?.id ?? "", limit: 1, offset: 0 }),
    ).toMatchObject({
      hasOriginal: true,
    });
    await to.all.deleteMemory({ id: document?.rootMemoryId ?? "" });
    expect(documentsOf(to)).toEqual([]);
    expect((await exported(to)).length).toBe(0);
  });

  it("stands beside one of the same bytes that was here, and each goes alone", async () => {
    await from.world.ingest("A short note.");
    const own = await to.world.ingest("A short note.");
    expect(await outcomes(to, await exported(from))).toEqual(["added", "added"]);
    expect(documentsOf(to)).toHaveLength(2);
    await to.world.operations.deleteDocument({ id: own.result?.document.id ?? "" });
    const again = await to.world.ingest("A short note.");
    expect(again.result).toMatchObject({ deduplicated: true, document: { id: documentsOf(from)[0]?.id } });
  });

  it("that lost a chunk still names it, and answers with the others", async () => {
    const { result } = await from.world.ingest(LONG);
    await from.all.deleteMemory({ id: result?.memoryIds[2] ?? "" });
    const records = await exported(from);
    await outcomes(to, records);
    expect(await exported(to)).toEqual(records);
    expect(documentsOf(to)[0]?.memoryIds).toHaveLength((result?.memoryIds.length ?? 0) - 1);
  });

  it("takes nobody else's memories along", async () => {
    await from.world.ingest("A short note.", { userId: "mallory" });
    const { memory } = await to.all.addMemory({ content: "mine", userId: "ada" });
    const claiming = claimed(await exported(from), memory.id);
    expect(await outcomes(to, claiming)).toEqual(["added", "CONFLICT"]);
  });

  it("that names a memory which comes later and is not its own does not take it along either", async () => {
    await from.world.ingest("A short note.", { userId: "mallory" });
    const victim = place(3);
    const { memory } = await victim.all.addMemory({ content: "mine", userId: "ada" });
    const records = claimed(await exported(from), memory.id);
    expect(await outcomes(to, [...records, ...(await exported(victim))])).toEqual([
      "added",
      "added",
      "added",
    ]);
    await to.world.operations.deleteDocument({ id: documentsOf(to)[0]?.id ?? "" });
    expect(await to.all.getMemory({ id: memory.id })).toMatchObject({ content: "mine" });
  });

  it.each<[string, Partial<DocumentTransfer["document"]>, string]>([
    ["of another user than its memories", { userId: "ben" }, "CONFLICT"],
    [
      "that begins with another memory",
      { memoryIds: ["019aa5a0-6c1e-7c3a-9d0f-000000000fff"] },
      "INVALID_REQUEST",
    ],
    ["from the future", { createdAt: 9e12 }, "INVALID_REQUEST"],
    ["fetched in the future", { fetchedAt: 9e12 }, "INVALID_REQUEST"],
  ])("%s is refused", async (_name, changes, code) => {
    await from.world.ingest("A short note.");
    const records = (await exported(from)).map((record) =>
      isDocument(record) ? { ...record, document: { ...record.document, ...changes } } : record,
    );
    expect(await outcomes(to, records)).toEqual(["added", code]);
  });

  it("with the id of another is refused", async () => {
    await from.world.ingest("A short note.");
    const records = await exported(from);
    await outcomes(to, records);
    const other = records
      .filter(isDocument)
      .map((record) => ({ ...record, document: { ...record.document, sha256: "0".repeat(64) } }));
    expect(await outcomes(to, other)).toEqual(["CONFLICT"]);
  });
});
