import { buffer } from "node:stream/consumers";
import { type Entry, fromBufferPromise } from "yauzl";
import type { ExtractionLimits } from "../../core/documents/extraction.ts";
import { tooLarge, unprocessable } from "../../core/errors.ts";

const MAX_ENTRIES = 10_000;

/** The files of a document that is a zip archive, read one at a time. */
export interface ZipParts {
  readonly names: ReadonlySet<string>;
  /** As UTF-8; empty where there is none of that name. @throws {ServiceError} TOO_LARGE, UNPROCESSABLE */
  text(name: string): Promise<string>;
}

/**
 * Opens a document whose parts together, each as often as it is read, grow to no more than the limit. Nothing is inflated
 * before its declared size is counted, and no part gets more than it declares.
 * @throws {ServiceError} UNPROCESSABLE if the archive is damaged, TOO_LARGE with more than 10 000 entries.
 */
export async function openParts(
  bytes: Uint8Array,
  { maxInflatedBytes }: Pick<ExtractionLimits, "maxInflatedBytes">,
): Promise<ZipParts> {
  const zip = await fromBufferPromise(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)).catch(
    damaged,
  );
  if (zip.entryCount > MAX_ENTRIES) throw tooLarge(`The archive has more than ${MAX_ENTRIES} entries.`);
  const entries = new Map<string, Entry>();
  try {
    for await (const entry of zip.eachEntry()) entries.set(entry.fileName, entry);
  } catch (error) {
    damaged(error);
  }
  let total = 0;
  const text = async (name: string): Promise<string> => {
    const entry = entries.get(name);
    if (entry === undefined) return "";
    total += entry.uncompressedSize;
    if (total > maxInflatedBytes)
      throw tooLarge(
        `The document grows to more than ${maxInflatedBytes} bytes when it is unpacked. Send it in parts.`,
      );
    if (entry.isEncrypted())
      throw unprocessable("The document is encrypted. Save it without a password and send that.");
    return new TextDecoder().decode(await zip.openReadStreamPromise(entry).then(buffer).catch(damaged));
  };
  return { names: new Set(entries.keys()), text };
}

function damaged(cause: unknown): never {
  throw unprocessable("The file is damaged or cut off. Get it again, or save it again.", { cause });
}
