import { join } from "node:path";
import { crc32 } from "node:zlib";
import { type Disk, replaceFile } from "../disk.ts";

/** How far a journal went when it was last closed. */
export interface EndMark {
  readonly epoch: number;
  /** Of the last record; a journal never ends before it again. */
  readonly sequence: number;
}

const NAME = "end";
const LINE = /^(memoryd journal end (\d+)\.(\d+)) crc32 ([0-9a-f]{8})\n$/;

/**
 * Notes, for the next opening, how far the journal goes: a journal that lost its last records in the meantime looks like
 * one whose last write was cut short.
 */
export async function writeEndMark(
  disk: Disk,
  directory: string,
  { epoch, sequence }: EndMark,
): Promise<void> {
  const text = `memoryd journal end ${epoch}.${sequence}`;
  const crc = crc32(text).toString(16).padStart(8, "0");
  await replaceFile(disk, join(directory, NAME), Buffer.from(`${text} crc32 ${crc}\n`));
}

/** Undefined if there is none, or none that can be read: the journal stands for itself then. */
export async function readEndMark(disk: Disk, directory: string): Promise<EndMark | undefined> {
  const path = join(directory, NAME);
  if ((await disk.size(path)) === undefined) return undefined;
  const [, text = "", epoch, sequence, crc] = LINE.exec((await disk.readFile(path)).toString("latin1")) ?? [];
  if (crc === undefined || Number.parseInt(crc, 16) !== crc32(text)) return undefined;
  return { epoch: Number(epoch), sequence: Number(sequence) };
}
