import { runAtOnce } from "../at-once.ts";
import type { DocumentRow } from "../documents/document.ts";
import { documentRowsRemoval, memoryIdsOf, presentRemoval } from "../documents/store-document.ts";
import { conflict } from "../errors.ts";
import { factRowId } from "../facts/fact.ts";
import type { MemoryPorts } from "../memories/memory-ports.ts";
import type { SeenMemory } from "../memory.ts";
import { checkVersion, type OneRow, owned } from "../owned.ts";
import { charsOfMemory, fitting } from "../page-end.ts";
import type { Catalogue, CatalogueEntry, Decision, Steps, WriteSection } from "../ports.ts";
import { type Change, memoryOf, type MemoryRow } from "../rows.ts";
import { keepVersion, removalOf } from "./keep-version.ts";
import type { VersionEntry, VersionReads } from "./version-index.ts";

export interface TrashMemoryInput extends OneRow {
  readonly ifVersion?: number;
  readonly deletedBy?: string;
}

/**
 * Puts a memory into the trash: out of every answer and index, until it is restored or its days are over. The root of a
 * document takes the document along, with its memories and its original, as one entry.
 * @returns the number of deleted memories.
 * @throws {ServiceError} NOT_FOUND, FORBIDDEN, VERSION_MISMATCH, STORE_FULL, NOT_READY.
 */
export async function trashMemory(
  ports: Pick<MemoryPorts, "store" | "historyMs">,
  { id, userId, ifVersion, deletedBy }: TrashMemoryInput,
): Promise<{ readonly id: string; readonly deleted: number }> {
  const { store } = ports;
  const { catalogue } = store;
  const judge = () => {
    const entry = owned("memory", catalogue.find(id), userId);
    checkVersion(entry, ifVersion);
    const document = documentRootedAt(catalogue, entry);
    return { document, ids: document === undefined ? [id] : memoryIdsOf(ports, document) };
  };
  for (;;) {
    const { document, ids } = judge();
    const rows = await store.readRows(ids);
    const decide = function* (section: WriteSection): Steps<Decision<boolean>> {
      const now = judge();
      const isSame =
        now.document === document &&
        now.ids.join() === ids.join() &&
        ids.every((each) => catalogue.find(each)?.version === rows.get(each)?.version);
      // Changed since it was read: read it again.
      if (!isSame) return { changes: [], result: false };
      const changes: Change[] = [];
      for (const each of ids) {
        const entry = { root: id, document, by: deletedBy ?? null };
        changes.push(...trashing(ports, section, rows.get(each) as MemoryRow, entry));
        yield;
      }
      if (document !== undefined) changes.push(...documentRowsRemoval(ports, document.id));
      return { changes, result: true };
    };
    const isDone = await store.commit(
      document === undefined ? (section) => runAtOnce(decide(section)) : decide,
    );
    if (isDone) return { id, deleted: ids.length };
  }
}

function trashing(
  ports: Pick<MemoryPorts, "store" | "historyMs">,
  section: WriteSection,
  row: MemoryRow,
  { root, document, by }: { root: string; document: DocumentRow | undefined; by: string | null },
): Change[] {
  const { store } = ports;
  const { id } = row;
  const isRoot = id === root;
  const sourceOf = Array.from(store.catalogue.facts.fromMemory(id)).flatMap(({ versions }) =>
    versions.filter(({ sourceMemoryId }) => sourceMemoryId === id).map(factRowId),
  );
  return [
    ...keepVersion(ports, section, {
      memory: memoryOf(row),
      duplicateHash: row.duplicateHash,
      endedHow: "deleted",
      endedBy: by,
      deletedWith: isRoot ? null : root,
      document: (isRoot && document) || null,
      original: (isRoot && document?.sha256) || null,
      sourceOf,
    }),
    ...presentRemoval(ports, id),
  ];
}

/** The document whose first memory it is. */
export function documentRootedAt(
  { documents }: Pick<Catalogue, "documents">,
  entry: Pick<CatalogueEntry, "id" | "documentId">,
): DocumentRow | undefined {
  const document = entry.documentId === null ? undefined : documents.byId.get(entry.documentId);
  return document?.rootMemoryId === entry.id ? document : undefined;
}

/**
 * Entries of the trash, last deleted first; a document is one entry. `purgeAfter`: when it goes for good, if the clock goes on as it
 * does; `memories`: how many it brings back, several for a document.
 */
