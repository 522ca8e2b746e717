import { EMBEDDING_DIMENSIONS, type EmbeddingStamp, stampKey } from "../../core/embedding.ts";
import type { Ordinal, Scores, Selection } from "../../core/ports.ts";
import { Int8Rows, quantise, type QuantisedVector } from "../../core/recall/int8-kernel.ts";
import type { VectorRow } from "../../core/rows.ts";
import { OrdinalScores } from "./ordinal-scores.ts";
import { Column } from "./column.ts";

/** Vectors of the store's model and, while that is changed, of the one before. */
export class StampedVectors {
  #now: VectorIndex = new VectorIndex(EMBEDDING_DIMENSIONS);
  #before: VectorIndex = new VectorIndex(EMBEDDING_DIMENSIONS);
  #stamp: EmbeddingStamp;
  #stampBefore: EmbeddingStamp | undefined;
  /** Told of vectors that are not of the store's model, and must be made again. */
  onForeign: () => void = () => {};

  constructor(stamp: EmbeddingStamp, before?: EmbeddingStamp) {
    this.#stamp = stamp;
    this.#stampBefore = before;
  }

  /** Stamps of the vectors, by `stampKey`; the store's own first. */
  get stamps(): Record<string, EmbeddingStamp> {
    const { before } = this;
    return {
      [stampKey(this.#stamp)]: this.#stamp,
      ...(before === undefined ? {} : { [stampKey(before)]: before }),
    };
  }

  /** The model that is being replaced; undefined once no memory has vectors of it. */
  get before(): EmbeddingStamp | undefined {
    return this.#before.size === 0 ? undefined : this.#stampBefore;
  }

  isPresent(stamp: string): boolean {
    return stamp === stampKey(this.#stamp);
  }

  /** True if vectors of that stamp can be compared with questions. */
  isKnown(stamp: string): boolean {
    return this.#indexOf(stamp) !== undefined;
  }

  /** True if a memory has vectors of the store's model. */
  has(ordinal: Ordinal): boolean {
    return this.#now.has(ordinal);
  }

  put(ordinal: Ordinal, { stamp, windows }: Pick<VectorRow, "stamp" | "windows">): void {
    this.remove(ordinal);
    this.#indexOf(stamp)?.put(ordinal, windows.map(quantise));
    if (!this.isPresent(stamp)) this.onForeign();
  }

  /** For filling at open, where windows come one by one; those of an unknown stamp are left out. */
  addWindow(ordinal: Ordinal, stamp: string, window: QuantisedVector): void {
    this.#indexOf(stamp)?.addWindow(ordinal, window);
  }

  remove(ordinal: Ordinal): void {
    this.#now.remove(ordinal);
    this.#before.remove(ordinal);
  }

  /** By the store's model; see `VectorIndex.windowsOf`. */
  windowsOf(ordinal: Ordinal): Float32Array[] {
    return this.#now.windowsOf(ordinal);
  }

  /**
   * Cosine of the question with each memory's best window, in [0, 1], negative ones as 0; of the selected only.
   *
   * @param before the question by the model before; 0 for what is compared by that, if absent.
   */
  score(vector: Float32Array, ordinals: number, selection?: Selection, before?: Float32Array): Scores {
    const best = new Float32Array(ordinals);
    this.#now.score(vector, best);
    if (before !== undefined && this.#before.size > 0) this.#before.score(before, best);
    return new OrdinalScores(best, selection);
  }

  /** From here on the store's model is another. @throws {TypeError} while vectors of a third one are there. */
  change(stamp: EmbeddingStamp): void {
    if (this.isPresent(stampKey(stamp))) return;
    const { before } = this;
    if (before !== undefined && stampKey(before) !== stampKey(stamp))
      throw new TypeError("a store has vectors of two models at most");
    [this.#now, this.#before] = [this.#before, this.#now];
    [this.#stamp, this.#stampBefore] = [stamp, this.#stamp];
  }

  #indexOf(stamp: string): VectorIndex | undefined {
    if (this.isPresent(stamp)) return this.#now;
    return this.#stampBefore !== undefined && stampKey(this.#stampBefore) === stamp
      ? this.#before
      : undefined;
  }
}

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
    for (const window of windows) this.addWindow(ordinal, window);
  }

  addWindow(ordinal: Ordinal, { values, scale }: QuantisedVector): void {
    const row = this.#free.pop() ?? this.#rows.count;
    if (row === this.#rows.count) this.#rows.add(values);
    else this.#rows.set(row, values);
    this.#scales.set(row, scale);
    this.#ordinalOfRow.set(row, ordinal);
    const known = this.#rowsOfOrdinal.get(ordinal);
    // Most memories have one window: a bare number spares 100 000 arrays.
    if (known === undefined) this.#rowsOfOrdinal.set(ordinal, row);
    else if (typeof known === "number") this.#rowsOfOrdinal.set(ordinal, [known, row]);
    else known.push(row);
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
