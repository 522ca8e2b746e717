/** The domain's plain data, the same for http, mcp, cli and every store. Times are epoch milliseconds UTC. */

export const SECTORS = ["semantic", "episodic", "procedural", "emotional", "reflective"] as const;
export type Sector = (typeof SECTORS)[number];

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
export type Metadata = { readonly [key: string]: JsonValue };

/** A value to compare as JSON, whatever the order of its keys. */
export function sorted(value: JsonValue | Metadata): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  // Pairs, not an object: a key named __proto__ counts like any other.
  const pairs: [string, JsonValue][] = Object.entries(value);
  return { pairs: pairs.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, sorted(inner)]) };
}

/** The place in its document of a memory, precise enough to cite. */
export interface MemorySource {
  readonly documentId: string;
  /** The document's current name, where its row exists. */
  readonly filename: string | null;
  readonly mediaType: string;
  /** Place among the document's chunks, from 0; −1 for the root. */
  readonly chunkIndex: number;
  readonly chunkCount: number;
  /** The page where it begins, from 1. */
  readonly page?: number;
  /** The document's title and the headings it stands under, outermost first, joined by " › "; part of what is searched. */
  readonly section?: string;
  readonly startMs?: number;
  readonly endMs?: number;
  readonly url?: string;
}

/** The owner of a record. Null: without an owner; in no project. */
export type Owned = { readonly userId: string | null; readonly project: string | null };

/** Conditions on the owner of a record; all given ones must hold. */
export interface OwnerFilter {
  readonly userId?: string;
  /** Any of; null for records without a project. */
  readonly projects?: readonly (string | null)[];
}

export const isOwnedAs = ({ userId, projects }: OwnerFilter, row: Owned): boolean =>
  (userId === undefined || row.userId === userId) &&
  (projects === undefined || projects.includes(row.project));

/** The client that wrote a record; null: not known. */
export type Written = { readonly createdBy: string | null };

/** The fields of a request, where an absent value is left out. */
export type Given<T> = { readonly [Name in keyof T]?: NonNullable<T[Name]> };

/** These fields alone, with null for absent ones. */
export const ownerOf = ({ userId = null, project = null }: Partial<Owned>): Owned => ({ userId, project });
export const writerOf = ({ createdBy = null }: Partial<Written>): Written => ({ createdBy });

export interface Memory extends Owned, Written {
  /** UUIDv7. */
  readonly id: string;
  readonly content: string;
  readonly tags: readonly string[];
  readonly metadata: Metadata;
  readonly sessionId: string | null;
  /** When it happened, as given by the writer; null when not given (then `createdAt` counts). */
  readonly occurredAt: number | null;
  readonly primarySector: Sector;
  /** The primary sector first, no repeats. */
  readonly sectors: readonly Sector[];
  /** Never falls in the order of adding, but for memories restored from an export. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** 1 at first, + 1 with every change of content, tags, metadata, project or time. */
  readonly version: number;
  readonly source: MemorySource | null;
  /** Ids of the same user's memories that this one replaces, as given by the writer. A row may name deleted ones; reads leave them out. */
  readonly supersedes: readonly string[];
  /** Place in the order of adding, store-wide, unique, from 1. */
  readonly order: number;
}

/** The fields that a change may give and that bringing back a version restores. A new field belongs here, or never changes. */
export const CHANGEABLE = ["content", "tags", "metadata", "occurredAt", "project", "supersedes"] as const;
export type Changeable = Pick<Memory, (typeof CHANGEABLE)[number]>;

/** The fields that came after the first version of the store and of exports, with what memories without them have. */
export const LATER_FIELDS = { supersedes: [] } as const satisfies Partial<Memory>;

/** Values that change with use; kept apart, so that reading never rewrites the memory. */
export interface Signals {
  /** In [0, 1]; .5 at first. Stored as of `lastSeenAt`; reads fade it since then. */
  readonly salience: number;
  readonly lastSeenAt: number;
}

/** Why a memory no longer holds. Derived from other memories, and gone when they are deleted. */
export interface Supersession {
  /** Id of the memory of the same user that took its place; of several the first. */
  readonly by: string;
  /** When that memory happened. */
  readonly at: number;
  /** `told`: the other memory names this one; `inferred`: it reads as a later word on the same thing. */
  readonly how: "told" | "inferred";
}

export interface SeenMemory extends Memory, Signals {
  /** Null while it holds. */
  readonly superseded: Supersession | null;
}

export const INITIAL_SALIENCE = 0.5;

/** When the memory happened, or was added if no time was given. */
export const occurredAtOf = (memory: Pick<Memory, "occurredAt" | "createdAt">): number =>
  memory.occurredAt ?? memory.createdAt;

/** How far some work is: `done` of `total`, in what its stage counts; 0 where that is not known. */
export type Progress<Stage extends string> = {
  readonly stage: Stage;
  readonly done: number;
  readonly total: number;
};
