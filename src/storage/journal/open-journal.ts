import { join } from "node:path";
import { storeUnusable } from "../../core/errors.ts";
import type { Disk } from "../files/disk.ts";
import { journalUnusable, type Journal, type JournalOptions } from "./journal.ts";
import {
  decodeSegmentHeader,
  JOURNAL_FORMAT,
  parseSegmentName,
  SEGMENT_HEADER_BYTES,
  type SegmentHeader,
} from "./format.ts";
import { type ActiveSegment, createSegment, readEndMark } from "./journal-files.ts";
import { readSegment, type SegmentContent } from "./read-segment.ts";
import { type SealedSegment, SegmentJournal } from "./segment-journal.ts";

export interface JournalOpened {
  readonly journal: Journal;
  /** Bytes of the unfinished write at the end, which was cut off. */
  readonly tornBytes: number;
}

interface LastSegment extends SealedSegment {
  readonly header: SegmentHeader;
  readonly content: SegmentContent;
  readonly lastGroup: Buffer;
  readonly tornBytes: number;
}

/**
 * Opens the journal of a store, replays what follows the checkpoint and gets ready to append.
 *
 * An unfinished write at the very end, which a crash leaves, was never acknowledged: it is cut off. Anything else that does
 * not hold together is refused before a file is touched; records may have been handed to `onRecord` by then.
 *
 * @throws {ServiceError} STORE_UNUSABLE for damage, missing segments, another store's, another format's.
 */
export async function openJournal(options: JournalOptions): Promise<JournalOpened> {
  const { disk, directory, storeId, epoch, after } = options;
  const { segments, superseded, last } = await read(options);

  let active: ActiveSegment;
  if (last === undefined) {
    await disk.makeDirectory(directory);
    active = await createSegment(disk, directory, {
      storeId,
      epoch,
      firstSequence: after + 1,
      previousChecksum: 0,
    });
  } else {
    await makeDurable(disk, directory, last);
    active = {
      path: last.path,
      firstSequence: last.firstSequence,
      salt: last.header.salt,
      file: await disk.open(last.path, "write"),
      length: last.content.goodBytes,
      checksum: last.content.checksum,
    };
  }

  const sequence = last?.content.lastSequence ?? after;
  const journal = new SegmentJournal({
    ...options,
    sequence,
    active,
    sealed: segments.slice(0, -1),
    superseded,
  });
  return { journal, tornBytes: last?.tornBytes ?? 0 };
}

/**
 * Looks whether a journal holds together, and touches nothing: for whoever must not begin to change a store that will
 * be refused. Answers its last whole record, and the bytes of an unfinished write behind it.
 *
 * @throws {ServiceError} STORE_UNUSABLE as `openJournal`, but for records that are whole and cannot be understood.
 */
export async function checkJournal(
  options: Omit<JournalOptions, "onRecord" | "onRefused">,
): Promise<{ readonly sequence: number; readonly tornBytes: number }> {
  const { last } = await read(options);
  return { sequence: last?.content.lastSequence ?? options.after, tornBytes: last?.tornBytes ?? 0 };
}

/** True if a journal exists and has a record; false also where the creation of a store was interrupted. */
export async function holdsRecords(disk: Disk, directory: string): Promise<boolean> {
  for (const { name } of await disk.list(directory)) {
    if (parseSegmentName(name) === undefined) continue;
    if ((await disk.size(join(directory, name))) !== SEGMENT_HEADER_BYTES) return true;
  }
  return false;
}

/** Removes a journal without records, which the unfinished making of a store has left. */
export async function removeUnused(disk: Disk, directory: string): Promise<void> {
  if (await holdsRecords(disk, directory)) throw new TypeError("a journal with records is never removed");
  for (const entry of await disk.list(directory)) {
    if (entry.isFile()) await disk.remove(join(directory, entry.name));
  }
}

type ReadOptions = Omit<JournalOptions, "onRecord"> & Partial<Pick<JournalOptions, "onRecord">>;

async function read(options: ReadOptions) {
  const { disk, directory, epoch, after, begin = after === 0 } = options;
  const { segments, superseded } = await findSegments(disk, directory, epoch);
  const last = await readSegments(options, segments);
  if (last === undefined && !begin)
    throw storeUnusable(
      `The journal in ${directory} is gone: the store is at ${epoch}.${after} and no segment of epoch ${epoch} is there. ` +
        "Nothing was changed. Put the files back, or restore a backup.",
    );
  const end = await readEndMark(disk, directory);
  const sequence = last?.content.lastSequence ?? after;
  if (end?.epoch === epoch && sequence < end.sequence)
    throw journalUnusable(
      last?.path ?? directory,
      `ends at record ${sequence}, but went to ${end.sequence} when memoryd was last stopped`,
    );
  return { segments, superseded, last };
}

