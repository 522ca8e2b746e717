import type { Ordinal } from "../../core/ports.ts";
import { Int8Rows, quantise, type QuantisedVector } from "../../core/recall/int8-kernel.ts";
import { Column } from "./column.ts";

const NOBODY = -1;

/**
 * Every window of every memory as int8, in memory, scanned whole for each question: exact under any filter, nothing to
 * build, nothing to keep fresh. 388 bytes a window; 100 000 windows take 2 ms.
 */
export class VectorIndex {
  readonly #rows: Int8Rows;
  readonly #scales = new Column((length) => new Float32Array(length));
  readonly #ordinalOfRow = new Column((length) => new Int32Array(length));
  readonly #rowsOfOrdinal = new Map<Ordinal, number | number[]>();
  readonly #free: number[] = [];

  constructor(dimensions: number) {
    this.#rows = new Int8Rows(dimensions);
  }

  /** Bytes held outside the JavaScript heap. */
  get bytes(): number {
    return this.#rows.bytes;
  }

  /** Replaces the windows of a memory; none removes it. */
  put(ordinal: Ordinal, windows: readonly QuantisedVector[]): void {
    this.remove(ordinal);
    const rows = windows.map(({ values, scale }) => {
      const row = this.#free.pop() ?? this.#rows.count;
      if (row === this.#rows.count) this.#rows.add(values);
      else this.#rows.set(row, values);
      this.#scales.set(row, scale);
      this.#ordinalOfRow.set(row, ordinal);
      return row;
    });
    // Most memories have one window: a bare number spares 100 000 arrays.
    const [only] = rows;
    if (only !== undefined) this.#rowsOfOrdinal.set(ordinal, rows.length === 1 ? only : rows);
  }

  /** Adds one more window to a memory; for filling the index at open, where windows come one by one. */
  addWindow(ordinal: Ordinal, { values, scale }: QuantisedVector): void {
    const row = this.#rows.add(values);
    this.#scales.set(row, scale);
    this.#ordinalOfRow.set(row, ordinal);
    const known = this.#rowsOfOrdinal.get(ordinal);
    if (known === undefined) this.#rowsOfOrdinal.set(ordinal, row);
    else this.#rowsOfOrdinal.set(ordinal, typeof known === "number" ? [known, row] : [...known, row]);
  }

  /** How many memories have windows in it. */
  get size(): number {
    return this.#rowsOfOrdinal.size;
  }

  has(ordinal: Ordinal): boolean {
    return this.#rowsOfOrdinal.has(ordinal);
  }

  remove(ordinal: Ordinal): void {
    const rows = this.#rowsOfOrdinal.get(ordinal);
    if (rows === undefined) return;
    for (const row of typeof rows === "number" ? [rows] : rows) {
      this.#ordinalOfRow.set(row, NOBODY);
      this.#free.push(row);
    }
    this.#rowsOfOrdinal.delete(ordinal);
  }

  /** The windows of a memory in order, as near as int8 comes to them; none of one that has none. */
  windowsOf(ordinal: Ordinal): Float32Array[] {
    return [this.#rowsOfOrdinal.get(ordinal) ?? []].flat().map((row) => {
      const window = new Float32Array(this.#rows.row(row));
      const scale = this.#scales.get(row);
      for (let i = 0; i < window.length; i += 1) window[i] = (window[i] ?? 0) * scale;
      return window;
    });
  }

  /** Raises the best cosine of each memory, by ordinal, to that of the question with its best window. */
  score(vector: Float32Array, best: Float32Array): void {
    const { values, scale } = quantise(vector);
    const products = this.#rows.dot(values);
    const scales = this.#scales.values;
    const ordinalOfRow = this.#ordinalOfRow.values;
    for (let row = 0; row < products.length; row += 1) {
      const ordinal = ordinalOfRow[row] ?? NOBODY;
      if (ordinal === NOBODY) continue;
      const cosine = (products[row] ?? 0) * (scales[row] ?? 0) * scale;
      if (cosine > (best[ordinal] ?? 0)) best[ordinal] = Math.min(cosine, 1);
    }
  }
}
