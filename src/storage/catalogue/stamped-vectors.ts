import { EMBEDDING_DIMENSIONS, type EmbeddingStamp, stampKey } from "../../core/embedding.ts";
import type { Ordinal, Scores, Selection } from "../../core/ports.ts";
import { Int8Rows, quantise, type QuantisedVector } from "../../core/recall/int8-kernel.ts";
import type { VectorRow } from "../../core/rows.ts";
import type { ImagePart, IndexImage } from "../index-image.ts";
import { Column, Scratch } from "./column.ts";

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
  score(vector: Float32Array, selection?: Selection, before?: Float32Array): Scores {
    const now = this.#now.score(vector, selection);
    if (before === undefined || this.#before.size === 0) return now;
    // A memory has vectors in one of the two.
    const old = this.#before.score(before, selection);
    const of = (ordinal: Ordinal) => Math.max(now.of(ordinal), old.of(ordinal));
    return {
      of,
      top: (limit, among) =>
        [...now.top(limit, among), ...old.top(limit, among)]
          .sort((a, b) => of(b) - of(a) || b - a)
          .slice(0, limit),
    };
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

  /** For an image, while no model is changed and nothing was removed. */
  toPart(): ImagePart {
    return this.#now.toPart();
  }

  /** Fills an empty index with what `toPart` gave, a part of that name. */
  async fromImage(image: IndexImage, name: string): Promise<void> {
    this.#now.fromPart(await image.read(name, { rows: (bytes) => this.#now.makeRoom(bytes) }));
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
  /** The first window's row and 1; 0 without windows. Those of the others stand in `#otherRows`. */
  readonly #firstRow = new Column((length) => new Int32Array(length));
  readonly #otherRows = new Map<Ordinal, number[]>();
  #memories = 0;
  readonly #free: number[] = [];
  readonly #scratch = new Scratch((length) => new Int32Array(length));

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
    this.#hold(row, ordinal);
  }

  /** How many memories have windows in it. */
  get size(): number {
    return this.#memories;
  }

  has(ordinal: Ordinal): boolean {
    return this.#firstRow.get(ordinal) > 0;
  }

  remove(ordinal: Ordinal): void {
    if (!this.has(ordinal)) return;
    for (const row of this.#rowsOf(ordinal)) {
      this.#ordinalOfRow.set(row, NOBODY);
      this.#free.push(row);
    }
    this.#firstRow.set(ordinal, 0);
    this.#otherRows.delete(ordinal);
    this.#memories -= 1;
  }

  /** The windows of a memory in order, as near as int8 comes to them; none of one that has none. */
  windowsOf(ordinal: Ordinal): Float32Array[] {
    return this.#rowsOf(ordinal).map((row) => {
      const window = new Float32Array(this.#rows.row(row));
      const scale = this.#scales.get(row);
      for (let i = 0; i < window.length; i += 1) window[i] = (window[i] ?? 0) * scale;
      return window;
    });
  }

  toPart(): ImagePart {
    const { count, values: rows } = this.#rows;
    const scales = this.#scales.values.subarray(0, count);
    return {
      numbers: { rows, scales, ordinalOfRow: this.#ordinalOfRow.values.subarray(0, count) },
      json: {},
    };
  }

  /** Room for the rows of a part, to be filled before `fromPart`. */
  makeRoom(bytes: number): Uint8Array {
    return this.#rows.makeRoom(bytes);
  }

  /** Takes over the rest of what `toPart` gave. */
  fromPart({ numbers: { scales, ordinalOfRow } }: ImagePart): void {
    this.#scales.load(scales);
    this.#ordinalOfRow.load(ordinalOfRow);
    for (let row = 0; row < this.#rows.count; row += 1) this.#hold(row, this.#ordinalOfRow.get(row));
  }

  #rowsOf(ordinal: Ordinal): number[] {
    return this.has(ordinal)
      ? [this.#firstRow.get(ordinal) - 1, ...(this.#otherRows.get(ordinal) ?? [])]
      : [];
  }

  #hold(row: number, ordinal: Ordinal): void {
    this.#ordinalOfRow.set(row, ordinal);
    const others = this.#otherRows.get(ordinal);
    if (!this.has(ordinal)) {
      this.#firstRow.set(ordinal, row + 1);
      this.#memories += 1;
    } else if (others === undefined) this.#otherRows.set(ordinal, [row]);
    else others.push(row);
  }

  /**
   * Cosine of the question with each memory's best window, in [0, 1], negative ones as 0. Computed where it is asked for: most
   * rows need no more than a comparison with the worst of the best.
   */
  score(vector: Float32Array, selection?: Selection): Scores {
    const { values, scale } = quantise(vector);
    const products = this.#rows.dot(values, this.#scratch.take(this.#rows.count));
    const scales = this.#scales.values;
    const ordinalOfRow = this.#ordinalOfRow.values;
    const cosine = (row: number) =>
      Math.min(Math.fround((products[row] ?? 0) * (scales[row] ?? 0) * scale), 1);
    // As `OrdinalScores.top`: one loop for both, with a function for the score, takes three times as long at a million.
    const top = (limit: number, among: Selection | undefined): Ordinal[] => {
      let best: number[] = [];
      if (limit <= 0) return best;
      const ordinalOf = (row: number) => ordinalOfRow[row] ?? NOBODY;
      // The best window of each memory.
      const cut = () => {
        const seen = new Set<Ordinal>();
        return best
          .sort((a, b) => cosine(b) - cosine(a) || ordinalOf(b) - ordinalOf(a))
          .filter((row) => seen.size !== seen.add(ordinalOf(row)).size)
          .slice(0, limit);
      };
      let floor = Number.MIN_VALUE;
      for (let row = 0; row < products.length; row += 1) {
        if (Math.fround((products[row] ?? 0) * (scales[row] ?? 0) * scale) < floor) continue;
        const ordinal = ordinalOf(row);
        if (ordinal === NOBODY || among?.has(ordinal) === false) continue;
        best.push(row);
        if (best.length < 4 * limit) continue;
        best = cut();
        if (best.length === limit) floor = cosine(best.at(-1) ?? 0);
      }
      return cut().map(ordinalOf);
    };
    return {
      of: (ordinal) => Math.max(0, ...this.#rowsOf(ordinal).map(cosine)),
      top: (limit, among = selection) => top(limit, among),
    };
  }
}
