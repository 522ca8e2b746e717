import { EMBEDDING_DIMENSIONS, type EmbeddingStamp, stampKey } from "../../core/embedding.ts";
import type { Ordinal, Scores, Selection } from "../../core/ports.ts";
import { Int8Rows, quantise, type QuantisedVector } from "../../core/recall/int8-kernel.ts";
import { SignRows } from "../../core/recall/sign-rows.ts";
import type { VectorRow } from "../../core/rows.ts";
import type { ImagePart, IndexImage } from "../image/index-image.ts";
import { Column, Scratch } from "./column.ts";

/** Vectors of the store's model. Those of another are left out: they cannot be compared, and are made again. */
export class StampedVectors {
  #index = new VectorIndex(EMBEDDING_DIMENSIONS);
  #stamp: EmbeddingStamp;
  #key: string;
  #before: EmbeddingStamp | undefined;
  /** Told of vectors of another model that are put, which the memory lacks from then on. */
  onForeign: () => void = () => {};

  /** @param before see `before`. */
  constructor(stamp: EmbeddingStamp, before?: EmbeddingStamp) {
    this.#stamp = stamp;
    this.#key = stampKey(stamp);
    this.#before = before;
  }

  /** By `stampKey`: the store's model, and the one before while that is being replaced. */
  get stamps(): Record<string, EmbeddingStamp> {
    const stamps = this.#before === undefined ? [this.#stamp] : [this.#stamp, this.#before];
    return Object.fromEntries(stamps.map((stamp) => [stampKey(stamp), stamp]));
  }

  /** The model that is being replaced, until `changed`; the tables may have vectors of it yet. */
  get before(): EmbeddingStamp | undefined {
    return this.#before;
  }

  /** True if vectors of that stamp can be compared with questions. */
  isKnown(stamp: string): boolean {
    return stamp === this.#key;
  }

  /** Those vectors; another index after `change`. */
  get index(): VectorIndex {
    return this.#index;
  }

  put(ordinal: Ordinal, { stamp, windows }: Pick<VectorRow, "stamp" | "windows">): void {
    this.#index.put(ordinal, this.isKnown(stamp) ? windows.map(quantise) : []);
    if (!this.isKnown(stamp)) this.onForeign();
  }

  /** For filling at open, where windows come one by one. */
  addWindow(ordinal: Ordinal, stamp: string, window: QuantisedVector): void {
    if (this.isKnown(stamp)) this.#index.addWindow(ordinal, window);
  }

  /** From here on the store's model is another, and no memory has vectors. */
  change(stamp: EmbeddingStamp): void {
    if (this.isKnown(stampKey(stamp))) return;
    this.#index = new VectorIndex(EMBEDDING_DIMENSIONS);
    [this.#stamp, this.#key, this.#before] = [stamp, stampKey(stamp), this.#stamp];
  }

  /** Every memory has vectors of the store's model. */
  changed(): void {
    this.#before = undefined;
  }

  /** Fills an empty index with what `index.toPart` gave, a part of that name. */
  async fromImage(image: IndexImage, name: string): Promise<void> {
    this.#index.fromPart(await image.read(name, { rows: (bytes) => this.#index.makeRoom(bytes) }));
  }
}

const NOBODY = -1;

/** From so many windows on the scan of all, 6 ms and more, is one of their signs first. */
const SIGNED_FROM = 200_000;
/** Windows that are looked at after that: a part of all, and so many at least, and for each of the best that are asked for. */
const ONE_PROMISING_OF = 128;
const LEAST_PROMISING = 4_096;
const PROMISING = 16;

/**
 * Every window of every memory as int8, in memory, scanned whole for each question: exact under any filter, nothing to
 * build, nothing to keep fresh. 388 bytes a window; 100 000 windows take 2 ms. Large stores scan a bit a dimension first (48
 * bytes a window), and then what is promising: `top` may miss some there, `of` is exact, and so is `top` among selections
 * that have no more windows than are looked at.
 */
export class VectorIndex {
  readonly #rows: Int8Rows;
  readonly #scales = new Column((length) => new Float32Array(length));
  readonly #ordinalOfRow = new Column((length) => new Int32Array(length));
  /** The first window's row and 1; 0 without windows. Those of the others stand in `#otherRows`. */
  readonly #firstRow = new Column((length) => new Int32Array(length));
  readonly #otherRows = new Map<Ordinal, number[]>();
  readonly #free: number[] = [];
  readonly #scratch = new Scratch((length) => new Int32Array(length));
  readonly #signedFrom: number;
  #signs: SignRows | undefined;

  constructor(dimensions: number, signedFrom = SIGNED_FROM) {
    this.#rows = new Int8Rows(dimensions);
    this.#signedFrom = signedFrom;
  }

