import { stat } from "node:fs/promises";
import { type Entry, openPromise, type ZipFile } from "yauzl";
import { messageOf } from "../../config/narrow.ts";
import { CliFailure } from "../output/output.ts";
import { MAX_ARCHIVE_ENTRIES } from "./text-lines.ts";

/** Chats become 5 to 20 times smaller; what is made to fill memory or time, up to 1 000 times. */
const MAX_RATIO = 100;
/** A small archive may hold so much whatever its length. */
const LEAST_INFLATED = 16 * 1_024 * 1_024;

/**
 * The files of a zip archive whose names match, in its order, read where they are: nothing is unpacked. A name is shown to people and
 * never used as a path. Bytes are inflated as they are read, in constant memory, and are to be read before the next file.
 * @throws {CliFailure} for what is no zip archive, is damaged, or has too many entries.
 */
export const archiveFiles = (path: string, wanted: RegExp) => orDamaged(path, filesIn(path, wanted));

async function* filesIn(path: string, wanted: RegExp) {
  // Names are only shown, so those that climb out of a folder are no reason to refuse an archive.
  const options = { lazyEntries: true, autoClose: false, decodeStrings: false } as const;
  const zip = await openPromise(path, options);
  const mostBytes = LEAST_INFLATED + (await stat(path)).size * MAX_RATIO;
  let bytes = 0;
  try {
    if (zip.entryCount > MAX_ARCHIVE_ENTRIES)
      throw new CliFailure(
        `${path} holds ${zip.entryCount} files; at most ${MAX_ARCHIVE_ENTRIES} are looked through. Unpack it, and import the file that is meant.`,
      );
    for await (const entry of zip.eachEntry()) {
      const name = Buffer.from(entry.fileNameRaw).toString("utf8").replaceAll("\\", "/");
      if (!wanted.test(name)) continue;
      bytes += entry.uncompressedSize;
      if (bytes > mostBytes)
        throw new CliFailure(
          `${path} would become more than ${MAX_RATIO} times as large (${name}), which no export does. Unpack it, and import the file that is meant.`,
        );
      yield { name, bytes: orDamaged(name, inflated(zip, entry)) };
    }
  } finally {
    zip.close();
  }
}

/** yauzl checks that the size is the one that the archive states. */
async function* inflated(zip: ZipFile, entry: Entry): AsyncGenerator<Uint8Array> {
  yield* (await zip.openReadStreamPromise(entry)) as AsyncIterable<Uint8Array>;
}

async function* orDamaged<T>(name: string, parts: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* parts;
  } catch (cause) {
    if (cause instanceof CliFailure) throw cause;
    throw new CliFailure(
      `${name} cannot be read as a zip archive, or is damaged (${messageOf(cause)}); download it again.`,
      { cause },
    );
  }
}
