import { ANALYSER_VERSION } from "../../core/text/analyser.ts";
import type { StampedVectors } from "../catalogue/stamped-vectors.ts";
import type { CheckpointedTable, ChosenCheckpoint } from "../checkpoints/checkpoint.ts";
import type { Disk } from "../files/disk.ts";
import { roomNeededFor } from "../files/disk-space.ts";
import { encodeImage, IMAGE_FROM, IMAGE_LAYOUT, IndexImage, removeImage, writeImage } from "./index-image.ts";
import { imageOf, type StoreIndexes, type StoreLog } from "../store-indexes.ts";
import { tableOf } from "../tables/table-spec.ts";

/**
 * Bytes of the journal that are kept for each byte of the tables. Beside a million memories that is some 100 000 adds, which take a start 10 s of
 * processor time, where the tables take 70 s.
 */
const IMAGED_JOURNAL_SHARE = 1 / 8;
const LEAST_IMAGED_JOURNAL_BYTES = 64 * 1024 ** 2;

/** How much of the journal is kept to bring an image up to date; with more, the next start makes another one. */
export function imagedJournalBytes(tables: readonly Pick<CheckpointedTable, "files">[]): number {
  const bytes = tables.flatMap(({ files }) => files).reduce((sum, { size }) => sum + size, 0);
  return Math.max(LEAST_IMAGED_JOURNAL_BYTES, bytes * IMAGED_JOURNAL_SHARE);
}

interface Place {
  readonly disk: Disk;
  readonly directory: string;
}

/** Everything besides the records that an image depends on; undefined where there can be none. */
export function imageKey(
  chosen: Pick<ChosenCheckpoint, "checkpoint" | "lost"> | undefined,
  { stamps }: StampedVectors,
): string | undefined {
  if (chosen === undefined || chosen.lost.size > 0) return undefined;
  const { storeId, epoch, tables, stamps: stored } = chosen.checkpoint;
  // All tables of a generation come and go together; one that is lost has made the image go.
  const memories = tables.find(({ name }) => tableOf(name) === "memories");
  const models = [...Object.keys(stored), ...Object.keys(stamps)];
  if (new Set(models).size > 1) return undefined;
  return JSON.stringify([IMAGE_LAYOUT, ANALYSER_VERSION, storeId, epoch, models[0], memories?.name]);
}

/** The image of the indexes, where the journal leads from it to the checkpoint; any other is removed. */
export async function findImage(
  { disk, directory }: Place,
  key: string | undefined,
  leadsFrom: (sequence: number) => Promise<boolean>,
): Promise<IndexImage | undefined> {
  const image = key === undefined ? undefined : await IndexImage.open(disk, directory, key);
  if (image !== undefined && (await leadsFrom(image.sequence))) return image;
  await image?.close();
  await removeImage(disk, directory);
  return undefined;
}

/**
 * Writes the image of indexes that were just loaded from the tables, where it leaves the room that adding needs. Without, an
 * earlier one goes. Answers the record up to which it goes; undefined where there is none.
 */
export async function keepImage(
  {
    disk,
    directory,
    log,
    imageFrom = IMAGE_FROM,
  }: Place & {
    readonly log: StoreLog;
    readonly imageFrom?: number;
  },
  chosen: ChosenCheckpoint | undefined,
  indexes: StoreIndexes,
): Promise<number | undefined> {
  const key = imageKey(chosen, indexes.vectors);
  try {
    await removeImage(disk, directory);
    if (chosen === undefined || key === undefined || indexes.catalogue.size < imageFrom) return undefined;
    const { sequence, tables } = chosen.checkpoint;
    const contents = encodeImage({ key, sequence }, imageOf(indexes));
    const bytes = contents.reduce((sum, { length }) => sum + length, 0);
    if ((await disk.freeBytes(directory)) < bytes + roomNeededFor(tables))
      throw new Error("the disk has no room for it");
    await writeImage(disk, directory, contents);
    return sequence;
  } catch (error) {
    log.warn({ err: error }, "image of the indexes not written");
    await removeImage(disk, directory).catch(() => undefined);
    return undefined;
  }
}
