import type { Change, VersionRow } from "../rows.ts";

/** The part of a version that is held in memory. */
export interface VersionEntry extends Omit<VersionRow, "memory" | "signals" | "document" | "sourceOf"> {
  /** `memoryId:number`; numbers grow with each version that is kept. */
  readonly id: string;
}

export type VersionChange = Extract<Change, { table: "versions" }>;

/** Synchronous reads of the versions that are kept. */
export type VersionReads = Omit<VersionIndex, "load" | "apply">;

/** The index that keeps originals: `DocumentIndex`. */
interface Originals {
  holdFile(sha256: string): void;
  letGoOf(sha256: string): void;
}

/** Every kept version, without its text, by memory. */
export class VersionIndex {
  readonly #byMemory = new Map<string, VersionEntry[]>();
  readonly #byDocument = new Map<string, Map<string, VersionEntry>>();
  readonly #originals: Originals;

  constructor(originals: Originals) {
    this.#originals = originals;
  }

  /** Oldest first. */
  of(memoryId: string): readonly VersionEntry[] {
    return this.#byMemory.get(memoryId) ?? [];
  }

  /** The version of a memory that is in the trash. */
  deleted(memoryId: string): VersionEntry | undefined {
    return this.of(memoryId).findLast(({ endedHow }) => endedHow === "deleted");
  }

  /** Versions of a document's memories, the document stored or not; in no order. */
  ofDocument(documentId: string): Iterable<VersionEntry> {
    return this.#byDocument.get(documentId)?.values() ?? [];
  }

  /** All of them, in no order. */
  *all(): Iterable<VersionEntry> {
    for (const entries of this.#byMemory.values()) yield* entries;
  }

  /** For filling at open. */
  load(entry: VersionEntry): void {
    this.#set(entry.id, undefined, entryOf(entry.id, entry));
  }

  /** Applies a change, and returns a function that undoes it. */
  apply({ id, row }: VersionChange): () => void {
    const before = this.of(memoryOfVersion(id)).find((entry) => entry.id === id);
    const after = row === null ? undefined : entryOf(id, row);
    this.#set(id, before, after);
    return () => this.#set(id, after, before);
  }

  #set(id: string, before: VersionEntry | undefined, after: VersionEntry | undefined): void {
    const memoryId = memoryOfVersion(id);
    const entries = this.of(memoryId).filter((entry) => entry.id !== id);
    if (after !== undefined) entries.push(after);
    if (entries.length === 0) this.#byMemory.delete(memoryId);
    else
      this.#byMemory.set(
        memoryId,
        entries.sort((a, b) => numberOf(a.id) - numberOf(b.id)),
      );
    this.#setOfDocument(id, before, after);
    // Held first: it may be the same.
    if (typeof after?.original === "string") this.#originals.holdFile(after.original);
    if (typeof before?.original === "string") this.#originals.letGoOf(before.original);
  }

  #setOfDocument(id: string, before: VersionEntry | undefined, after: VersionEntry | undefined): void {
    const documentId = (after ?? before)?.documentId ?? null;
    if (documentId === null) return;
    const entries = this.#byDocument.get(documentId) ?? new Map<string, VersionEntry>();
    if (after === undefined) entries.delete(id);
    else entries.set(id, after);
    if (entries.size === 0) this.#byDocument.delete(documentId);
    else this.#byDocument.set(documentId, entries);
  }
}

/** The id under which the next version of a memory is kept. */
export function nextVersionId(versions: Pick<VersionReads, "of">, memoryId: string): string {
  const last = versions.of(memoryId).at(-1);
  return `${memoryId}:${last === undefined ? 1 : numberOf(last.id) + 1}`;
}

const memoryOfVersion = (id: string): string => id.slice(0, id.lastIndexOf(":"));

const numberOf = (id: string): number => Number(id.slice(id.lastIndexOf(":") + 1));

/** The row without its text, which is not held. */
function entryOf(id: string, row: Omit<VersionEntry, "id"> & Partial<VersionRow>): VersionEntry {
  const { memory: _memory, signals: _signals, document: _document, sourceOf: _sourceOf, ...held } = row;
  return { ...held, id };
}
