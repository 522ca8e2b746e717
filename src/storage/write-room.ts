import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError, storeFull } from "../core/errors.ts";
import { inWords, noRoom } from "./files/disk-space.ts";
import type { StoreParts } from "./store-ports.ts";

/** Pending bytes past which a write waits for the checkpointer. */
const MAX_PENDING_BYTES = 256 * 1_024 * 1_024;
/** How often a write that waits looks whether there is room. */
const ROOM_INTERVAL_MS = 50;
/** Flushing that fails is tried again so often, and so much later, before the write is refused. */
const [FLUSHES_AGAIN, FLUSH_AGAIN_MS] = [2, 500];

type RoomParts = Pick<StoreParts, "room" | "journal" | "checkpointer"> & {
  readonly indexes: Pick<StoreParts["indexes"], "overlay">;
};

/** Whether there is room for a write: on the disk, and in memory for what is pending. */
export class WriteRoom {
  readonly #parts: RoomParts;
  readonly #assertOpen: () => void;

  /** @param assertOpen throws once the store closes. */
  constructor(parts: RoomParts, assertOpen: () => void) {
    this.#parts = parts;
    this.#assertOpen = assertOpen;
  }

  /** Why writes that add are refused, for people; undefined while they are taken. As of the last `look`. */
  get addsRefused(): string | undefined {
    const { lack } = this.#parts.room;
    if (lack !== undefined) return `the disk is full (${inWords(lack)}); deleting for good still works`;
    return this.#parts.journal.isFull
      ? "the disk, or a quota on it, is full; deleting for good still works"
      : undefined;
  }

  /** Brings `addsRefused` up to date. */
  async look(): Promise<void> {
    const { room, journal } = this.#parts;
    await room.look();
    // The journal knows of quotas too, and of what the last bytes are kept for.
    if (room.lack === undefined && journal.isFull) await journal.findRoom();
  }

  /**
   * Waits while too much is pending; why there is still too much then, for writes that would add to it.
   *
   * @throws {ServiceError} NOT_READY once the store closes.
   */
  async wait(): Promise<ServiceError | undefined> {
    const { room, journal, checkpointer, indexes } = this.#parts;
    this.#assertOpen();
    // Without a turn for others where nothing is to be asked.
    if (!room.isFresh || journal.isFull) await this.look();
    for (let failures = 0; indexes.overlay.bytes >= MAX_PENDING_BYTES;) {
      try {
        // There is room as soon as the tables have the rows; the rest of a flush may take much longer.
        const pause = () => sleep(ROOM_INTERVAL_MS, undefined, { ref: false });
        await Promise.race([checkpointer.flush().then(pause), pause()]);
      } catch (cause) {
        this.#assertOpen();
        const message = "The disk does not take what was written before; try again shortly.";
        if (failures === FLUSHES_AGAIN) return storeFull(message, { cause, retryAfterSeconds: 5 });
        failures += 1;
        await sleep(FLUSH_AGAIN_MS, undefined, { ref: false });
      }
      this.#assertOpen();
    }
    return undefined;
  }

  /** @param refusal what `wait` answered. @throws {ServiceError} STORE_FULL for a write that adds, without room. */
  assert(refusal: ServiceError | undefined): void {
    if (refusal !== undefined) throw refusal;
    if (this.#parts.room.lack !== undefined) throw noRoom(this.#parts.room.lack);
  }

  /** The error of a write, with how much must be free where the disk is full, which the journal does not know. */
  explain(error: unknown): unknown {
    const { lack } = this.#parts.room;
    const isFull = error instanceof ServiceError && error.code === "STORE_FULL";
    return isFull && lack !== undefined ? noRoom(lack, error) : error;
  }
}
