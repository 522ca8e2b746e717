import type { DocumentRow, JobRow } from "./document.ts";
import { isOwnedAs, type OwnerFilter } from "../memory.ts";
import { fitting, type OrderedPage, type PageRequest } from "../page-end.ts";
import type { Change } from "../rows.ts";

export type DocumentChange = Extract<Change, { table: "documents" | "jobs" }>;

export interface JobEntry extends JobRow {
  readonly id: string;
}

/** The change that stores a job. */
export const jobChange = ({ id, ...row }: JobEntry): Change => ({ table: "jobs", id, row });

/** Synchronous reads of documents and jobs. */
export interface DocumentReads extends Omit<
  DocumentIndex,
  "apply" | "holdFile" | "letGoOf" | "byId" | "jobs"
> {
  readonly byId: ReadonlyMap<string, DocumentRow>;
  readonly jobs: ReadonlyMap<string, JobEntry>;
}

/** Every document and job in memory. */
export class DocumentIndex {
  readonly byId = new Map<string, DocumentRow>();
  readonly jobs = new Map<string, JobEntry>();
  readonly #users = new Map<string, number>();
  /** Originals of documents deleted since the store was opened. */
  readonly #former = new Set<string>();
  #lastJobOrder = 0;

  /** Applies a change, and returns a function that undoes it. */
  apply(change: DocumentChange): () => void {
    const { id } = change;
    if (change.table === "documents") {
      const before = this.byId.get(id) ?? null;
      this.#setDocument(id, change.row);
      return () => this.#setDocument(id, before);
    }
    const before = this.jobs.get(id) ?? null;
    this.#setJob(id, change.row);
    return () => this.#setJob(id, before);
  }

  /** The document with those bytes, user and project; of several the first one added. Cost: linear in all documents. */
  findByContent({
    sha256,
    userId,
    project,
  }: Pick<DocumentRow, "sha256" | "userId" | "project">): DocumentRow | undefined {
    for (const row of this.byId.values())
      if (row.sha256 === sha256 && row.userId === userId && row.project === project) return row;
    return undefined;
  }

  /** The `order` of the next job. */
  get nextJobOrder(): number {
    return this.#lastJobOrder + 1;
  }

  /** True while a document or an unfinished job needs the file with that SHA-256. */
  needsFile(sha256: string): boolean {
    return this.#users.has(sha256);
  }

  /** SHA-256s of all such files. */
  neededFiles(): string[] {
    return [...this.#users.keys()];
  }

  /** True if a document deleted since the store was opened had that file: a checkpoint may still name it. */
  neededFile(sha256: string): boolean {
    return this.#former.has(sha256);
  }

  pageOfDocuments(filter: OwnerFilter, page: PageRequest): OrderedPage<DocumentRow> {
    return pageOf(this.byId.values(), filter, page, charsOfDocument);
  }

  pageOfJobs(filter: OwnerFilter, page: PageRequest): OrderedPage<JobEntry> {
    // A finished job is shown with its document.
    const charsOf = ({ documentId, problem }: JobEntry): number => {
      const document = this.byId.get(documentId ?? "");
      return ROW_CHARS + (problem?.message.length ?? 0) + (document ? charsOfDocument(document) : 0);
    };
    return pageOf(this.jobs.values(), filter, page, charsOf);
  }

  /** Unfinished jobs, oldest first. */
  openJobs(): JobEntry[] {
    return [...this.jobs.values()]
      .filter(({ status }) => status === "queued")
      .sort((a, b) => a.order - b.order);
  }

  /** The user's documents, in no order. */
  documentsOf(userId: string): DocumentRow[] {
    return [...this.byId.values()].filter((document) => document.userId === userId);
  }

  #setDocument(id: string, row: DocumentRow | null): void {
    const before = this.byId.get(id);
    if (row === null) this.byId.delete(id);
    else {
      this.byId.set(id, row);
      this.holdFile(row.sha256);
    }
    if (before === undefined) return;
    if (row === null) this.letGoOf(before.sha256);
    else this.#releaseFile(before.sha256);
  }

  #setJob(id: string, row: JobRow | null): void {
    const before = this.jobs.get(id);
    if (before?.request?.file) this.#releaseFile(before.request.file.sha256);
    if (row === null) {
      this.jobs.delete(id);
      return;
    }
    this.jobs.set(id, { ...row, id });
    this.#lastJobOrder = Math.max(this.#lastJobOrder, row.order);
    if (row.request?.file) this.holdFile(row.request.file.sha256);
  }

  /** Something needs the file. */
  holdFile(sha256: string): void {
    this.#users.set(sha256, (this.#users.get(sha256) ?? 0) + 1);
  }

  /** No row needs it any more, but a checkpoint may still name it. */
  letGoOf(sha256: string): void {
    this.#former.add(sha256);
    this.#releaseFile(sha256);
  }

  #releaseFile(sha256: string): void {
    const left = (this.#users.get(sha256) ?? 0) - 1;
    if (left > 0) this.#users.set(sha256, left);
    else this.#users.delete(sha256);
  }
}

function pageOf<T extends Pick<DocumentRow, "userId" | "project" | "order">>(
  rows: Iterable<T>,
  filter: OwnerFilter,
  { limit, offset, before = Infinity }: PageRequest,
  charsOf: (row: T) => number,
): OrderedPage<T> {
  const matching = [...rows].filter((row) => isOwnedAs(filter, row)).sort((a, b) => b.order - a.order);
  const rest = matching.filter(({ order }) => order < before).slice(offset);
  const items = fitting(rest.slice(0, limit), charsOf);
  const last = items.at(-1);
  const isMore = rest.length > items.length && last !== undefined;
  return { items, total: matching.length, ...(isMore && { nextBefore: last.order }) };
}

/** Characters of a row's names, quotes and numbers in JSON. */
const ROW_CHARS = 1_000;
/** A UUID in quotes, and a comma. */
const ID_CHARS = 39;

function charsOfDocument({ memoryIds, filename, url, tags, metadata, extraction }: DocumentRow): number {
  const texts = JSON.stringify([filename, url, tags, metadata, extraction]);
  return ROW_CHARS + memoryIds.length * ID_CHARS + texts.length;
}
