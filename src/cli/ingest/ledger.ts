import { appendFileSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";

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

const Line = Type.Object({
  path: Type.String(),
  user: Type.Union([Type.String(), Type.Null()]),
  project: Type.Union([Type.String(), Type.Null()]),
  document: Type.Union([Type.String(), Type.Null()]),
  sha256: Type.Optional(Type.String()),
  own: Type.Optional(Type.Boolean()),
});

const FILE = "ingested.ndjson";

/**
 * Which file became which document. The store knows a document by its bytes, and two files may hold the same: only here
 * stands that both do, so that the document goes with the last of them and not with the first. Lost, it costs no
 * memory: files are recognised by their bytes again, and nothing is removed of which it knows nothing.
 */
export class Ledger {
  readonly #file: string;
  readonly #scope: LedgerScope;
  readonly #entries = new Map<string, LedgerEntry>();

  private constructor(file: string, scope: LedgerScope) {
    this.#file = file;
    this.#scope = scope;
  }

  /** Reads what was taken in for this scope; entries of documents that `exists` denies are forgotten on the disk too. */
  static open(dataDir: string, scope: LedgerScope, exists: (documentId: string) => boolean): Ledger {
    const ledger = new Ledger(join(dataDir, FILE), scope);
    const text = read(ledger.#file);
    const all = new Map<string, string>();
    let lines = 0;
    for (const line of text.split("\n")) {
      if (line === "") continue;
      lines += 1;
      const said = parse(line);
      if (said === undefined) continue;
      const key = JSON.stringify([said.user, said.project, said.path]);
      const isOurs = said.user === scope.user && said.project === scope.project;
      if (said.document === null || (isOurs && !exists(said.document))) {
        all.delete(key);
        if (isOurs) ledger.#entries.delete(said.path);
        continue;
      }
      all.set(key, line);
      if (!isOurs) continue;
      const { path, user, project, document: documentId, sha256 = "", own: isOwn = false } = said;
      ledger.#entries.set(path, { path, user, project, documentId, sha256, isOwn });
    }
    if (all.size < lines) ledger.#rewrite([...all.values()], text.length);
    return ledger;
  }

  get(path: string): LedgerEntry | undefined {
    return this.#entries.get(path);
  }

  paths(): string[] {
    return [...this.#entries.keys()];
  }

  /** The paths that a document stands for. */
  pathsOf(documentId: string): string[] {
    return [...this.#entries.values()]
      .filter((entry) => entry.documentId === documentId)
      .map(({ path }) => path);
  }

  /** True for a document that was made for a file. */
  isOwn(documentId: string): boolean {
    return [...this.#entries.values()].some((entry) => entry.documentId === documentId && entry.isOwn);
  }

  set(path: string, document: Pick<LedgerEntry, "documentId" | "sha256" | "isOwn">): void {
    this.#entries.set(path, { path, ...this.#scope, ...document });
    const { documentId, sha256, isOwn } = document;
    this.#append({ path, ...this.#scope, document: documentId, sha256, own: isOwn });
  }

  remove(path: string): void {
    if (this.#entries.delete(path)) this.#append({ path, ...this.#scope, document: null });
  }

  #append(line: Static<typeof Line>): void {
    // The break comes first, so that a line that was cut short does not swallow this one.
    appendFileSync(this.#file, `\n${JSON.stringify(line)}`, { mode: 0o600 });
  }

  /** Not when another command has added to it in between: it will be done next time. */
  #rewrite(lines: readonly string[], length: number): void {
    const temporary = `${this.#file}.${process.pid}.tmp`;
    writeFileSync(temporary, lines.join("\n"), { mode: 0o600 });
    if (read(this.#file).length === length) renameSync(temporary, this.#file);
    else rmSync(temporary);
  }
}

function parse(line: string): Static<typeof Line> | undefined {
  try {
    const said: unknown = JSON.parse(line);
    return Value.Check(Line, said) ? said : undefined;
  } catch {
    return undefined;
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
}
