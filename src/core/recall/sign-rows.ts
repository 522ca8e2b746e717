import type { Selection } from "../ports.ts";
import {
  type KernelMemory,
  openKernel,
  reserve,
  INT8_KERNEL,
  type Int8Rows,
  ROWS_A_CALL,
} from "./int8-kernel.ts";

/** Rows from which the mean of each dimension is taken. */
const SAMPLED = 4_096;
/** Rows whose bits are made in one call. */
const SIGNED_A_CALL = 1_024;
/** The kernel compares 128 bits at a time, and adds up 31 times as many. */
const LANE_BITS = 128;
const MAX_BITS = 31 * LANE_BITS;
/** Behind the differences that one call makes. */
const CENTRE_AT = ROWS_A_CALL * Uint16Array.BYTES_PER_ELEMENT;
const NOBODY = -1;

type Signs = (centre: number, rows: number, count: number, dimensions: number, out: number) => void;
type Differ = (query: number, rows: number, count: number, bytes: number, out: number) => void;

/**
 * A bit a dimension of each of some rows: whether its number is more than the mean of that dimension. Rows with few bits
 * unlike the query's are near it: a first stage before `Int8Rows.dotOf`, which reads an eighth and takes 6 ms at a million.
 */
export class SignRows {
  readonly #memory: KernelMemory;
  readonly #signs: Signs;
  readonly #differ: Differ;
  readonly #dimensions: number;
  readonly #bytes: number;
  readonly #queryAt: number;
  readonly #roomAt: number;
  readonly #rowsAt: number;
  #count = 0;
  #differences = new Uint16Array(0);

  /** Makes the bits of the rows that there are. @throws {RangeError} if their dimensions are no multiple of 128, or more than 3 968. */
  constructor(rows: Int8Rows) {
    const { dimensions, count, values } = rows;
    if (dimensions % LANE_BITS !== 0 || dimensions > MAX_BITS)
      throw new RangeError(`dimensions must be a multiple of ${LANE_BITS} to ${MAX_BITS}, got ${dimensions}`);
    this.#dimensions = dimensions;
    this.#bytes = dimensions / 8;
    // The differences first, then the centre, the query's bits, the numbers of rows whose bits are made, and the bits.
    this.#queryAt = CENTRE_AT + dimensions;
    this.#roomAt = this.#queryAt + this.#bytes;
    this.#rowsAt = this.#roomAt + SIGNED_A_CALL * dimensions;
    const { memory, exports } = openKernel(INT8_KERNEL, this.#rowsAt + count * this.#bytes);
    this.#memory = memory;
    this.#signs = exports["signs"] as Signs;
    this.#differ = exports["differ"] as Differ;
    new Int8Array(memory.buffer).set(meanOf(values, dimensions), CENTRE_AT);
    for (let first = 0; first < count; first += SIGNED_A_CALL)
      this.set(first, values.subarray(first * dimensions, (first + SIGNED_A_CALL) * dimensions));
  }

  /** Makes the bits of rows laid end to end, at most 1 024, the first of that index: one that is there, or the next. */
  set(index: number, rows: Int8Array): void {
    const count = rows.length / this.#dimensions;
    this.#count = Math.max(this.#count, index + count);
    reserve(this.#memory, this.#rowsAt + this.#count * this.#bytes);
    this.#sign(rows, this.#rowsAt + index * this.#bytes);
  }

  /**
   * The rows with the fewest bits unlike the query's: so many at least, or all; in order of their numbers.
   *
   * @param owners by row; rows of negative owners are left out.
   * @param among owners whose rows are looked at; all if absent.
   */
  nearest(query: Int8Array, limit: number, owners: Int32Array, among?: Pick<Selection, "has">): number[] {
    this.#sign(query, this.#queryAt);
    if (this.#differences.length < this.#count)
      this.#differences = new Uint16Array(this.#count + (this.#count >> 3));
    const differences = this.#differences;
    for (let first = 0; first < this.#count; first += ROWS_A_CALL) {
      const count = Math.min(ROWS_A_CALL, this.#count - first);
      this.#differ(this.#queryAt, this.#rowsAt + first * this.#bytes, count, this.#bytes, 0);
      differences.set(new Uint16Array(this.#memory.buffer, 0, count), first);
    }
    const rowsWith = new Int32Array(this.#dimensions + 1);
    for (let row = 0; row < this.#count; row += 1) {
      const owner = owners[row] ?? NOBODY;
      if (owner < 0 || among?.has(owner) === false) continue;
      const difference = differences[row] ?? 0;
      rowsWith[difference] = (rowsWith[difference] ?? 0) + 1;
    }
    let most = 0;
    for (let rows = rowsWith[0] ?? 0; rows < limit && most < this.#dimensions; rows += rowsWith[most] ?? 0)
      most += 1;
    const nearest: number[] = [];
    for (let row = 0; row < this.#count; row += 1) {
      if ((differences[row] ?? 0) > most) continue;
      const owner = owners[row] ?? NOBODY;
      if (owner >= 0 && among?.has(owner) !== false) nearest.push(row);
    }
    return nearest;
  }

  #sign(rows: Int8Array, out: number): void {
    new Int8Array(this.#memory.buffer).set(rows, this.#roomAt);
    const count = rows.length / this.#dimensions;
    this.#signs(CENTRE_AT, this.#roomAt, count, this.#dimensions, out);
  }
}

/** The mean of each dimension, of rows spread over all. */
function meanOf(values: Int8Array, dimensions: number): Int8Array {
  const sums = new Float64Array(dimensions);
  const step = Math.max(1, Math.floor(values.length / dimensions / SAMPLED)) * dimensions;
  let count = 0;
  for (let at = 0; at < values.length; at += step) {
    for (let i = 0; i < dimensions; i += 1) sums[i] = (sums[i] ?? 0) + (values[at + i] ?? 0);
    count += 1;
  }
  return Int8Array.from(sums, (sum) => Math.round(sum / Math.max(1, count)));
}
