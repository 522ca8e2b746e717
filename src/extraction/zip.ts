import { inflateRawSync } from "node:zlib";
import { ServiceError } from "../core/errors.ts";

/** Structures of APPNOTE.TXT 6.3 (PKWARE): signatures, and sizes of their fixed parts in bytes. */
const LOCAL_HEADER = { signature: 0x04034b50, size: 30 };
const DIRECTORY_ENTRY = { signature: 0x02014b50, size: 46 };
const DIRECTORY_END = { signature: 0x06054b50, size: 22 };
const MAX_COMMENT_BYTES = 65_535;
const MAX_ENTRIES = 10_000;
const STORED = 0;
const DEFLATED = 8;
const ENCRYPTED_FLAG = 1;

export interface ZipEntry {
  readonly name: string;
  readonly method: number;
  readonly isEncrypted: boolean;
  readonly compressedBytes: number;
  /** As declared; `inflateEntry` gives no more. */
  readonly inflatedBytes: number;
  readonly offset: number;
}

/** The entries of an archive by its central directory. @throws {ServiceError} UNPROCESSABLE if it is damaged. */
export function readZipDirectory(bytes: Uint8Array): ZipEntry[] {
  const view = viewOf(bytes);
  const end = findDirectoryEnd(view);
  const count = view.getUint16(end + 10, true);
  if (count > MAX_ENTRIES)
    throw new ServiceError("TOO_LARGE", `The archive has more than ${MAX_ENTRIES} entries.`);

  const entries: ZipEntry[] = [];
  let at = view.getUint32(end + 16, true);
  for (let n = 0; n < count; n += 1) {
    if (at + DIRECTORY_ENTRY.size > end || view.getUint32(at, true) !== DIRECTORY_ENTRY.signature)
      throw damaged();
    const nameLength = view.getUint16(at + 28, true);
    const name = bytes.subarray(at + DIRECTORY_ENTRY.size, at + DIRECTORY_ENTRY.size + nameLength);
    entries.push({
      name: new TextDecoder().decode(name).replaceAll("\\", "/"),
      method: view.getUint16(at + 10, true),
      isEncrypted: (view.getUint16(at + 8, true) & ENCRYPTED_FLAG) !== 0,
      compressedBytes: view.getUint32(at + 20, true),
      inflatedBytes: view.getUint32(at + 24, true),
      offset: view.getUint32(at + 42, true),
    });
    at += DIRECTORY_ENTRY.size + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return entries;
}

/** An entry's content, never more than it declares. @throws {ServiceError} UNPROCESSABLE if it is damaged or larger. */
export function inflateEntry(bytes: Uint8Array, entry: ZipEntry): Uint8Array {
  const view = viewOf(bytes);
  if (entry.offset + LOCAL_HEADER.size > bytes.length) throw damaged();
  if (view.getUint32(entry.offset, true) !== LOCAL_HEADER.signature) throw damaged();
  const start =
    entry.offset +
    LOCAL_HEADER.size +
    view.getUint16(entry.offset + 26, true) +
    view.getUint16(entry.offset + 28, true);
  const compressed = bytes.subarray(start, start + entry.compressedBytes);
  if (compressed.length !== entry.compressedBytes) throw damaged();
  if (entry.method === STORED) return compressed;
  if (entry.method !== DEFLATED) throw damaged();
  try {
    return inflateRawSync(compressed, { maxOutputLength: Math.max(1, entry.inflatedBytes) });
  } catch (cause) {
    throw damaged(cause);
  }
}

function findDirectoryEnd(view: DataView): number {
  const last = view.byteLength - DIRECTORY_END.size;
  for (let at = last; at >= Math.max(0, last - MAX_COMMENT_BYTES); at -= 1) {
    if (view.getUint32(at, true) === DIRECTORY_END.signature) return at;
  }
  throw damaged();
}

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function damaged(cause?: unknown): ServiceError {
  return new ServiceError(
    "UNPROCESSABLE",
    "The file is damaged or cut off. Get it again, or save it again.",
    {
      cause,
    },
  );
}
