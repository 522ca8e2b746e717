import { fork } from "node:child_process";
import { constants, setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { EmbeddingStamp } from "../../core/embedding.ts";
import { ANALYSER_VERSION } from "../../core/text/analyser.ts";
import type { StampedVectors } from "../catalogue/stamped-vectors.ts";
import {
  type Checkpoint,
  type CheckpointedTable,
  type ChosenCheckpoint,
  tablesFolder,
} from "../checkpoints/checkpoint.ts";
import type { Checkpointer } from "../checkpoints/checkpointer.ts";
import type { Disk } from "../files/disk.ts";
import { LEAST_FREE_BYTES, roomNeededFor } from "../files/disk-space.ts";
import { encodeImage, IndexImage, removeImage, writeImage } from "./index-image.ts";
import { imageOf, type StoreIndexes, type StoreLog } from "../store-indexes.ts";
import { tableOf, type TableState } from "../tables/table-spec.ts";
import { workerFile } from "../tables/worker-client.ts";

/** Changes with what any part of the image holds. */
const IMAGE_LAYOUT = 2;
/** Memories below which a start is as quick from the tables. */
const IMAGE_FROM = 500;
/** Memories from which one is made beside the daemon: a process takes half a second, and as many memories from the tables .3 s. */
const IMAGE_BESIDE_FROM = 4_000;
/** Memory of that process at most: its own, and for each memory with its window, edges and words. */
const MAKER_BYTES = 300e6;
const MAKER_BYTES_PER_MEMORY = 1_600;

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
 * Writes the image of indexes that were just loaded from the tables, where there is room for it too. Without, an earlier one
 * goes. Answers the record up to which it goes; undefined where there is none.
 */
export async function keepImage(
  place: Place & { readonly log: StoreLog; readonly imageFrom?: number },
  chosen: ChosenCheckpoint | undefined,
  indexes: StoreIndexes,
): Promise<number | undefined> {
  const key = imageKey(chosen, indexes.vectors);
  try {
    if (chosen === undefined || key === undefined || indexes.catalogue.size < (place.imageFrom ?? IMAGE_FROM))
      await removeImage(place.disk, place.directory);
    else {
      const { sequence, tables } = chosen.checkpoint;
      await writeWithRoom(place, tables, encodeImage({ key, sequence }, imageOf(indexes)));
      return sequence;
    }
  } catch (error) {
    place.log.warn({ err: error }, "image of the indexes not written");
  }
  return undefined;
}

/** Writes an image that leaves the room that adding needs. @throws whatever went wrong; nothing is left of it then. */
async function writeWithRoom(
  { disk, directory }: Place,
  tables: readonly CheckpointedTable[],
  contents: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<void> {
  const checkRoom = async () => {
    if ((await disk.freeBytes(directory)) < roomNeededFor(tables, LEAST_FREE_BYTES))
      throw new Error("the disk has no room for it");
  };
  try {
    await checkRoom();
    await writeImage(disk, directory, contents);
    await checkRoom();
  } catch (error) {
    await removeImage(disk, directory);
    throw error;
  }
}

/** Work of the process that makes an image. */
export interface ImageOrder {
  /** The tables' folder. */
  readonly folder: string;
  readonly states: readonly TableState[];
  readonly stamp: EmbeddingStamp;
  readonly key: string;
  readonly sequence: number;
}

export interface KeptImageParts extends Place, Pick<KeptImage, "through"> {
  readonly checkpointer: Pick<Checkpointer, "hold">;
  readonly indexes: Pick<StoreIndexes, "catalogue" | "vectors">;
  readonly imageFrom?: number | undefined;
}

/** Whether an open store has an image of its indexes, and how it gets one while it is open. */
export class KeptImage {
  /** The record up to which there is an image, or will be: the journal keeps those behind it. Undefined without. */
  through: number | undefined;
  readonly #parts: KeptImageParts;
  #making: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;

  constructor(parts: KeptImageParts) {
    this.#parts = parts;
    this.through = parts.through;
  }

  /** True where the next start would be slow without `make`, for which there is enough memory. */
  get isMissing(): boolean {
    const { size } = this.#parts.indexes.catalogue;
    if (this.through !== undefined || size < (this.#parts.imageFrom ?? IMAGE_BESIDE_FROM)) return false;
    return process.availableMemory() > MAKER_BYTES + size * MAKER_BYTES_PER_MEMORY;
  }

  /**
   * Makes the image of a new checkpoint, in a process with less priority that reads the tables as a start does; so it holds nothing
   * that was deleted.
   *
   * @throws whatever went wrong, such as no room on the disk, vectors of two models, or that it was given up meanwhile. Nothing is
   *   left of it then.
   */
  async make(signal: AbortSignal): Promise<void> {
    const { checkpoint, release } = await this.#parts.checkpointer.hold("image");
    const stop = new AbortController();
    // In this turn: no later checkpoint drops records that the image lacks.
    const made = this.#makeAt(checkpoint, AbortSignal.any([signal, stop.signal])).finally(() => {
      this.#making = undefined;
      release();
    });
    this.#making = { stop, ended: made.catch(() => undefined) };
    return made;
  }

  /** Removes the image, and one that is being made, for certain. */
  async giveUp(): Promise<void> {
    this.through = undefined;
    this.#making?.stop.abort();
    await this.#making?.ended;
    await removeImage(this.#parts.disk, this.#parts.directory);
  }

  async #makeAt(checkpoint: Checkpoint, signal: AbortSignal): Promise<void> {
    const { directory, indexes } = this.#parts;
    const key = imageKey({ checkpoint, lost: new Set() }, indexes.vectors);
    const [stamp] = Object.values(checkpoint.stamps);
    if (key === undefined || stamp === undefined) throw new Error("there are vectors of two models");
    const { sequence, tables } = checkpoint;
    this.through = sequence;
    try {
      const states = tables.map(({ name, version, rows }) => ({ name, version, rows }));
      const order = { folder: tablesFolder(directory), states, stamp, key, sequence };
      await writeWithRoom(this.#parts, tables, outputOf(order, signal));
    } catch (error) {
      this.through = undefined;
      throw error;
    }
  }
}

/** All that the process of an order puts out, or an error. The process is gone then. */
async function* outputOf(order: ImageOrder, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
  const child = fork(workerFile("image/image-worker.js"), [JSON.stringify(order)], {
    execArgv: ["--max-semi-space-size=4"],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    signal,
    killSignal: "SIGKILL",
  });
  try {
    // Before it starts threads, which have its priority.
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Some systems refuse it.
  }
  let failure: Error | undefined;
  child.once("error", (error) => (failure = error));
  const closed = new Promise((resolve) => child.once("close", resolve));
  let printed = "";
  child.stderr?.on("data", (data: Buffer) => (printed = (printed + data.toString()).slice(-1_000)));
  try {
    for await (const bytes of child.stdout as AsyncIterable<Buffer>) {
      yield bytes;
      // Pieces of 64 KiB: the disk is left to others.
      await sleep(1);
    }
  } catch (error) {
    failure ??= error as Error;
  } finally {
    // Also where what was put out could not be written.
    await closed;
  }
  if (failure !== undefined) throw failure;
  if (child.exitCode !== 0)
    throw new Error(`it ended with ${child.exitCode ?? child.signalCode}: ${printed}`);
}
