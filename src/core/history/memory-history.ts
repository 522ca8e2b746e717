import type { MemoryPorts } from "../memories/memory-ports.ts";
import { updateMemory } from "../memories/update-memory.ts";
import { CHANGEABLE, type Changeable, type Memory, type SeenMemory } from "../memory.ts";
import { missing, type OneRow, owned, visible } from "../owned.ts";
import { charsOfMemory, fitting } from "../page-end.ts";
import { originOf, removalOf } from "./keep-version.ts";

/**
 * The versions of a memory, newest first, the present one included, each with when and by whom it became the present one; the page
 * may end before its limit at 8 MiB. @throws {ServiceError} NOT_FOUND.
 */
export async function memoryHistory(
  { store }: Pick<MemoryPorts, "store">,
  { id, userId, limit, offset }: OneRow & { readonly limit: number; readonly offset: number },
) {
  visible("memory", store.catalogue.find(id), userId);
  const present = (await store.readMemories([id])).get(id);
  if (present === undefined) throw missing("memory");
  const kept = store.catalogue.versions.of(id);
  const earlier = kept.filter(({ version }) => version < present.version).reverse();
  const wanted = ["present" as const, ...earlier].slice(offset, offset + limit);
  const rows = await store.readVersions(wanted.flatMap((each) => (each === "present" ? [] : each.id)));
  const items = wanted.flatMap((each) => {
    const memory: Memory | undefined = each === "present" ? present : rows.get(each.id)?.memory;
    const { madeHow, madeBy } = each === "present" ? originOf(present, kept) : each;
    return memory === undefined
      ? []
      : [{ memory, changedAt: memory.updatedAt, changedBy: madeBy, change: madeHow }];
  });
  return { items: fitting(items, ({ memory }) => charsOfMemory(memory)), total: earlier.length + 1 };
}

interface RestoreVersionInput extends OneRow {
  readonly version: number;
  readonly ifVersion?: number;
  readonly changedBy?: string;
}

/** Makes an earlier version the present one, as a new version. @throws as `updateMemory`; NOT_FOUND. */
export async function restoreVersion(
  ports: MemoryPorts,
  { version, ...target }: RestoreVersionInput,
): Promise<SeenMemory> {
  const { store } = ports;
  const { id, userId } = target;
  const entry = owned("memory", store.catalogue.find(id), userId);
  if (entry.version === version) return await updateMemory(ports, { ...target });
  const kept = store.catalogue.versions.of(id).findLast((each) => each.version === version);
  const memory = kept && (await store.readVersions([kept.id])).get(kept.id)?.memory;
  if (memory === undefined) throw missing("version");
  const { primarySector, sectors } = memory;
  const changeable = Object.fromEntries(CHANGEABLE.map((name) => [name, memory[name]]));
  return await updateMemory(ports, {
    ...target,
    ...(changeable as Changeable),
    // The memories that it replaced may have been deleted since.
    supersedes: memory.supersedes.filter((other) => store.catalogue.find(other)?.userId === entry.userId),
    restored: { primarySector, sectors },
  });
}

/** Removes the earlier versions of a memory for good, and answers how many. @throws {ServiceError} NOT_FOUND, FORBIDDEN. */
export async function eraseHistory(
  { store }: Pick<MemoryPorts, "store">,
  { id, userId }: OneRow,
): Promise<{ readonly id: string; readonly deleted: number }> {
  return await store.commit(() => {
    owned("memory", store.catalogue.find(id), userId);
    const changes = removalOf(store.catalogue.versions.of(id));
    return { changes, result: { id, deleted: changes.length } };
  });
}
