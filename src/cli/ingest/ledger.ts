import { forgetIngested, lookOfIngested, noteIngested, readIngested } from "../../ingested-files.ts";

/** A file that was taken in: whose, from where, and the document that holds its bytes. */
export interface LedgerEntry {
  /** Absolute. */
  readonly path: string;
  readonly user: string | null;
  readonly project: string | null;
  readonly documentId: string;
  readonly sha256: string;
  /** The document was made for a file; false where its bytes were there already, sent by somebody else. */
  readonly isOwn: boolean;
}

/** For whom files are taken in; a path may stand for different documents of different users. */
export type LedgerScope = Pick<LedgerEntry, "user" | "project">;

/**
 * Which file became which document. The store knows a document by its bytes, and two files may hold the same: only here
 * stands that both do, so that the document goes with the last of them and not with the first. Lost, it costs no
 * memory: files are recognised by their bytes again, and nothing is removed of which it knows nothing.
 *
 * Another command may take in files beside this one: what it wrote is seen by the next look.
 */
export class Ledger {
  readonly #dataDir: string;
  readonly #scope: LedgerScope;
  #entries = new Map<string, LedgerEntry>();
  #look: string | undefined;

  /** What was taken in for a scope. */
  constructor(dataDir: string, scope: LedgerScope) {
    this.#dataDir = dataDir;
    this.#scope = scope;
    this.#readAnew();
  }

  get(path: string): LedgerEntry | undefined {
    return this.#now().get(path);
  }

  paths(): string[] {
    return [...this.#now().keys()];
  }

  /** The paths that a document stands for. */
  pathsOf(documentId: string): string[] {
    return [...this.#now().values()]
      .filter((entry) => entry.documentId === documentId)
      .map(({ path }) => path);
  }

  /** True for a document that was made for a file. */
  isOwn(documentId: string): boolean {
    return [...this.#now().values()].some((entry) => entry.documentId === documentId && entry.isOwn);
  }

  async set(path: string, document: Pick<LedgerEntry, "documentId" | "sha256" | "isOwn">): Promise<void> {
    const { documentId, sha256, isOwn } = document;
    const line = { path, ...this.#scope, document: documentId, sha256, own: isOwn };
    await this.#note(line, () => this.#entries.set(path, { path, ...this.#scope, ...document }));
  }

  async remove(path: string): Promise<void> {
    if (this.get(path) === undefined) return;
    await this.#note({ path, ...this.#scope, document: null }, () => this.#entries.delete(path));
  }

  /** Takes what was removed or replaced off the disk. */
  async tidy(): Promise<void> {
    await forgetIngested(this.#dataDir);
  }

  /**
   * Forgets documents that are there no more. What is made while `list` looks is not taken for such: it asks only for
   * those that were known before.
   */
  async forgetGone(list: () => Promise<{ has(documentId: string): boolean }>): Promise<void> {
    const before = new Set([...this.#now().values()].map(({ documentId }) => documentId));
    const documents = await list();
    await forgetIngested(this.#dataDir, ({ document }) => !before.has(document) || documents.has(document));
  }

  async #note(line: Parameters<typeof noteIngested>[1], keep: () => void): Promise<void> {
    await noteIngested(this.#dataDir, line, (lookBefore) => {
      // With a line of somebody else before it, it is read with that one.
      if (lookBefore !== this.#look) return;
      keep();
      this.#look = lookOfIngested(this.#dataDir);
    });
  }

  #now(): ReadonlyMap<string, LedgerEntry> {
    if (lookOfIngested(this.#dataDir) !== this.#look) this.#readAnew();
    return this.#entries;
  }

  /** The look comes first: what is written in between makes it differ. */
  #readAnew(): void {
    this.#look = lookOfIngested(this.#dataDir);
    this.#entries = new Map(
      readIngested(this.#dataDir)
        .files.filter(({ user, project }) => user === this.#scope.user && project === this.#scope.project)
        .map(({ path, document: documentId, sha256 = "", own: isOwn = false }) => [
          path,
          { path, ...this.#scope, documentId, sha256, isOwn },
        ]),
    );
  }
}
