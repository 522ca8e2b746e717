import type { Change } from "../../core/rows.ts";
import { encodeChanges } from "../codec.ts";
import {
  FRAME_HEADER_BYTES,
  type Frame,
  GROUP_HEADER_BYTES,
  MAX_FRAME_BYTES,
  MAX_GROUP_BYTES,
  sealGroup,
  writeFrame,
} from "./format.ts";

/** Kept between writes; more is given back after use. */
const KEPT_BYTES = 1024 * 1024;

/** Collects the frames of one group in one buffer, so that it is one write. */
export class GroupBuffer {
  #buffer = Buffer.allocUnsafe(64 * 1024);
  #end = GROUP_HEADER_BYTES;
  #firstSequence = 0;
  #lastSequence = 0;

  get isEmpty(): boolean {
    return this.#end === GROUP_HEADER_BYTES;
  }

  fits(payloadBytes: number): boolean {
    return this.#end + FRAME_HEADER_BYTES + payloadBytes <= GROUP_HEADER_BYTES + MAX_GROUP_BYTES;
  }

  add(frame: Frame): void {
    this.#makeRoom(this.#end + FRAME_HEADER_BYTES + frame.payload.length);
    if (this.isEmpty) this.#firstSequence = frame.sequence;
    this.#lastSequence = frame.sequence;
    this.#end = writeFrame(this.#buffer, this.#end, frame);
  }

  /** The finished group, valid until the next `clear`, and its checksum. */
  seal(previousChecksum: number, salt: number): { readonly bytes: Uint8Array; readonly checksum: number } {
    const bytes = this.#buffer.subarray(0, this.#end);
    const range = { firstSequence: this.#firstSequence, lastSequence: this.#lastSequence, previousChecksum };
    return { bytes, checksum: sealGroup(bytes, range, salt) };
  }

  clear(): void {
    if (this.#buffer.length > KEPT_BYTES) this.#buffer = Buffer.allocUnsafe(KEPT_BYTES);
    this.#end = GROUP_HEADER_BYTES;
  }

  #makeRoom(bytes: number): void {
    if (bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(bytes, 2 * this.#buffer.length));
    this.#buffer.copy(larger, 0, 0, this.#end);
    this.#buffer = larger;
  }
}

/** One frame's worth of a record; the last one commits it. */
export interface RecordPiece {
  readonly bytes: Uint8Array;
  readonly last: boolean;
}

/**
 * Cuts a record's changes into frame payloads of at most `MAX_FRAME_BYTES`, encoding no more than it yields, so
 * that a large record can be encoded as it is written. Each piece has its own bytes.
 */
export function* cutRecord({
  changes,
  erases,
}: {
  readonly changes: readonly Change[];
  readonly erases?: string | undefined;
}): Generator<RecordPiece, void> {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  for (const encoded of encodeChanges(changes, erases)) {
    // A copy: the encoder's next piece overwrites this one.
    waiting.push(encoded.slice());
    bytes += encoded.length;
    if (bytes <= MAX_FRAME_BYTES) continue;
    const joined = Buffer.concat(waiting);
    let cut = 0;
    for (; joined.length - cut > MAX_FRAME_BYTES; cut += MAX_FRAME_BYTES) {
      yield { bytes: joined.subarray(cut, cut + MAX_FRAME_BYTES), last: false };
    }
    waiting = [joined.subarray(cut)];
    bytes = joined.length - cut;
  }
  yield { bytes: Buffer.concat(waiting), last: true };
}
