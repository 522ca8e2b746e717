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
import type { JournalRecord } from "./journal.ts";

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

/** A frame ends after so many changes, some 5 ms of encoding: a removal takes 60 bytes, and 1 MB of them 40 ms. */
const CHANGES_PER_FRAME = 2_000;
const FIRST_PIECE_BYTES = 4 * 1024;

/** One frame's worth of a record; the last one commits it. */
export interface RecordPiece {
  readonly bytes: Uint8Array;
  readonly last: boolean;
}

/**
 * Cuts a record's changes into frame payloads of at most `MAX_FRAME_BYTES` and `CHANGES_PER_FRAME`, encoding no more
 * than it yields, so that a large record can be encoded as it is written. Each piece has its own bytes.
 */
export function* cutRecord({
  changes,
  erases,
}: Pick<JournalRecord, "changes" | "erases">): Generator<RecordPiece, void> {
  let piece = Buffer.allocUnsafe(FIRST_PIECE_BYTES);
  let end = 0;
  let count = 0;
  for (const encoded of encodeChanges(changes, erases)) {
    if (end + encoded.length > piece.length) {
      const larger = Buffer.allocUnsafe(Math.max(end + encoded.length, 2 * piece.length));
      piece.copy(larger, 0, 0, end);
      piece = larger;
    }
    // Copied: the encoder's next piece overwrites this one.
    piece.set(encoded, end);
    end += encoded.length;
    count += 1;
    if (end <= MAX_FRAME_BYTES && count < CHANGES_PER_FRAME) continue;
    for (let cut = 0; cut < end; cut += MAX_FRAME_BYTES) {
      yield { bytes: piece.subarray(cut, Math.min(cut + MAX_FRAME_BYTES, end)), last: false };
    }
    piece = Buffer.allocUnsafe(piece.length);
    end = 0;
    count = 0;
  }
  yield { bytes: piece.subarray(0, end), last: true };
}
