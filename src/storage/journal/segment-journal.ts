import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { notReady, type ServiceError } from "../../core/errors.ts";
import { segmentName } from "./format.ts";
import { cutRecord, GroupBuffer } from "./group-buffer.ts";
import {
  type ActiveSegment,
  createReserve,
  createSegment,
  RESERVE_BYTES,
  writeEndMark,
} from "./journal-files.ts";
import {
  type Journal,
  type JournalOptions,
  type RecordToAppend,
  diskFailed,
  isFull,
  movedAway,
  diskFull,
  writeRefused,
} from "./journal.ts";

/** A new segment begins after the record that reaches it. */
const SEGMENT_BYTES = 32 * 1024 * 1024;

/** Longest stretch of encoding before the event loop gets its turn. */
const ENCODING_SLICE_MS = 5;

/** A segment that is no longer written to. */
export interface SealedSegment {
  readonly path: string;
  readonly firstSequence: number;
  readonly bytes: number;
}

export interface SegmentJournalState extends Omit<JournalOptions, "after" | "begin" | "onRecord"> {
  /** Sequence of the last durable record. */
  readonly sequence: number;
  readonly active: ActiveSegment;
  /** Before the active one, in order. */
  readonly sealed: readonly SealedSegment[];
  /** Paths of segments of earlier epochs. */
  readonly superseded: readonly string[];
}

/** An accepted record on its way to the disk. */
interface WaitingRecord {
  readonly sequence: number;
  readonly time: number;
  /** Encoded already if it fits one frame; a larger one is encoded as it is written. */
  readonly content: Uint8Array | Pick<RecordToAppend, "changes" | "erases">;
  readonly frees: boolean;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** See `openJournal`. One loop does all that touches the files, one thing after the other. */
export class SegmentJournal implements Journal {
  readonly #state: SegmentJournalState;
  readonly #reserve: ReturnType<typeof createReserve>;
  readonly #group = new GroupBuffer();
  #active: ActiveSegment;
  #sealed: SealedSegment[];
  #superseded: string[];
  #durable: number;
  #next: number;
  #waiting: WaitingRecord[] = [];
  /** Work other than writing records, done before the next group. */
  #chores: (() => Promise<void>)[] = [];
  #working: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #readOnly: ServiceError | undefined;
  /** No room but for what frees, as far as known. */
  #full = false;

  constructor(state: SegmentJournalState) {
    this.#state = state;
    this.#reserve = createReserve(state.disk, state.directory);
    this.#active = state.active;
    this.#sealed = [...state.sealed];
    this.#superseded = [...state.superseded];
    this.#durable = state.sequence;
    this.#next = state.sequence + 1;
    void this.#asChore(() => this.#findRoom());
  }

