import { join } from "node:path";
import { crc32 } from "node:zlib";
import { internal } from "../../core/errors.ts";
import { decodeChecksummed, encodeChecksummed, arrayOf, isCount, isText, objectOf } from "../files/shapes.ts";
import type { Disk, DiskFile } from "../files/disk.ts";

/** Changes with how parts stand in the file. */
const IMAGE_FORMAT = 1;
/** Changes with what any part of the image holds. */
export const IMAGE_LAYOUT = 7;
/** Memories below which filling the indexes is as quick without an image. */
export const IMAGE_FROM = 500;
export const IMAGE_NAME = "INDEXES";
/** Length of the header, before it. */
const PREFIX_BYTES = 4;

const ARRAYS = { Int8Array, Uint8Array, Int32Array, Uint32Array, Float32Array, Float64Array } as const;
export type NumberArray = Int8Array | Uint8Array | Int32Array | Uint32Array | Float32Array | Float64Array;

/** One structure in memory: its columns of numbers by name, and the rest as JSON. */
export interface ImagePart {
  readonly numbers: Readonly<Record<string, NumberArray>>;
  readonly json: Readonly<Record<string, unknown>>;
}

interface Section {
  readonly part: string;
  readonly name: string;
  /** A key of `ARRAYS`, else JSON. */
  readonly kind: string;
  readonly bytes: number;
  readonly crc32: number;
}

interface Header {
  readonly key: string;
  readonly sequence: number;
  readonly sections: readonly Section[];
}

const isHeader = objectOf({
  key: isText,
  sequence: isCount,
  sections: arrayOf(objectOf({ part: isText, name: isText, kind: isText, bytes: isCount, crc32: isCount })),
});

/**
 * The indexes of a store as they are after the record `sequence`: derived data, from which a start fills memory sooner than
 * from the tables. First the header, with the lengths and checksums of all that follows it, then the columns of all parts,
 * which nothing may change before they are written.
 *
 * @param key names everything that the image depends on besides: an image with another key is not read.
 */
export function encodeImage(
  { key, sequence }: Pick<Header, "key" | "sequence">,
  parts: Readonly<Record<string, ImagePart>>,
): Uint8Array[] {
  const contents: Uint8Array[] = [];
  const sections: Section[] = [];
  const add = (part: string, name: string, kind: string, content: Uint8Array) => {
    contents.push(content);
    sections.push({ part, name, kind, bytes: content.length, crc32: crc32(content) });
  };
  for (const [part, { numbers, json }] of Object.entries(parts)) {
    for (const [name, { constructor, buffer, byteOffset, byteLength }] of Object.entries(numbers))
      add(part, name, constructor.name, new Uint8Array(buffer, byteOffset, byteLength));
    for (const [name, value] of Object.entries(json))
      add(part, name, "json", Buffer.from(JSON.stringify(value)));
  }
  const header = encodeChecksummed("indexes", IMAGE_FORMAT, { key, sequence, sections } satisfies Header);
  return [new Uint8Array(Uint32Array.of(header.length).buffer), header, ...contents];
}

/** Writes an image where there is none. Not synced, since what a crash leaves of it is recognised. */
export async function writeImage(
  disk: Disk,
  directory: string,
  contents: Iterable<Uint8Array>,
): Promise<void> {
  const file = await disk.open(join(directory, IMAGE_NAME), "create");
  try {
    let position = 0;
    for (const bytes of contents) {
      await file.write(bytes, position);
      position += bytes.length;
    }
  } finally {
    await file.close();
  }
}

/** Removes the image, for certain: a power failure does not bring it back. @throws {ServiceError} INTERNAL. */
export async function removeImage(disk: Disk, directory: string): Promise<void> {
  const path = join(directory, IMAGE_NAME);
  try {
    if ((await disk.size(path)) === undefined) return;
    await disk.remove(path);
    await disk.syncDirectory(directory);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw internal(
      `${path} cannot be removed (${reason}). It may hold deleted data and is made again when needed: remove it, then try again.`,
      { cause },
    );
  }
}

/** A file, or bytes of a database, that an image is read from. */
type ImageFile = Pick<DiskFile, "read" | "close">;

/** An image that was found, whose parts are checked as they are read. */
export class IndexImage {
  /** The record that it holds all changes up to. */
  readonly sequence: number;
  readonly #file: ImageFile;
  readonly #sections: readonly (Section & { readonly position: number })[];

  private constructor(file: ImageFile, { sequence, sections }: Header, position: number) {
    this.#file = file;
    this.sequence = sequence;
    let next = position;
    this.#sections = sections.map((section) => ({
      ...section,
      position: (next += section.bytes) - section.bytes,
    }));
  }

  /** Undefined where there is none of that key, or it is damaged. */
  static async open(disk: Disk, directory: string, key: string): Promise<IndexImage | undefined> {
    const file = await disk.open(join(directory, IMAGE_NAME), "read").catch(() => undefined);
    if (file === undefined) return undefined;
    const image = await IndexImage.at(file, 0, key);
    if (image === undefined) await file.close();
    return image;
  }

  /** One that begins at a position of a file; undefined where there is none of that key, or its header is damaged. */
  static async at(file: ImageFile, position: number, key: string): Promise<IndexImage | undefined> {
    try {
      const prefix = new Uint32Array(1);
      await file.read(new Uint8Array(prefix.buffer), position);
      const bytes = Buffer.alloc(Math.min(prefix[0] ?? 0, MAX_HEADER_BYTES));
      await file.read(bytes, position + PREFIX_BYTES);
      const decoded = decodeChecksummed("indexes", bytes);
      if (decoded?.format !== IMAGE_FORMAT) return undefined;
      const header = decoded.value(isHeader) as Header | undefined;
      return header?.key === key
        ? new IndexImage(file, header, position + PREFIX_BYTES + bytes.length)
        : undefined;
    } catch {
      // As good as none.
      return undefined;
    }
  }

  /**
   * @param into gives the memory for columns that are not to be read into arrays of their own.
   * @throws {Error} where it is not what was written.
   */
  async read(
    part: string,
    into: Readonly<Record<string, (bytes: number) => Uint8Array>> = {},
  ): Promise<ImagePart> {
    const numbers: Record<string, NumberArray> = {};
    const json: Record<string, unknown> = {};
    for (const section of this.#sections.filter((each) => each.part === part)) {
      const { name, kind, bytes } = section;
      const content = into[name]?.(bytes) ?? new Uint8Array(bytes);
      const length = await this.#file.read(content, section.position);
      if (length !== bytes || crc32(content) !== section.crc32)
        throw new Error(`${IMAGE_NAME} is damaged in ${part}.${name}`);
      if (kind in ARRAYS)
        numbers[name] = new ARRAYS[kind as keyof typeof ARRAYS](
          content.buffer as ArrayBuffer,
          content.byteOffset,
        );
      else json[name] = JSON.parse(Buffer.from(content.buffer, content.byteOffset, bytes).toString());
    }
    return { numbers, json };
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

/** Some hundred sections; a damaged length must not take all memory. */
const MAX_HEADER_BYTES = 1024 ** 2;