async function findSegments(disk: Disk, directory: string, epoch: number) {
  const segments: SealedSegment[] = [];
  const superseded: string[] = [];
  const names = (await disk.list(directory)).filter((entry) => entry.isFile()).map(({ name }) => name);
  for (const name of names.sort()) {
    const position = parseSegmentName(name);
    if (position === undefined) continue;
    const path = join(directory, name);
    if (position.epoch > epoch)
      throw journalUnusable(
        path,
        `is of epoch ${position.epoch}, but the store's checkpoint is of epoch ${epoch}`,
      );
    if (position.epoch < epoch) superseded.push(path);
    else segments.push({ path, firstSequence: position.firstSequence, bytes: (await disk.size(path)) ?? 0 });
  }
  return { segments, superseded };
}

/** Replays the segments and checks that they belong together; the last one, as far as it is whole. */
async function readSegments(
  options: ReadOptions,
  segments: readonly SealedSegment[],
): Promise<LastSegment | undefined> {
  const { disk, after } = options;
  let last: LastSegment | undefined;
  for (const [index, segment] of segments.entries()) {
    // Covered by the checkpoint and kept for the older one only: whoever replays from there checks it.
    const next = segments[index + 1];
    if (next !== undefined && next.firstSequence <= after + 1) continue;

    if (last !== undefined && last.tornBytes > 0)
      throw journalUnusable(
        last.path,
        `ends in damage at byte ${last.content.goodBytes}, and other segments follow it`,
      );
    const bytes = await disk.readFile(segment.path);
    const header = checkHeader(options, segment, bytes);
    const expected = last === undefined ? undefined : last.content.lastSequence + 1;
    if (expected === undefined ? segment.firstSequence > after + 1 : segment.firstSequence !== expected) {
      const missing = `${expected ?? after + 1} to ${segment.firstSequence - 1}`;
      throw journalUnusable(segment.path, `follows a gap: the records ${missing} are missing`);
    }
    if (last !== undefined && header.previousChecksum !== last.content.checksum)
      throw journalUnusable(segment.path, `does not continue ${last.path}`);
    const content = readSegment(segment.path, bytes, header, options);
    const { lastGroupAt, goodBytes } = content;
    // Copies, so that a segment's 32 MiB need not stay for the sake of its end.
    const lastGroup = Buffer.from(bytes.subarray(lastGroupAt, goodBytes));
    last = { ...segment, header, content, lastGroup, tornBytes: bytes.length - goodBytes };
  }
  if (last !== undefined && last.content.lastSequence < after)
    throw journalUnusable(
      last.path,
      `ends at record ${last.content.lastSequence}, but the checkpoint is at ${after}`,
    );
  return last;
}

function checkHeader({ storeId, epoch }: ReadOptions, segment: SealedSegment, bytes: Buffer): SegmentHeader {
  const header = decodeSegmentHeader(bytes);
  if (header === undefined)
    throw journalUnusable(segment.path, `has no sound header in its first ${SEGMENT_HEADER_BYTES} bytes`);
  if (header.format > JOURNAL_FORMAT)
    throw storeUnusable(
      `The journal file ${segment.path} was written by a newer memoryd (journal format ${header.format}, this one reads ` +
        `up to ${JOURNAL_FORMAT}). Nothing was changed: use the newer program.`,
    );
  if (header.storeId !== storeId)
    throw journalUnusable(
      segment.path,
      `belongs to another store (${header.storeId}, this one is ${storeId})`,
    );
  if (header.epoch !== epoch || header.firstSequence !== segment.firstSequence)
    throw journalUnusable(segment.path, `is really the segment of ${header.epoch}.${header.firstSequence}`);
  return header;
}

/**
 * Puts the last group on the disk for certain, and cuts off what follows it. What was read may stand in the kernel's memory only: the program ended
 * before its sync was through, or that failed, and then the kernel takes the bytes for written and a sync alone would do
 * nothing. Everything before was synced before the last group was begun.
 */
async function makeDurable(
  disk: Disk,
  directory: string,
  { path, content, lastGroup }: LastSegment,
): Promise<void> {
  const segment = await disk.open(path, "write");
  try {
    await segment.write(lastGroup, content.lastGroupAt);
    await segment.truncate(content.goodBytes);
    await segment.sync();
  } finally {
    await segment.close();
  }
  await disk.syncDirectory(directory);
}