  get position() {
    return { epoch: this.#state.epoch, sequence: this.#durable };
  }

  get readOnly(): Error | undefined {
    return this.#readOnly;
  }

  get isFull(): boolean {
    return this.#full;
  }

  async findRoom(): Promise<void> {
    if (this.#full && this.#closing === undefined) await this.#asChore(() => this.#findRoom());
  }

  get bytes(): number {
    return this.#sealed.reduce((sum, { bytes }) => sum + bytes, this.#active.length);
  }

  append({ time, changes, erases, frees }: RecordToAppend) {
    if (this.#readOnly !== undefined) throw this.#readOnly;
    if (this.#closing !== undefined) throw notReady("The store is closed.");
    if (this.#full && !frees) throw diskFull();

    // At least the beginning is encoded now: what cannot be encoded is refused before others wait behind it.
    const first = cutRecord({ changes, erases }).next().value;
    const content = first?.last === true ? first.bytes : { changes, erases };
    const sequence = this.#next++;
    const durable = new Promise<void>((resolve, reject) => {
      this.#waiting.push({ sequence, time, content, frees, resolve, reject });
    });
    this.#wake();
    return { sequence, durable };
  }

  dropThrough(sequence: number): Promise<void> {
    if (this.#closing !== undefined) return Promise.reject(notReady("The store is closed."));
    return this.#asChore(() => this.#drop(sequence));
  }

  assertInPlace(): Promise<void> {
    return this.#asChore(() => this.#assertInPlace());
  }

  beginSegment(): Promise<void> {
    if (this.#closing !== undefined) return Promise.reject(notReady("The store is closed."));
    return this.#asChore(async () => {
      if (this.#readOnly !== undefined) throw this.#readOnly;
      if (this.#active.firstSequence <= this.#durable) await this.#rotate();
    });
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      await this.#working;
      // In another store's folder it would make records of that store look lost.
      const mayMark = this.#readOnly === undefined && (await this.#isInPlace());
      await this.#active.file.close();
      // A full disk may refuse it: it helps to tell damage, and nothing rests on it.
      if (mayMark) {
        const { disk, directory, epoch } = this.#state;
        await writeEndMark(disk, directory, { epoch, sequence: this.#durable }).catch(() => undefined);
      }
    })();
    return this.#closing;
  }

  #asChore(work: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#chores.push(() => work().then(resolve, reject));
      this.#wake();
    });
  }

  #wake(): void {
    this.#working ??= this.#work();
  }

  async #work(): Promise<void> {
    // Whoever appends in the same turn of the event loop shares the group.
    await Promise.resolve();
    for (;;) {
      const chore = this.#chores.shift();
      if (chore !== undefined) await chore();
      else if (this.#waiting.length > 0) await this.#writeWaiting();
      else break;
    }
    this.#working = undefined;
  }

  async #writeWaiting(): Promise<void> {
    let taken: readonly WaitingRecord[] = this.#waiting;
    try {
      if (this.#readOnly !== undefined) throw this.#readOnly;
      if (this.#active.length >= (this.#state.segmentBytes ?? SEGMENT_BYTES)) await this.#rotate();
      const group = this.#fillGroup();
      taken = group.length > 0 ? group : this.#waiting.slice(0, 1);
      const end = group.length > 0 ? await this.#flush(this.#active) : await this.#writeLargeRecord();
      this.#settle(taken.length, end);
    } catch (error) {
      await this.#recover(error, taken);
    }
  }

  /** Puts the records that wait into the group, as many as fit; none if the first is too large for one frame. */
  #fillGroup(): readonly WaitingRecord[] {
    this.#group.clear();
    let count = 0;
    for (const { sequence, time, content } of this.#waiting) {
      if (!(content instanceof Uint8Array) || !this.#group.fits(content.length)) break;
      this.#group.add({ kind: "commit", sequence, time, payload: content });
      count += 1;
    }
    return this.#waiting.slice(0, count);
  }

  /** Writes the first record that waits in groups of its own, encoding as it goes. */
  async #writeLargeRecord(): Promise<SegmentEnd> {
    const [record] = this.#waiting;
    if (record === undefined || record.content instanceof Uint8Array)
      throw new TypeError("no large record waits");
    const { sequence, time } = record;
    // What appended it has encoded its beginning in this turn.
    await nextTurn();
    let end: SegmentEnd = this.#active;
    let sliceEnds = performance.now() + ENCODING_SLICE_MS;
    for (const { bytes, last } of cutRecord(record.content)) {
      if (!this.#group.fits(bytes.length)) end = await this.#flush(end);
      this.#group.add({ kind: last ? "commit" : "part", sequence, time, payload: bytes });
      if (performance.now() < sliceEnds) continue;
      await nextTurn();
      sliceEnds = performance.now() + ENCODING_SLICE_MS;
    }
    return this.#flush(end);
  }

  /** Writes and syncs the group behind `end`; the new end. Nothing counts as durable before `#settle`. */
  async #flush(end: SegmentEnd): Promise<SegmentEnd> {
    const { path, file, salt } = this.#active;
    const { bytes, checksum } = this.#group.seal(end.checksum, salt);
    await file.write(bytes, end.length);
    // Beside each other, so that looking costs no time.
    const [synced, found] = await Promise.allSettled([file.sync(), file.isAt(path)]);
    if (synced.status === "rejected") throw this.#stop(diskFailed(synced.reason));
    if (found.status === "fulfilled" && !found.value) throw new Error(`${path} is another file, or none`);
    this.#group.clear();
    return { length: end.length + bytes.length, checksum };
  }

  #settle(count: number, end: SegmentEnd): void {
    this.#active.length = end.length;
    this.#active.checksum = end.checksum;
    for (const { sequence, resolve } of this.#waiting.splice(0, count)) {
      this.#durable = sequence;
      resolve();
    }
  }

  /** Goes read-only for good: what is on the disk can only be known by reading it after a restart. */
  #stop(reason: ServiceError): ServiceError {
    if (this.#readOnly === undefined) {
      this.#readOnly = reason;
      this.#state.onStopped?.(reason);
    }
    return this.#readOnly;
  }

  /** Before anything is changed by name: where the path names another file, it may be another store's. */
  async #assertInPlace(): Promise<void> {
    if (!(await this.#isInPlace())) throw this.#stop(movedAway(this.#active.path));
  }

  #isInPlace(): Promise<boolean> {
    const { file, path } = this.#active;
    // If the path cannot be checked, trust it: the disk has reported no other error.
    return file.isAt(path).catch(() => true);
  }

  /** After a failed write: cuts it off, then lets what frees use the reserve or refuses everything that waits. */
  async #recover(error: unknown, failed: readonly WaitingRecord[]): Promise<void> {
    if (this.#readOnly === undefined) await this.#cutBack();
    if (this.#readOnly === undefined && !(await this.#isInPlace())) this.#stop(movedAway(this.#active.path));
    if (this.#readOnly === undefined && isFull(error)) {
      this.#full = true;
      // The loop comes back to the same records.
      if (failed.every(({ frees }) => frees) && (await this.#reserve.giveUp())) return;
      await this.#findRoom();
    }
    this.#refuseWaiting(this.#readOnly ?? (isFull(error) ? diskFull(error) : writeRefused(error)));
  }

  async #cutBack(): Promise<void> {
    const { file, length } = this.#active;
    try {
      await file.truncate(length);
      // Otherwise a power failure could bring the refused records back.
      await file.sync();
    } catch (error) {
      this.#stop(diskFailed(error));
    }
  }

  /** In one step, so that no record is accepted between two refusals. */
  #refuseWaiting(reason: ServiceError): void {
    const refused = this.#waiting;
    this.#waiting = [];
    this.#next = this.#durable + 1;
    this.#state.onRefused?.();
    for (const { reject } of refused) reject(reason);
  }

  /** Fills up the reserve; the disk is full as long as that fails or leaves no room beside it. */
  async #findRoom(): Promise<void> {
    try {
      const reserved = await this.#reserve.ensure();
      const free = await this.#state.disk.freeBytes(this.#state.directory);
      this.#full = !reserved || free < RESERVE_BYTES;
    } catch {
      // If free space is unknown, the next write finds out.
      this.#full = false;
    }
  }

  async #rotate(): Promise<void> {
    const { disk, directory, storeId, epoch } = this.#state;
    await this.#assertInPlace();
    const before = this.#active;
    const start = { storeId, epoch, firstSequence: this.#durable + 1, previousChecksum: before.checksum };
    try {
      this.#active = await createSegment(disk, directory, start);
    } catch (error) {
      // Once it has its name it must be written to, and whether it keeps that name is not known.
      const named = await disk.size(join(directory, segmentName(epoch, start.firstSequence))).catch(() => 0);
      throw named === undefined ? error : this.#stop(diskFailed(error));
    }
    this.#sealed.push({ path: before.path, firstSequence: before.firstSequence, bytes: before.length });
    await before.file.close().catch(() => undefined);
  }

  async #drop(sequence: number): Promise<void> {
    if (this.#readOnly !== undefined) throw this.#readOnly;
    await this.#assertInPlace();
    const holdsRecords = this.#active.firstSequence <= this.#durable;
    if (holdsRecords && this.#durable <= sequence) await this.#rotate();
    for (let path = this.#superseded[0]; path !== undefined; path = this.#superseded[0]) {
      await this.#removeSegment(path);
      this.#superseded.shift();
    }
    for (let [oldest, next] = this.#sealed; oldest !== undefined; [oldest, next] = this.#sealed) {
      if ((next ?? this.#active).firstSequence > sequence + 1) break;
      await this.#removeSegment(oldest.path);
      this.#sealed.shift();
    }
    if (this.#full) await this.#findRoom();
  }

  /** Synced one by one: a power failure must not bring back an older segment without those after it. */
  async #removeSegment(path: string): Promise<void> {
    await this.#state.disk.remove(path);
    await this.#state.disk.syncDirectory(this.#state.directory);
  }
}

type SegmentEnd = Pick<ActiveSegment, "length" | "checksum">;
