import { closeSync, openSync } from "node:fs";
import { type Entry, fromFd, type ZipFile } from "yauzl";
import { CliFailure } from "../output/cli-failure.ts";
import type { Progress } from "./import-item.ts";
import {
  type Bytes,
  MAX_ARCHIVE_ENTRIES,
  MAX_INFLATED_BYTES,
  MAX_INFLATION,
  SMALL_INFLATED_BYTES,
} from "./text-lines.ts";

export interface ArchiveFile {
  /** As the archive has it: shown to people, never used as a path. */
  readonly name: string;
  /** The content, inflated as it is read; counted in compressed bytes. @throws {CliFailure} if it is damaged or a limit is passed. */
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
    if (zip.entryCount > MAX_ARCHIVE_ENTRIES) {
      throw new CliFailure(
        `${path} says that it holds ${zip.entryCount} files; no more than ${MAX_ARCHIVE_ENTRIES} are looked through. ` +
          "Unpack the file that is meant, and import that.",
      );
    }
    const files: ArchiveFile[] = [];
    for await (const entry of entriesOf(zip, path)) {
      const name = nameOf(entry);
      if (!wanted.test(name)) continue;
      files.push({
        name,
        compressedBytes: entry.compressedSize,
        read: (progress) => inflate(zip, entry, progress),
      });
    }
    return { files, close };
  } catch (error) {
    close();
    throw error;
  }
}

function entriesOf(zip: ZipFile, path: string): AsyncIterable<Entry> {
  return {
    [Symbol.asyncIterator]: () => ({
      next: () =>
        new Promise<IteratorResult<Entry>>((resolve, reject) => {
          const settle = (then: () => void): void => {
            zip.removeAllListeners("entry").removeAllListeners("end").removeAllListeners("error");
            then();
          };
          zip.once("entry", (value: Entry) => settle(() => resolve({ done: false, value })));
          zip.once("end", () => settle(() => resolve({ done: true, value: undefined })));
          zip.once("error", (error: Error) => settle(() => reject(damaged(path, error))));
          zip.readEntry();
        }),
    }),
  };
}

function nameOf({ fileName }: Entry): string {
  return Buffer.from(fileName as unknown as Uint8Array)
    .toString("utf8")
    .replaceAll("\\", "/");
}

async function* inflate(zip: ZipFile, entry: Entry, progress: Progress): AsyncGenerator<Uint8Array> {
  const { compressedSize, uncompressedSize } = entry;
  const name = nameOf(entry);
  if (uncompressedSize > MAX_INFLATED_BYTES) {
    throw new CliFailure(
      `${name} inflates to ${uncompressedSize} bytes; no more than ${MAX_INFLATED_BYTES} are read of one file.`,
    );
  }
  if (uncompressedSize > SMALL_INFLATED_BYTES && uncompressedSize > compressedSize * MAX_INFLATION) {
    throw new CliFailure(
      `${name} inflates to more than ${MAX_INFLATION} times its size, which no text does; it was not read.`,
    );
  }
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
      progress.done = before + Math.floor((inflated / Math.max(1, uncompressedSize)) * compressedSize);
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
