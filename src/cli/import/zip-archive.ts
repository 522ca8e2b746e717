import { closeSync, openSync } from "node:fs";
import { type Entry, fromFd, type ZipFile } from "yauzl";
import { CliFailure } from "../output/output.ts";
import type { Progress } from "./import-item.ts";
import { type Bytes, MAX_ARCHIVE_ENTRIES } from "./text-lines.ts";

export interface ArchiveFile {
  /** The name in the archive; shown to people, never used as a path. */
  readonly name: string;
  /** The content, inflated as it is read; counted in compressed bytes. @throws {CliFailure} if it is damaged. */
  read(progress: Progress): Bytes;
  readonly compressedBytes: number;
}

export interface Archive {
  readonly files: readonly ArchiveFile[];
  close(): void;
}

/**
 * The files of a zip archive whose names match, in its order. Nothing is unpacked: they are read where they are.
 * @throws {CliFailure} for what is no zip archive, or has too many entries.
 */
export async function openArchive(path: string, wanted: RegExp): Promise<Archive> {
  // Opened here and not by name there: yauzl would leave the descriptor open when it refuses the archive.
  const fd = openSync(path, "r");
  const zip = await new Promise<ZipFile>((resolve, reject) => {
    fromFd(fd, { lazyEntries: true, autoClose: false, decodeStrings: false }, (error, zip) =>
      error === null ? resolve(zip) : reject(damaged(path, error)),
    );
  }).catch((error: unknown) => {
    closeSync(fd);
    throw error;
  });
  const close = (): void => zip.close();
  try {
    if (zip.entryCount > MAX_ARCHIVE_ENTRIES)
      throw new CliFailure(
        `${path} holds ${zip.entryCount} files; at most ${MAX_ARCHIVE_ENTRIES} are looked through. Unpack it, and import the file that is meant.`,
      );
    const entries = await entriesOf(zip, path);
    const files = entries
      .filter((entry) => wanted.test(nameOf(entry)))
      .map((entry) => ({
        name: nameOf(entry),
        compressedBytes: entry.compressedSize,
        read: (progress: Progress) => inflate(zip, entry, progress),
      }));
    return { files, close };
  } catch (error) {
    close();
    throw error;
  }
}

function entriesOf(zip: ZipFile, path: string): Promise<Entry[]> {
  return new Promise((resolve, reject) => {
    const entries: Entry[] = [];
    zip.on("entry", (entry: Entry) => {
      entries.push(entry);
      zip.readEntry();
    });
    zip.on("end", () => resolve(entries));
    zip.on("error", (error: Error) => reject(damaged(path, error)));
    zip.readEntry();
  });
}

const nameOf = ({ fileName }: Entry): string =>
  Buffer.from(fileName as unknown as Uint8Array)
    .toString("utf8")
    .replaceAll("\\", "/");

/** In constant memory, so its size needs no limit; yauzl checks that it is the one that the archive states. */
async function* inflate(zip: ZipFile, entry: Entry, progress: Progress): AsyncGenerator<Uint8Array> {
  const name = nameOf(entry);
  if (entry.isEncrypted())
    throw new CliFailure(`${name} is encrypted; unpack the archive, and import what is in it.`);
  const stream = await new Promise<NodeJS.ReadableStream>((resolve, reject) => {
    zip.openReadStream(entry, (error, opened) =>
      error === null ? resolve(opened) : reject(damaged(name, error)),
    );
  });
  const before = progress.done;
  let inflated = 0;
  try {
    for await (const chunk of stream) {
      yield chunk as unknown as Buffer;
      inflated += chunk.length;
      progress.done =
        before + Math.floor((inflated / Math.max(1, entry.uncompressedSize)) * entry.compressedSize);
    }
  } catch (error) {
    throw damaged(name, error);
  }
}

function damaged(name: string, cause: unknown): CliFailure {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new CliFailure(
    `${name} cannot be read as a zip archive, or is damaged (${reason}); download it again.`,
    { cause },
  );
}
