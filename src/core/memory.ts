/** What a memory is: plain data, the same for every way in and every store. Times are epoch milliseconds UTC. */

export const SECTORS = ["semantic", "episodic", "procedural", "emotional", "reflective"] as const;
export type Sector = (typeof SECTORS)[number];

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
export type Metadata = { readonly [key: string]: JsonValue };

/** Where a memory that was cut from a document comes from, precise enough to cite. */
export interface MemorySource {
  readonly documentId: string;
  /** What the document is called as of reading: its row says so, where there is one. */
  readonly filename: string | null;
  readonly mediaType: string;
  /** Place among the document's chunks, from 0; of the root, which is none of them, −1. */
  readonly chunkIndex: number;
  readonly chunkCount: number;
  /** Where it begins, from 1. */
  readonly page?: number;
  /** The document's title and the headings it stands under, outermost first, joined by " › "; part of what is searched. */
  readonly section?: string;
  readonly startMs?: number;
  readonly endMs?: number;
  readonly url?: string;
}

/** Whose a record is. Null: nobody's, in no project. */
export interface Owned {
  readonly userId: string | null;
  readonly project: string | null;
}

/** The client that wrote a record; null: not known. */
export interface Written {
  readonly createdBy: string | null;
}

/** The same of a request, where what is not said is left out. */
export type Given<T> = { readonly [Name in keyof T]?: NonNullable<T[Name]> };

/** Those fields alone, with null for what is left out. */
export function ownerOf({ userId = null, project = null }: Partial<Owned>): Owned {
  return { userId, project };
}
export function writerOf({ createdBy = null }: Partial<Written>): Written {
  return { createdBy };
}

export interface Memory extends Owned, Written {
  /** UUIDv7. */
  readonly id: string;
  readonly content: string;
  readonly tags: readonly string[];
  readonly metadata: Metadata;
  readonly sessionId: string | null;
  /** When it happened, as the writer said; null when not said (then `createdAt` stands for it). */
  readonly occurredAt: number | null;
  readonly primarySector: Sector;
  /** The primary sector first, no repeats. */
  readonly sectors: readonly Sector[];
  /** Never goes back in the order of adding, but for memories that were restored from an export. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** 1 at first, + 1 with every change of content, tags, metadata, project or time. */
  readonly version: number;
  readonly source: MemorySource | null;
  /** Ids of the same user's memories that this one replaces, as its writer said. Of a row some may be gone; what is read names those that are here. */
  readonly supersedes: readonly string[];
  /** Place in the order of adding, store-wide, unique, from 1. */
  readonly order: number;
}

/** What changes about a memory by being used; kept apart, so that reading never rewrites the memory. */
export interface Signals {
  /** In [0, 1]; .5 at first. What is stored is the salience at `lastSeenAt`; readers see it faded since. */
  readonly salience: number;
  readonly lastSeenAt: number;
}

/** Why a memory no longer holds: it follows from other memories, and is gone when they are. */
export interface Supersession {
  /** Id of the memory of the same user that took its place; where several did, of the first one. */
  readonly by: string;
  /** When that one happened. */
  readonly at: number;
  /** `told`: the other memory names this one; `inferred`: it reads as a later word on the same thing. */
  readonly how: "told" | "inferred";
}

export interface SeenMemory extends Memory, Signals {
  /** Null while it holds. */
  readonly superseded: Supersession | null;
}

export const INITIAL_SALIENCE = 0.5;

/** When the memory happened, or, where nobody said, when it was added. */
export function occurredAtOf(memory: Pick<Memory, "occurredAt" | "createdAt">): number {
  return memory.occurredAt ?? memory.createdAt;
}
