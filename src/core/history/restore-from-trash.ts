import { mapAtOnce } from "../at-once.ts";
import { conflict } from "../errors.ts";
import { factIdOfRow, factRowId } from "../facts/fact.ts";
import {
  duplicateHash,
  embeddedText,
  embeddingChanges,
  readText,
  withDerived,
} from "../memories/compose-memory.ts";
import type { MemoryPorts } from "../memories/memory-ports.ts";
import type { SeenMemory } from "../memory.ts";
import { missing, type OneRow } from "../owned.ts";
import type { WriteSection } from "../ports.ts";
import type { Change, VersionRow } from "../rows.ts";
import { entryOf, partsOf } from "./trash.ts";
import type { VersionEntry } from "./version-index.ts";

const EMBEDDED_AT_ONCE = 8;

/**
 * Brings a memory back from the trash, or a document with its memories, its original and the facts' sources: embedded
 * again, as a new version, newest in the order of adding.
 * @throws {ServiceError} NOT_FOUND; FORBIDDEN; CONFLICT where its place was taken since; as adding.
 */
export async function restoreFromTrash(
  ports: MemoryPorts,
  { restoredBy, ...input }: OneRow & { readonly restoredBy?: string },
): Promise<SeenMemory> {
  const { store, embedder, followUps, nextTurn } = ports;
  const { versions } = store.catalogue;
  const parts = partsOf(versions, entryOf(ports, input));
  const rows = await store.readVersions(parts.map(({ id }) => id));
  const restored = await mapAtOnce(parts, EMBEDDED_AT_ONCE, async (entry): Promise<Restored> => {
    const row = rows.get(entry.id);
    if (row === undefined) throw missing("trash");
    const embedding = await embedder.embedDocument(embeddedText(row.memory));
    await nextTurn();
    return { entry, row, embedding, readText: readText(row.memory, row.memory.createdAt) };
  });
  await store.commit((section) => {
    const now = partsOf(versions, entryOf(ports, input));
    const isSame = now.map(({ id }) => id).join() === parts.map(({ id }) => id).join();
    if (!isSame)
      throw conflict("The trash was changed at this moment; look again.", { retryAfterSeconds: 1 });
    return { changes: restoringChanges(ports, section, restored, restoredBy ?? null), result: undefined };
  });
  for (const { row } of restored) followUps.added(row.memoryId);
  const memory = (await store.readMemories([input.id])).get(input.id);
  if (memory === undefined) throw missing("memory");
  return memory;
}

interface Restored {
  readonly entry: VersionEntry;
  readonly row: VersionRow;
  readonly embedding: Awaited<ReturnType<MemoryPorts["embedder"]["embedDocument"]>>;
  readonly readText: ReturnType<typeof readText>;
}

function restoringChanges(
  ports: MemoryPorts,
  section: WriteSection,
  restored: readonly Restored[],
  by: string | null,
): Change[] {
  const { sha256, historyMs } = ports;
  const { now, believedNow, nextOrder } = section;
  const changes: Change[] = [];
  for (const [i, { entry, row, embedding, readText: read }] of restored.entries()) {
    const { memory, signals } = row;
    const { id, userId } = memory;
    checkPlace(ports, row, restored.length > 1);
    const back = {
      ...memory,
      // A wrong clock may have dated it.
      createdAt: Math.min(memory.createdAt, now),
      updatedAt: now,
      version: memory.version + 1,
      order: nextOrder + i,
    };
    const present = withDerived({ ...back, duplicateHash: duplicateHash(sha256, back) }, read);
    const ended = { endedHow: "undeleted", endedBy: by, endedAt: now, keptSince: believedNow } as const;
    const deleted = { deletedAt: row.endedAt, deletedBy: row.endedBy };
    const freed = { deletedWith: null, original: null, document: null, sourceOf: [] };
    changes.push(
      { table: "memories", id, row: present },
      ...embeddingChanges(id, userId, embedding),
      { table: "signals", id, row: { ...signals, lastSeenAt: Math.min(signals.lastSeenAt, now) } },
      historyMs === 0
        ? { table: "versions", id: entry.id, row: null }
        : { table: "versions", id: entry.id, row: { ...row, ...deleted, ...ended, ...freed } },
      ...sourceChanges(ports, row),
    );
  }
  const [document] = restored.flatMap(({ row }) => row.document ?? []);
  if (document !== undefined)
    changes.push({ table: "documents", id: document.id, row: { ...document, order: nextOrder } });
  return changes;
}

/** @throws {ServiceError} CONFLICT where something else is in the place of what comes back. */
function checkPlace({ store }: Pick<MemoryPorts, "store">, row: VersionRow, isWhole: boolean): void {
  const { documents } = store.catalogue;
  if (store.catalogue.find(row.memoryId) !== undefined)
    throw conflict("The memory is there again: it was imported since.");
  if (row.document !== null) {
    const twin = documents.findByContent(row.document);
    if (twin !== undefined) throw conflict(`The same document was ingested again since: it is ${twin.id}.`);
    return;
  }
  if (row.documentId === null || isWhole) return;
  const document = documents.byId.get(row.documentId);
  if (document === undefined) throw conflict("The memory's document is in the trash; restore that first.");
  if (!document.memoryIds.includes(row.memoryId))
    throw conflict("The document was ingested again since, and has this memory anew.");
}

/** Facts that named it get it back as their source, in every version since that has none. */
function sourceChanges(
  { store }: Pick<MemoryPorts, "store">,
  { memoryId, userId, sourceOf }: VersionRow,
): Change[] {
  const wanted = new Set(sourceOf);
  return [...new Set(sourceOf.map(factIdOfRow))].flatMap((factId) => {
    const versions = store.catalogue.facts.find(factId)?.versions ?? [];
    const first = versions.findIndex((fact) => wanted.has(factRowId(fact)));
    return versions
      .filter(
        (fact, i) => first !== -1 && i >= first && fact.sourceMemoryId === null && fact.userId === userId,
      )
      .map((fact): Change => ({
        table: "facts",
        id: factRowId(fact),
        row: { ...fact, sourceMemoryId: memoryId },
      }));
  });
}