export async function listTrash(
  { store, historyMs }: Pick<MemoryPorts, "store" | "historyMs">,
  { userId, limit, offset }: { readonly userId?: string; readonly limit: number; readonly offset: number },
) {
  const { versions } = store.catalogue;
  // The others come back with the rest of their documents.
  const all = trashed(versions, userId).filter(({ deletedWith }) => deletedWith === null);
  all.sort((a, b) => b.endedAt - a.endedAt || (a.memoryId < b.memoryId ? 1 : -1));
  const wanted = all.slice(offset, offset + limit);
  const rows = await store.readVersions(wanted.map(({ id }) => id));
  const items = wanted.flatMap((entry) => {
    const row = rows.get(entry.id);
    if (row === undefined) return [];
    const memory: SeenMemory = { ...row.memory, ...row.signals, superseded: null };
    const { endedAt: deletedAt, endedBy: deletedBy, keptSince } = entry;
    const memories = partsOf(versions, entry).length;
    return [{ memory, deletedAt, deletedBy, purgeAfter: keptSince + historyMs, memories }];
  });
  return { items: fitting(items, ({ memory }) => charsOfMemory(memory)), total: all.length };
}

/** All that is in the trash, of one user or of everybody. */
const trashed = (versions: VersionReads, userId: string | undefined): VersionEntry[] =>
  [...versions.all()].filter(
    (entry) => entry.endedHow === "deleted" && (userId === undefined || entry.userId === userId),
  );

/** An entry of the trash and, where that is a document, the rest of it. */
export function partsOf(versions: VersionReads, root: VersionEntry): VersionEntry[] {
  return [root, ...trashedOf(versions, root).filter(({ deletedWith }) => deletedWith === root.memoryId)];
}

/** Memories of a document in the trash, with it or on their own before; none for an entry that is no document. */
function trashedOf(
  versions: VersionReads,
  { original, documentId }: Pick<VersionEntry, "original" | "documentId">,
): VersionEntry[] {
  if (original === null || documentId === null) return [];
  return [...versions.ofDocument(documentId)].filter(({ endedHow }) => endedHow === "deleted");
}

/** @throws {ServiceError} NOT_FOUND, FORBIDDEN; CONFLICT for a part of a document. */
export function entryOf({ store }: Pick<MemoryPorts, "store">, { id, userId }: OneRow): VersionEntry {
  const entry = owned("trash", store.catalogue.versions.deleted(id), userId);
  if (entry.deletedWith === null) return entry;
  throw conflict(
    `This memory went to the trash with its document; restore or delete that: ${entry.deletedWith}.`,
  );
}

/**
 * Removes an entry of the trash for good, with its earlier versions; with a document also its memories that were deleted
 * before it, which have no place to come back to. Answers how many memories.
 * @throws {ServiceError} NOT_FOUND, FORBIDDEN, CONFLICT.
 */
export async function eraseFromTrash(
  ports: Pick<MemoryPorts, "store">,
  input: OneRow,
): Promise<{ readonly id: string; readonly deleted: number }> {
  const { versions } = ports.store.catalogue;
  return await ports.store.commit(() => {
    const entry = entryOf(ports, input);
    const ids = new Set([entry, ...trashedOf(versions, entry)].map(({ memoryId }) => memoryId));
    const changes = [...ids].flatMap((id) => removalOf(versions.of(id)));
    return { changes, result: { id: input.id, deleted: ids.size } };
  });
}

/** Removes all that is in the trash for good, of one user or of everybody; answers how many memories. */
export async function emptyTrash(
  { store }: Pick<MemoryPorts, "store">,
  { userId }: { readonly userId?: string },
): Promise<{ readonly deleted: number }> {
  const { versions } = store.catalogue;
  return await store.commit(() => {
    const ids = trashed(versions, userId).map(({ memoryId }) => memoryId);
    return { changes: ids.flatMap((id) => removalOf(versions.of(id))), result: { deleted: ids.length } };
  });
}

/** Removes what is past its days, by the time that is believed; answers how many versions. */
export async function expireVersions(ports: Pick<MemoryPorts, "store" | "historyMs">): Promise<number> {
  const { store, historyMs } = ports;
  await store.lookAtClock();
  return await store.commit(({ believedNow }) => {
    const past = [...store.catalogue.versions.all()].filter(
      ({ keptSince }) => keptSince + historyMs <= believedNow,
    );
    return { changes: removalOf(past), result: past.length };
  });
}
