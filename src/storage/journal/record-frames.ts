import type { Change } from "../../core/rows.ts";
import { encodeChanges } from "../codec.ts";
import { MAX_FRAME_BYTES } from "./format.ts";

/** One frame's worth of a record; the last one commits it. */
export interface RecordPiece {
  readonly bytes: Uint8Array;
  readonly last: boolean;
}

/**
 * Cuts a record's changes into frame payloads of at most `MAX_FRAME_BYTES`, encoding no more than it yields, so
 * that a large record can be encoded as it is written. Each piece has its own bytes.
 */
export function* cutRecord(changes: readonly Change[]): Generator<RecordPiece, void> {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  for (const encoded of encodeChanges(changes)) {
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
