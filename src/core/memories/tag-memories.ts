import { mapAtOnce } from "../at-once.ts";
import { invalidRequest, refusedOr, ServiceError } from "../errors.ts";
import { checkVersion, visible } from "../owned.ts";
import type { MemoryPorts } from "./memory-ports.ts";
import { updateMemory } from "./update-memory.ts";

export interface TagMemoriesInput {
  /** Each once; `ifVersion` as of `UpdateMemoryInput`. */
  readonly memories: readonly { readonly id: string; readonly ifVersion?: number }[];
  readonly add: readonly string[];
  readonly remove: readonly string[];
  /** Another user's memory is NOT_FOUND. */
  readonly userId?: string;
  readonly changedBy?: string;
}

export interface TaggedMemory {
  readonly id: string;
  readonly version: number;
  readonly tags: readonly string[];
  /** False: it had those tags already; it keeps its version. */
  readonly changed: boolean;
}

const MAX_TAGS = 64;
/** They share syncs of the disk. */
const AT_ONCE = 32;

/**
 * Adds and removes tags, for each memory in a write of its own: tagged whole, or refused and unchanged. The versions before
 * are kept as by `updateMemory`. Doing it twice changes nothing more.
 *
 * @returns as many as memories, in the same order.
 */
export async function tagMemories(
  ports: MemoryPorts,
  { memories, ...input }: TagMemoriesInput,
): Promise<{ readonly results: readonly (TaggedMemory | ServiceError)[] }> {
  return { results: await mapAtOnce(memories, AT_ONCE, (memory) => refusedOr(tagOne(ports, memory, input))) };
}

async function tagOne(
  ports: MemoryPorts,
  { id, ifVersion }: TagMemoriesInput["memories"][number],
  { add, remove, userId, changedBy }: Omit<TagMemoriesInput, "memories">,
): Promise<TaggedMemory> {
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
