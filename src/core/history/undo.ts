import { mapAtOnce } from "../at-once.ts";
import { conflict, invalidRequest, ServiceError } from "../errors.ts";
import type { MemoryPorts } from "../memories/memory-ports.ts";
import type { Catalogue, CatalogueEntry } from "../ports.ts";
import { restoreVersion } from "./memory-history.ts";
import { restoreFromTrash } from "./restore-from-trash.ts";
import { documentRootedAt, trashMemory } from "./trash.ts";
import type { VersionEntry } from "./version-index.ts";

const DEFAULT_SINCE_MS = 2 * 3_600_000;
const TEXT_CHARS = 200;
/** They share embeddings and syncs of the disk. */
const AT_ONCE = 32;
/** Deleted memories first, because others may be parts of their documents. */
const ORDER = ["deleted", "updated", "restored", "added"] as const;

export interface UndoInput {
  readonly userId?: string;
  /** The client whose changes are meant; null: clients that are not known; left out: everybody. */
  readonly client?: string | null;
  /** Changes at that moment or later; two hours ago if left out. */
  readonly since?: number;
  /** Changes of these kinds only; all if left out. */
  readonly kinds?: readonly UndoneChange["kind"][];
  /** Only says what it would do. */
  readonly dryRun: boolean;
  readonly undoneBy?: string;
}

/** Keeps undos that have begun over a crash. */
export interface UndoLog {
  /** Durable when it resolves, until what it answers is called. */
  begin(input: UndoInput & { readonly since: number }): Promise<() => Promise<void>>;
}

export interface UndoPorts extends MemoryPorts {
  /** Absent where nothing outlives a crash. */
  readonly undos?: UndoLog | undefined;
}

/** A memory and what was done to it; of a document its first memory. */
export interface UndoneChange {
  readonly kind: (typeof ORDER)[number];
  readonly id: string;
  /** The beginning of its present text. */
  readonly text: string;
  /** Whether it was, or with `dryRun` would be, taken back. */
  readonly done: boolean;
  readonly reason?: string;
}

interface Plan extends Pick<UndoneChange, "kind" | "id" | "reason"> {
  /** The version to go back to; undefined: the memory was not there. */
  readonly target: VersionEntry | undefined;
  /** The version that must still be the present one. */
  readonly ifVersion: number | undefined;
}

/**
 * Takes back what a client did to memories since a moment: what it added goes to the trash, what it changed becomes as it was
 * before its first change, what it deleted comes back. What others changed after that is left as it is. Doing it twice
 * changes nothing more; what was deleted for good does not come back. One that is cut short is finished by doing it again with the same
 * `since`; where `undos` are kept, the next start does that.
 * @throws {ServiceError} INVALID_REQUEST for a time to come; CONFLICT where no earlier versions are kept.
 */
export async function undoChanges(ports: UndoPorts, input: UndoInput): Promise<UndoneChange[]> {
  if (ports.historyMs === 0)
    throw conflict("Nothing can be taken back: earlier versions are not kept (--history-days 0).");
  const { store, clock } = ports;
  const since = input.since ?? clock.now() - DEFAULT_SINCE_MS;
  if (since > clock.now())
    throw invalidRequest(
      `Changes can only be taken back since a time that has passed; got ${new Date(since).toISOString()}.`,
    );
  // An empty write waits for the writes it sees: none of them is refused after all.
  const plans = await store.commit(() => ({ changes: [], result: planUndo(store.catalogue, input, since) }));
  const texts = await textsOf(ports, plans);
  const takeOneBack = async (plan: Plan): Promise<UndoneChange> => {
    const { kind, id } = plan;
    const reason = plan.reason ?? (input.dryRun ? undefined : await takeBack(ports, plan, input.undoneBy));
    const text = texts.get(id) ?? "";
    return { kind, id, text, done: reason === undefined, ...(reason !== undefined && { reason }) };
  };
  const end = input.dryRun || plans.length === 0 ? undefined : await ports.undos?.begin({ ...input, since });
  try {
    const done: UndoneChange[] = [];
    for (const kind of ORDER.filter((each) => input.kinds?.includes(each) ?? true)) {
      const alike = plans.filter((plan) => plan.kind === kind);
      done.push(...(await mapAtOnce(alike, AT_ONCE, takeOneBack)));
    }
    return done;
  } finally {
    await end?.();
  }
}

function planUndo(catalogue: Catalogue, input: UndoInput, since: number): Plan[] {
  const { client, userId } = input;
  const isMeant = (by: string | null) => client === undefined || by === client;
  const touched = new Set<string>();
  for (const entry of catalogue.versions.all())
    if (entry.endedAt >= since && isMeant(entry.endedBy) && (userId === undefined || entry.userId === userId))
      touched.add(entry.deletedWith ?? entry.memoryId);
  const filter = { createdFrom: since, ...(userId !== undefined && { userId }) };
  for (const ordinal of catalogue.select(filter).list()) {
    const entry = catalogue.at(ordinal);
    if (entry !== undefined && isMeant(entry.createdBy)) touched.add(whole(catalogue, entry, since));
  }
  return [...touched].flatMap((id) => planOf(catalogue, id, since, isMeant) ?? []);
}

