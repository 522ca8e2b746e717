import type { MemoryPorts } from "../memories/memory-ports.ts";
import { type Memory, type Signals } from "../memory.ts";
import type { WriteSection } from "../ports.ts";
import type { Change, Ending, VersionRow } from "../rows.ts";
import { nextVersionId, type VersionEntry } from "./version-index.ts";

/** Versions kept of one memory; then the oldest goes, so that what is changed every second does not fill the disk. */
const MAX_VERSIONS = 1_000;

/** The change that replaces a version. */
export interface Replacement {
  readonly how: Ending;
  /** The client; null: not known. */
  readonly by: string | null;
}

type OfTrash = Pick<VersionRow, "deletedWith" | "original" | "document" | "sourceOf">;

/** The present version of a memory, as it is before the change. */
export interface PresentVersion {
  readonly memory: Memory;
  readonly signals: Signals;
  readonly duplicateHash: string;
}

/** The changes that keep the present version of a memory, in the record that replaces or deletes it. None where none are kept. */
export function keepVersion(
  { store, historyMs }: Pick<MemoryPorts, "store" | "historyMs">,
  { now, believedNow }: WriteSection,
  { memory, signals, duplicateHash }: PresentVersion,
  { how, by }: Replacement,
  ofTrash: OfTrash = { deletedWith: null, original: null, document: null, sourceOf: [] },
): Change[] {
  if (historyMs === 0) return [];
  const { versions } = store.catalogue;
  const kept = versions.of(memory.id);
  const row: VersionRow = {
    memoryId: memory.id,
    userId: memory.userId,
    version: memory.version,
    createdAt: memory.createdAt,
    supersedes: memory.supersedes,
    ...originOf(memory, kept),
    endedHow: how,
    endedBy: by,
    endedAt: now,
    deletedAt: null,
    deletedBy: null,
    keptSince: believedNow,
    duplicateHash,
    memory,
    signals,
    documentId: memory.source?.documentId ?? null,
    ...ofTrash,
  };
  return [
    { table: "versions", id: nextVersionId(versions, memory.id), row },
    ...(kept.length < MAX_VERSIONS ? [] : removalOf(kept.slice(0, 1))),
  ];
}

/** How the present version of a memory came about, and through whom. @param kept the earlier ones, oldest first. */
export function originOf(
  { version, createdBy }: Pick<Memory, "version" | "createdBy">,
  kept: readonly VersionEntry[],
): Pick<VersionRow, "madeHow" | "madeBy"> {
  if (version === 1) return { madeHow: "created", madeBy: createdBy };
  const before = kept.at(-1);
  if (before?.version !== version - 1 || before.endedHow === "deleted")
    return { madeHow: "updated", madeBy: null };
  return { madeHow: before.endedHow === "undeleted" ? "restored" : before.endedHow, madeBy: before.endedBy };
}

/** The changes that remove kept versions for good. */
export const removalOf = (entries: Iterable<VersionEntry>): Change[] =>
  Array.from(entries, ({ id }): Change => ({ table: "versions", id, row: null }));
