import * as compose from "./compose-memory.ts";
import type { MemoryPorts } from "./memory-ports.ts";
import type { Changeable, SeenMemory } from "../memory.ts";
import { checkVersion, missing, type OneRow, owned, visible } from "../owned.ts";
import { type Change, memoryOf } from "../rows.ts";
import { keepVersion } from "../history/keep-version.ts";
import { checkSupersedes } from "./supersede.ts";
import { rejectUpdates, removeEdges } from "./waypoints.ts";
import { mapAtOnce } from "../at-once.ts";
import { invalidRequest, refusedOr, ServiceError } from "../errors.ts";

/** A field that is given replaces the whole; null clears. */
export interface UpdateMemoryInput extends OneRow, Partial<Changeable> {
  /** True: the memory still holds. Inferred updates of it are rejected and not inferred again. */
  readonly stillHolds?: boolean;
  /** The version that the caller saw; VERSION_MISMATCH if it has changed. */
  readonly ifVersion?: number;
  /** The client that changes it. */
  readonly changedBy?: string;
}

/** The sectors of an earlier version that a change makes the present one again. */
type Restoring = { readonly restored: Pick<SeenMemory, "primarySector" | "sectors"> };

/**
 * Changes a memory; new content is embedded and classified again. Without fields nothing changes.
 *
 * The version before is kept, see `keepVersion`. Two concurrent changes without `ifVersion` are applied one after the other.
 * @throws {ServiceError} NOT_FOUND, FORBIDDEN, VERSION_MISMATCH, MODEL_UNAVAILABLE, STORE_FULL, NOT_READY.
 */
export async function updateMemory(
  ports: MemoryPorts,
  input: UpdateMemoryInput & Partial<Restoring>,
): Promise<SeenMemory> {
  const { store, embedder, classify, sha256, followUps, nextTurn } = ports;
  const { id, userId, ifVersion, stillHolds = false, changedBy = null, restored, ...given } = input;
  const fields = { ...given, ...(given.supersedes && { supersedes: [...new Set(given.supersedes)] }) };
  const found = owned("memory", store.catalogue.find(id), userId);
  checkVersion(found, ifVersion);
  if (stillHolds) await followUps.settle();

  const { content } = fields;
  const isNew = content !== undefined;
  // The source of a chunk never changes.
  const source = isNew && found.documentId !== null ? (await store.readMemories([id])).get(id)?.source : null;
  const embedding = isNew
    ? await embedder.embedDocument(compose.embeddedText({ content, source: source ?? null }))
    : undefined;
  await nextTurn();
  const sectors =
    content === undefined || embedding === undefined
      ? undefined
      : (restored ?? compose.sectorsOf(classify, content, embedding));

  for (;;) {
    const memory = (await store.readMemories([id])).get(id);
    if (memory === undefined) throw missing("memory");
    const isChanged = Object.keys(fields).length > 0;
    if (!isChanged && !stillHolds) return memory;

    const { salience: _salience, lastSeenAt: _seen, superseded: _by, ...before } = memory;
    const hashBefore = compose.duplicateHash(sha256, before);
    const changed = { ...before, ...fields, ...sectors };
    await nextTurn();
    const read = isChanged ? compose.readText(changed, changed.createdAt) : undefined;

    const written = await store.commit((section) => {
      const entry = owned("memory", store.catalogue.find(id), userId);
      checkVersion(entry, ifVersion);
      // The row was changed since it was read: read it again.
      if (entry.version !== memory.version) return { changes: [], result: undefined };
      const rejected = stillHolds ? rejectUpdates(store.catalogue, id) : [];
      const supersession = store.catalogue.supersession(entry.ordinal) ?? null;
      const superseded = stillHolds && supersession?.how === "inferred" ? null : supersession;
      if (!isChanged) return { changes: rejected, result: { ...memory, superseded } };
      if (fields.supersedes !== undefined)
        checkSupersedes(store.catalogue, entry.userId, fields.supersedes, id);
      const duplicate = compose.duplicateHash(sha256, changed);
      const row = compose.withDerived(
        { ...changed, updatedAt: section.now, version: memory.version + 1, duplicateHash: duplicate },
        read,
      );
      const changes: Change[] = [
        { table: "memories", id, row },
        ...keepVersion(ports, section, {
          memory: before,
          duplicateHash: hashBefore,
          endedHow: restored === undefined ? "updated" : "restored",
          endedBy: changedBy,
        }),
        ...rejected,
      ];
      if (embedding !== undefined) {
        const outdated = store.catalogue
          .edgesOf(id)
          .filter(({ kind, weight }) => kind === "updates" && weight > 0);
        changes.push(...compose.embeddingChanges(id, row.userId, embedding), ...removeEdges(outdated));
      }
      const { salience, lastSeenAt } = entry;
      return { changes, result: { ...memoryOf(row), salience, lastSeenAt, superseded } };
    });
    if (written === undefined) continue;
    if (isNew) followUps.added(id);
    return written;
  }
}

export interface TagMemoriesInput {
  /** Each once; `ifVersion` as of `UpdateMemoryInput`. */
  readonly memories: readonly { readonly id: string; readonly ifVersion?: number }[];
  readonly add: readonly string[];
  readonly remove: readonly string[];
  /** Another user's memory is NOT_FOUND. */
  readonly userId?: string;
  readonly changedBy?: string;
}

const MAX_TAGS = 64;
/** They share syncs of the disk. */
const AT_ONCE = 32;

/**
 * Adds and removes tags, for each memory in a write of its own: tagged whole, or refused and unchanged. The versions before
 * are kept as by `updateMemory`. Doing it twice changes nothing more.
 * @returns as many as memories, in the same order; not `changed`: it had those tags already, and keeps its version.
 */
export async function tagMemories(ports: MemoryPorts, { memories, ...input }: TagMemoriesInput) {
  return { results: await mapAtOnce(memories, AT_ONCE, (memory) => refusedOr(tagOne(ports, memory, input))) };
}

async function tagOne(
  ports: MemoryPorts,
  { id, ifVersion }: TagMemoriesInput["memories"][number],
  { add, remove, userId, changedBy }: Omit<TagMemoriesInput, "memories">,
) {
  for (;;) {
    const entry = visible("memory", ports.store.catalogue.find(id), userId);
    checkVersion(entry, ifVersion);
    const tags = [...new Set([...entry.tags.filter((tag) => !remove.includes(tag)), ...add])];
    if (tags.length === entry.tags.length && entry.tags.every((tag) => tags.includes(tag)))
      return { id, version: entry.version, tags: entry.tags, changed: false };
    if (tags.length > MAX_TAGS)
      throw invalidRequest(`It would have ${tags.length} tags; ${MAX_TAGS} is the most. Remove some first.`);
    const updated = await refusedOr(
      updateMemory(ports, {
        id,
        tags,
        ifVersion: entry.version,
        ...(changedBy !== undefined && { changedBy }),
      }),
    );
    if (!(updated instanceof ServiceError))
      return { id, version: updated.version, tags: updated.tags, changed: true };
    // Somebody else changed it between the look and the write.
    if (updated.code !== "VERSION_MISMATCH" || ifVersion !== undefined) throw updated;
  }
}