/** The memory that stands for what was added: of a new document the first. */
function whole({ documents }: Catalogue, entry: CatalogueEntry, since: number): string {
  const document = entry.documentId === null ? undefined : documents.byId.get(entry.documentId);
  if (document === undefined || document.createdAt < since) return entry.id;
  return document.rootMemoryId;
}

function planOf(
  catalogue: Catalogue,
  id: string,
  since: number,
  isMeant: (by: string | null) => boolean,
): Plan | undefined {
  const entry = catalogue.find(id);
  const kept = catalogue.versions.of(id);
  const deleted = entry === undefined ? catalogue.versions.deleted(id) : undefined;
  if (entry === undefined && deleted === undefined) return undefined;
  const [oldest] = kept;
  const isAdded =
    entry === undefined
      ? oldest?.madeHow === "created" && oldest.createdAt >= since && isMeant(oldest.madeBy)
      : entry.createdAt >= since && isMeant(entry.createdBy);
  const from = isAdded ? 0 : kept.findIndex((each) => each.endedAt >= since && isMeant(each.endedBy));
  const first = kept[from];
  // A memory that came back had been there where its deletion is taken back too.
  const isBack =
    first?.endedHow === "undeleted" && !((first.deletedAt ?? 0) >= since && isMeant(first.deletedBy));
  const wasThere = !isAdded && !isBack;
  if (wasThere ? first === undefined || isAsBefore(catalogue, entry, first) : entry === undefined)
    return undefined;
  const kind = isAdded
    ? "added"
    : !wasThere
      ? "restored"
      : deleted?.deletedWith === null
        ? "deleted"
        : "updated";
  const parts = wasThere || entry === undefined ? undefined : documentRootedAt(catalogue, entry)?.memoryIds;
  const other = [kept.slice(from), ...(parts ?? []).map((part) => catalogue.versions.of(part))].flat().find(
    ({ endedAt, endedBy, endedHow }) =>
      // An undo may have been cut short after it took a memory back from the trash.
      endedAt >= since && !isMeant(endedBy) && !(wasThere && endedHow === "undeleted"),
  );
  return {
    kind,
    id,
    target: wasThere ? first : undefined,
    ifVersion: entry?.version,
    ...(other !== undefined && { reason: `${other.endedBy ?? "somebody else"} changed it since.` }),
  };
}

function isAsBefore(catalogue: Catalogue, entry: CatalogueEntry | undefined, target: VersionEntry): boolean {
  if (entry === undefined) return false;
  const present = (ids: readonly string[]) => ids.filter((id) => catalogue.find(id) !== undefined).join();
  return (
    catalogue.duplicatesOf(target.duplicateHash).includes(entry.ordinal) &&
    present(entry.supersedes) === present(target.supersedes)
  );
}

/** Takes one change back; answers why it could not. */
async function takeBack(
  ports: MemoryPorts,
  { kind, id, target, ifVersion }: Plan,
  by: string | undefined,
): Promise<string | undefined> {
  const present = ifVersion === undefined ? { id } : { id, ifVersion };
  const who = by === undefined ? {} : { changedBy: by, deletedBy: by, restoredBy: by };
  try {
    if (kind === "added" || kind === "restored") await trashMemory(ports, { ...present, ...who });
    if (kind === "deleted") await restoreFromTrash(ports, { id, ...who });
    if (target === undefined) return undefined;
    const entry = ports.store.catalogue.find(id);
    if (!isAsBefore(ports.store.catalogue, entry, target))
      await restoreVersion(ports, {
        ...(kind === "deleted" ? { id } : present),
        version: target.version,
        ...who,
      });
    return undefined;
  } catch (error) {
    if (error instanceof ServiceError) return error.message;
    throw error;
  }
}

async function textsOf({ store }: MemoryPorts, plans: readonly Plan[]): Promise<ReadonlyMap<string, string>> {
  const { catalogue } = store;
  const texts = new Map<string, string>();
  const beginning = (text: string) => text.slice(0, TEXT_CHARS).replace(/[\uD800-\uDBFF]$/, "");
  const ids = plans.map(({ id }) => id);
  for (const [id, { content }] of await store.readRows(ids)) texts.set(id, beginning(content));
  const trashed = ids.flatMap((id) => (texts.has(id) ? [] : (catalogue.versions.deleted(id)?.id ?? [])));
  for (const { memory } of (await store.readVersions(trashed)).values())
    texts.set(memory.id, beginning(memory.content));
  return texts;
}
