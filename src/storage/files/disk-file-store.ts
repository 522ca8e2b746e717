import { createHash, randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { notFound, ServiceError, storeFull } from "../../core/errors.ts";
import type { DocumentIndex } from "../../core/documents/document-index.ts";
import type { FileStore, HeldFile, IncomingFile } from "../../core/documents/document-ports.ts";
import { isFull, writeRefused } from "../journal/journal.ts";
import { type Disk, type DiskFile, hasCode } from "./disk.ts";
import { inTurns } from "../../core/at-once.ts";

export interface DiskFileStoreOptions {
  readonly disk: Disk;
  /** The data directory; the files are in a folder of it. */
  readonly directory: string;
  readonly documents: Pick<DocumentIndex, "needsFile" | "neededFile">;
  /** True if the rows at the start name every file that any kept state of the store names. */
  readonly isAllKnown: boolean;
}

export interface UnneededFile {
  readonly sha256: string;
  readonly bytes: number;
}

const NAME = /^[0-9a-f]{64}$/;
const PIECE_BYTES = 256 * 1024;
/** Between pieces: at most 25 MB/s, which leaves the disk to others. */
const SCRUB_PAUSE_MS = 10;
/** Files by their SHA-256 in one folder: written under a temporary name, synced, renamed, the folder synced. */
export class DiskFileStore implements FileStore {
  readonly #options: DiskFileStoreOptions;
  readonly #disk: Disk;
  readonly #folder: string;
  /** Files that were not there when the store was opened: no state before names them. */
  readonly #fresh = new Set<string>();
  readonly #holders = new Map<string, number>();
  /** Found to have other bytes than their names say. */
  readonly #damaged = new Set<string>();
  /** For removals. */
  readonly #inTurn = inTurns();

  private constructor(options: DiskFileStoreOptions) {
    this.#options = options;
    this.#disk = options.disk;
    this.#folder = join(options.directory, "files");
  }

  /** Opens the folder, or makes it; what was on its way when the process ended is removed, and what no document ever had. */
  static async open(options: DiskFileStoreOptions): Promise<DiskFileStore> {
    const store = new DiskFileStore(options);
    await store.#disk.makeDirectory(store.#folder);
    for (const entry of await store.#disk.list(store.#folder)) {
      const { name } = entry;
      // Folders are none of ours.
      if (entry.isDirectory() || (NAME.test(name) && (store.#isInUse(name) || !store.#isNobodys(name))))
        continue;
      await store.#disk.remove(join(store.#folder, name));
    }
    return store;
  }

  async create(): Promise<IncomingFile> {
    const path = join(this.#folder, `incoming-${randomUUID()}`);
    // Somebody may have removed it.
    await refusing(this.#disk.makeDirectory(this.#folder));
    const file = await refusing(this.#disk.open(path, "create"));
    const hash = createHash("sha256");
    let bytes = 0;
    let isOpen = true;
    let isKept = false;
    const close = async (): Promise<void> => {
      if (isOpen) await file.close();
      isOpen = false;
    };
    const discard = async (): Promise<void> => {
      if (isKept) return;
      // A file that a failing disk does not remove goes at the next start; the first error is the one to report.
      await close().catch(() => undefined);
      await this.#disk.remove(path).catch(() => undefined);
    };
    return {
      write: async (chunk) => {
        hash.update(chunk);
        bytes += chunk.length;
        await refusing(file.write(chunk, bytes - chunk.length));
      },
      keep: async () => {
        try {
          await file.sync();
          await close();
          const held = await this.#adopt(path, hash.digest("hex"), bytes);
          isKept = true;
          return held;
        } catch (error) {
          await discard();
          throw storeError(error);
        }
      },
      discard,
    };
  }

  /** Takes over what was written under a temporary name. */
  async #adopt(path: string, sha256: string, bytes: number): Promise<HeldFile> {
    const release = this.hold([sha256]);
    // A purge that has begun may be removing the very file.
    await this.#inTurn(async () => undefined);
    try {
      if ((await this.sizeOf(sha256)) === undefined) this.#fresh.add(sha256);
      // Over the same bytes, if they are there: that mends a file that the disk has damaged.
      await this.#disk.rename(path, this.pathOf(sha256));
      this.#damaged.delete(sha256);
      await this.#disk.syncDirectory(this.#folder);
    } catch (error) {
      release();
      throw error;
    }
    return { sha256, bytes, release };
  }

  /** @throws {ServiceError} DAMAGED for a name that a store from elsewhere brought, which could lead out of the folder. */
  pathOf(sha256: string): string {
    if (!NAME.test(sha256))
      throw new ServiceError("DAMAGED", `The original of this document has no SHA-256 but "${sha256}".`);
    return join(this.#folder, sha256);
  }

  sizeOf(sha256: string): Promise<number | undefined> {
    return this.#disk.size(this.pathOf(sha256));
  }

  async read(sha256: string): Promise<AsyncIterable<Uint8Array>> {
    let file: DiskFile;
    try {
      file = await this.#disk.open(this.pathOf(sha256), "read");
    } catch (error) {
      if (!hasCode(error, "ENOENT")) throw error;
      throw notFound(
        "The original of this document is not kept here; ingest the same file again for the same user and project to " +
          "bring it back.",
        { cause: error },
      );
    }
    if (!(await this.#check(sha256))) {
      await file.close();
      throw new ServiceError(
        "DAMAGED",
        `The original of this document is damaged on the disk: its bytes are not those of SHA-256 ${sha256}. Ingest the same ` +
          "file again for the same user and project to mend it. The text that was read from it is whole.",
      );
    }
    return piecesOf(file);
  }

  /** Names of files that are needed and were found damaged so far. */
  get damaged(): string[] {
    return [...this.#damaged].filter((name) => this.#isInUse(name));
  }

  /** Reads every file, slowly, and answers which are damaged; rejects with an AbortError when stopped. */
  async scrub(signal: AbortSignal): Promise<string[]> {
    for (const name of await this.#names())
      await this.#check(name, () => sleep(SCRUB_PAUSE_MS, undefined, { ref: false, signal }));
    return this.damaged;
  }

  /** True if the file's bytes have the SHA-256 of its name, or there is no file. */
  async #check(sha256: string, pause = async (): Promise<void> => {}): Promise<boolean> {
    const hash = createHash("sha256");
    try {
      for await (const piece of piecesOf(await this.#disk.open(this.pathOf(sha256), "read"))) {
        hash.update(piece);
        await pause();
      }
    } catch (error) {
      if (hasCode(error, "ENOENT")) return true;
      if (!isSystemError(error)) throw error;
    }
    const isWhole = hash.digest("hex") === sha256;
    if (isWhole) this.#damaged.delete(sha256);
    else this.#damaged.add(sha256);
    return isWhole;
  }

  /** Keeps files that are needed now until the answer is first called, whatever becomes of their documents. */
  hold(files: readonly string[]): () => void {
    let held = files;
    for (const sha256 of held) this.#holders.set(sha256, (this.#holders.get(sha256) ?? 0) + 1);
    return () => {
      for (const sha256 of held) {
        const left = (this.#holders.get(sha256) ?? 0) - 1;
        if (left > 0) this.#holders.set(sha256, left);
        else this.#holders.delete(sha256);
        this.letGo(sha256);
      }
      held = [];
    };
  }

  letGo(sha256: string): void {
    if (this.#isInUse(sha256) || !this.#isNobodys(sha256)) return;
    // One that fails goes with a purge, or at the next start.
    this.#inTurn(async () => this.#remove(sha256)).catch(() => undefined);
  }

  /** Files that no row needs as of now. */
  async listUnneeded(): Promise<UnneededFile[]> {
    const unneeded: UnneededFile[] = [];
    for (const name of await this.#names())
      if (!this.#isInUse(name)) unneeded.push({ sha256: name, bytes: (await this.sizeOf(name)) ?? 0 });
    return unneeded;
  }

  /** Removes files unneeded before both checkpoints; answers which are gone. */
  removeUnneeded(files: readonly UnneededFile[]): Promise<UnneededFile[]> {
    return this.#inTurn(async () => {
      const gone: UnneededFile[] = [];
      // It may be gone already.
      for (const file of files) if (await this.#remove(file.sha256)) gone.push(file);
      if (gone.length > 0) await this.#disk.syncDirectory(this.#folder);
      return gone;
    });
  }

  /** False for a file that is in use by now. */
  async #remove(sha256: string): Promise<boolean> {
    if (this.#isInUse(sha256)) return false;
    await this.#disk.remove(this.pathOf(sha256));
    return true;
  }

  async #names(): Promise<string[]> {
    return (await this.#disk.list(this.#folder)).map(({ name }) => name).filter((name) => NAME.test(name));
  }

  #isInUse(sha256: string): boolean {
    return this.#options.documents.needsFile(sha256) || this.#holders.has(sha256);
  }

  /** True for a file that no document has had in any state that the store may be opened at. */
  #isNobodys(sha256: string): boolean {
    const { isAllKnown, documents } = this.#options;
    return (isAllKnown || this.#fresh.has(sha256)) && !documents.neededFile(sha256);
  }
}

async function* piecesOf(file: DiskFile): AsyncGenerator<Uint8Array, void> {
  try {
    for (let position = 0; ;) {
      const piece = new Uint8Array(PIECE_BYTES);
      const length = await file.read(piece, position);
      if (length > 0) yield piece.subarray(0, length);
      if (length < PIECE_BYTES) return;
      position += length;
    }
  } finally {
    await file.close();
  }
}

/** One of the system's, such as EROFS; none of ours, nor a bug. */
function isSystemError(error: unknown): boolean {
  return error instanceof Error && "code" in error && /^E[A-Z0-9]+$/.test(String(error.code));
}

/** @throws the disk's refusal as `storeError`. */
const refusing = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw storeError(error);
  });

/** The disk's refusal in the terms of those who sent the file. */
function storeError(error: unknown): unknown {
  if (!isSystemError(error)) return error;
  if (isFull(error)) {
    const message = "The disk has no room for this file. Free some space and send it again.";
    return storeFull(message, { cause: error });
  }
  return writeRefused(error);
}
