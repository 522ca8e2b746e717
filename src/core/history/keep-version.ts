import type { MemoryPorts } from "../memories/memory-ports.ts";
import type { Memory } from "../memory.ts";
import type { WriteSection } from "../ports.ts";
import type { Change, VersionRow } from "../rows.ts";
import { nextVersionId, type VersionEntry } from "./version-index.ts";

/** Versions kept of one memory; then the oldest goes, so that what is changed every second does not fill the disk. */
const MAX_VERSIONS = 1_000;

/** The present version of a memory, as it is before the change, and the change; of the trash what is known. */
type EndingVersion = Pick<VersionRow, "memory" | "duplicateHash" | "endedHow" | "endedBy"> &
  Partial<Pick<VersionRow, "deletedWith" | "original" | "document" | "sourceOf">>;

/** The changes that keep the present version of a memory, in the record that replaces or deletes it. None where none are kept. */
export function keepVersion(
  { store, historyMs }: Pick<MemoryPorts, "store" | "historyMs">,
  { now, believedNow }: WriteSection,
  ending: EndingVersion,
): Change[] {
  if (historyMs === 0) return [];
  const { memory } = ending;
  const { versions } = store.catalogue;
  const kept = versions.of(memory.id);
  const row: VersionRow = {
    memoryId: memory.id,
    userId: memory.userId,
    version: memory.version,
    createdAt: memory.createdAt,
    supersedes: memory.supersedes,
    ...originOf(memory, kept),
    endedAt: now,
    deletedAt: null,
    deletedBy: null,
    keptSince: believedNow,
    signals: store.catalogue.signalsOf(memory.id) ?? { salience: 0, lastSeenAt: memory.createdAt },
    documentId: memory.source?.documentId ?? null,
    deletedWith: null,
    original: null,
    document: null,
    sourceOf: [],
    ...ending,
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