  /** Replaces the windows of a memory; none removes it. */
  put(ordinal: Ordinal, windows: readonly QuantisedVector[]): void {
    this.remove(ordinal);
    for (const window of windows) this.addWindow(ordinal, window);
  }

  addWindow(ordinal: Ordinal, { values, scale }: QuantisedVector): void {
    const row = this.#free.pop() ?? this.#rows.count;
    this.#rows.set(row, values);
    this.#signs?.set(row, values);
    this.#scales.set(row, scale);
    this.#hold(row, ordinal);
    this.#signMany();
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

  /** For an image, while no model is changed and nothing was removed. */
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
    this.#signMany();
  }

  #signMany(): void {
    if (this.#rows.count >= this.#signedFrom) this.#signs ??= new SignRows(this.#rows);
  }

  #rowsOf(ordinal: Ordinal): number[] {
    if (!this.has(ordinal)) return [];
    const [first, others] = [this.#firstRow.get(ordinal) - 1, this.#otherRows.get(ordinal)];
    return others === undefined ? [first] : [first, ...others];
  }

  #hold(row: number, ordinal: Ordinal): void {
    this.#ordinalOfRow.set(row, ordinal);
    const others = this.#otherRows.get(ordinal);
    if (!this.has(ordinal)) this.#firstRow.set(ordinal, row + 1);
    else if (others === undefined) this.#otherRows.set(ordinal, [row]);
    else others.push(row);
  }

  /**
   * Cosine of the question with each memory's best window, in [0, 1], negative ones as 0. Computed where it is asked for: most
   * rows need no more than a comparison with the worst of the best.
   */
  score(vector: Float32Array, selection?: Selection): Scores {
    const { values, scale } = quantise(vector);
    const signs = this.#signs;
    const products = signs === undefined ? this.#rows.dot(values, this.#scratch.take(this.#rows.count)) : [];
    const scales = this.#scales.values;
    const cosineOf = (row: number, product: number) =>
      Math.min(Math.fround(product * (scales[row] ?? 0) * scale), 1);
    // As `OrdinalScores.top`: one loop for both, with a function for the score, takes three times as long at a million.
    const top = (limit: number, among: Selection | undefined): Ordinal[] => {
      let best: { readonly ordinal: Ordinal; readonly cosine: number }[] = [];
      if (limit <= 0) return [];
      const ordinalOfRow = this.#ordinalOfRow.values;
      const wide = Math.max(
        LEAST_PROMISING,
        PROMISING * limit,
        Math.ceil(this.#rows.count / ONE_PROMISING_OF),
      );
      const promising =
        signs !== undefined && among !== undefined && among.size <= wide
          ? among.list().flatMap((ordinal) => this.#rowsOf(ordinal))
          : signs?.nearest(values, wide, ordinalOfRow, among);
      const found = promising === undefined ? products : this.#rows.dotOf(values, promising);
      // From here on rows are told by their places in `found`.
      const rowAt = (place: number) => (promising === undefined ? place : (promising[place] ?? 0));
      // The best window of each memory.
      const cut = () => {
        const seen = new Set<Ordinal>();
        return best
          .sort((a, b) => (a.cosine > b.cosine ? -1 : a.cosine < b.cosine ? 1 : b.ordinal - a.ordinal))
          .filter(({ ordinal }) => seen.size !== seen.add(ordinal).size)
          .slice(0, limit);
      };
      let floor = Number.MIN_VALUE;
      for (let place = 0; place < found.length; place += 1) {
        if (Math.fround((found[place] ?? 0) * (scales[rowAt(place)] ?? 0) * scale) < floor) continue;
        const ordinal = ordinalOfRow[rowAt(place)] ?? NOBODY;
        if (promising === undefined && (ordinal === NOBODY || among?.has(ordinal) === false)) continue;
        best.push({ ordinal, cosine: cosineOf(rowAt(place), found[place] ?? 0) });
        if (best.length < 4 * limit) continue;
        best = cut();
        if (best.length === limit) floor = best.at(-1)?.cosine ?? floor;
      }
      const ordinals = cut().map(({ ordinal }) => ordinal);
      if (promising === undefined) return ordinals;
      // The best window of a memory may not be among the promising.
      const scores = new Map(ordinals.map((ordinal) => [ordinal, of(ordinal)]));
      return ordinals.sort((a, b) => (scores.get(b) ?? 0) - (scores.get(a) ?? 0) || b - a);
    };
    const of = (ordinal: Ordinal) => {
      const rows = this.#rowsOf(ordinal);
      const found = signs === undefined ? undefined : this.#rows.dotOf(values, rows);
      let best = 0;
      for (let i = 0; i < rows.length; i += 1) {
        const row = rows[i] ?? 0;
        best = Math.max(best, cosineOf(row, (found === undefined ? products[row] : found[i]) ?? 0));
      }
      return best;
    };
    return { of, top: (limit, among = selection) => top(limit, among) };
  }
}
