import { contentKey, type DocumentFilter, type DocumentRow, type JobRow } from "./document.ts";
import { fitting, type OrderedPage, type PageRequest } from "../page-end.ts";
import type { Change } from "../rows.ts";

export type DocumentChange = Extract<Change, { table: "documents" | "jobs" }>;

export interface JobEntry extends JobRow {
  readonly id: string;
}

/** Synchronous reads of documents and jobs. */
export interface DocumentReads {
  readonly documentCount: number;
  /** All of them, in no order. */
  allDocuments(): Iterable<DocumentRow>;
  findDocument(id: string): DocumentRow | undefined;
  /** The document with those bytes, user and project; of several the first one added. */
  findByContent(key: Parameters<typeof contentKey>[0]): DocumentRow | undefined;
  findJob(id: string): JobEntry | undefined;
  /** The `order` of the next job. */
  readonly nextJobOrder: number;
  /** True while a document or an unfinished job needs the file with that SHA-256. */
  needsFile(sha256: string): boolean;
  /** SHA-256s of all such files. */
  neededFiles(): string[];
  /** True if a document deleted since the store was opened had that file: a checkpoint may still name it. */
  neededFile(sha256: string): boolean;
  pageOfDocuments(filter: DocumentFilter, page: PageRequest): OrderedPage<DocumentRow>;
  pageOfJobs(filter: DocumentFilter, page: PageRequest): OrderedPage<JobEntry>;
  /** Unfinished jobs, oldest first. */
  openJobs(): JobEntry[];
  /** All of them, in no order. */
  allJobs(): Iterable<JobEntry>;
  /** The user's documents, in no order. */
  documentsOf(userId: string): DocumentRow[];
}

/** Every document and job in memory, by id, by content and in order. */
export class DocumentIndex implements DocumentReads {
  readonly #documents = new Map<string, DocumentRow>();
  /** Several ids where a document was restored beside one of the same bytes. */
  readonly #byContent = new Map<string, Set<string>>();
  readonly #jobs = new Map<string, JobEntry>();
  readonly #users = new Map<string, number>();
  /** Originals of documents deleted since the store was opened. */
  readonly #former = new Set<string>();
  #lastJobOrder = 0;

  /** Applies a change, and returns a function that undoes it. */
  apply(change: DocumentChange): () => void {
    if (change.table === "documents") {
      const before = this.#documents.get(change.id) ?? null;
      this.#setDocument(change.id, change.row);
      return () => this.#setDocument(change.id, before);
    }
    const before = this.#jobs.get(change.id) ?? null;
    this.#setJob(change.id, change.row);
    return () => this.#setJob(change.id, before);
  }

  get documentCount(): number {
    return this.#documents.size;
  }

  allDocuments(): Iterable<DocumentRow> {
    return this.#documents.values();
  }

  findDocument(id: string): DocumentRow | undefined {
    return this.#documents.get(id);
  }

  findByContent(key: Parameters<typeof contentKey>[0]): DocumentRow | undefined {
    const [id] = this.#byContent.get(contentKey(key)) ?? [];
    return id === undefined ? undefined : this.#documents.get(id);
  }

  findJob(id: string): JobEntry | undefined {
    return this.#jobs.get(id);
  }

  get nextJobOrder(): number {
    return this.#lastJobOrder + 1;
  }

  needsFile(sha256: string): boolean {
    return this.#users.has(sha256);
  }

  neededFiles(): string[] {
    return [...this.#users.keys()];
  }

  neededFile(sha256: string): boolean {
    return this.#former.has(sha256);
  }

  pageOfDocuments(filter: DocumentFilter, page: PageRequest): OrderedPage<DocumentRow> {
    return pageOf(this.#documents.values(), filter, page, charsOfDocument);
  }

  pageOfJobs(filter: DocumentFilter, page: PageRequest): OrderedPage<JobEntry> {
    // A finished job is shown with its document.
    const charsOf = ({ documentId, problem }: JobEntry): number => {
      const document = documentId === null ? undefined : this.#documents.get(documentId);
      return ROW_CHARS + (problem?.message.length ?? 0) + (document ? charsOfDocument(document) : 0);
    };
    return pageOf(this.#jobs.values(), filter, page, charsOf);
  }

  openJobs(): JobEntry[] {
    return [...this.#jobs.values()]
      .filter(({ status }) => status === "queued")
      .sort((a, b) => a.order - b.order);
  }

  allJobs(): Iterable<JobEntry> {
    return this.#jobs.values();
  }

  documentsOf(userId: string): DocumentRow[] {
    return [...this.#documents.values()].filter((document) => document.userId === userId);
  }

  #setDocument(id: string, row: DocumentRow | null): void {
    const before = this.#documents.get(id);
    if (before !== undefined) {
      if (row === null) this.letGoOf(before.sha256);
      else this.#releaseFile(before.sha256);
      if (row === null || contentKey(row) !== contentKey(before)) this.#removeContent(before);
    }
    if (row === null) {
      this.#documents.delete(id);
      return;
    }
    this.#documents.set(id, row);
    this.#byContent.set(contentKey(row), (this.#byContent.get(contentKey(row)) ?? new Set()).add(id));
    this.holdFile(row.sha256);
  }

  #removeContent(document: DocumentRow): void {
    const key = contentKey(document);
    const ids = this.#byContent.get(key);
    ids?.delete(document.id);
    if (ids?.size === 0) this.#byContent.delete(key);
  }

  #setJob(id: string, row: JobRow | null): void {
    const before = this.#jobs.get(id);
    if (before?.request?.file) this.#releaseFile(before.request.file.sha256);
    if (row === null) {
      this.#jobs.delete(id);
      return;
    }
    this.#jobs.set(id, { ...row, id });
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
  { userId, projects }: DocumentFilter,
  { limit, offset, before = Infinity }: PageRequest,
  charsOf: (row: T) => number,
): OrderedPage<T> {
  const matching = [...rows]
    .filter((row) => userId === undefined || row.userId === userId)
    .filter((row) => projects === undefined || projects.includes(row.project))
    .sort((a, b) => b.order - a.order);
  const rest = matching.filter(({ order }) => order < before).slice(offset);
  const count = fitting(Math.min(limit, rest.length), (index) => charsOf(rest[index] as T));
  const items = rest.slice(0, count);
  const last = items.at(-1);
  const isMore = rest.length > count && last !== undefined;
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
