import type { Ordinal, Scores, Selection } from "../../core/ports.ts";
import { hash } from "node:crypto";
import { type Metadata, type Sector, SECTORS } from "../../core/memory.ts";
import type { ImagePart, NumberArray } from "../image/index-image.ts";
import { StringColumn, StringTable } from "./string-table.ts";

/** A process may have thousands of small stores open. */
const LEAST_ROWS = 16;

/** A column of numbers that grows as it is written: a row not yet written is 0. */
export class Column<A extends NumberArray> {
  #values: A;
  readonly #make: (length: number) => A;

  constructor(make: (length: number) => A) {
    this.#make = make;
    this.#values = make(0);
  }

  /** Takes over numbers that a column of its kind had. @throws {TypeError} for others. */
  load(values: NumberArray | undefined): void {
    if (values?.constructor !== this.#values.constructor) throw new TypeError("numbers of another kind");
    this.#values = values as A;
  }

  /** The numbers themselves, for loops over all rows; until the next `set`, which may move them. */
  get values(): A {
    return this.#values;
  }

  get(index: number): number {
    return this.#values[index] ?? 0;
  }

  set(index: number, value: number): void {
    if (index >= this.#values.length) {
      const larger = this.#make(
        Math.max(LEAST_ROWS, index + 1, this.#values.length + (this.#values.length >> 1)),
      );
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[index] = value;
  }
}

/** A list of numbers for each ordinal, all in one column: an array each would take 50 bytes and more. */
export class NumberLists {
  readonly #starts = new Column((length) => new Uint32Array(length));
  readonly #lengths = new Column((length) => new Uint32Array(length));
  readonly #values: Column<Int32Array> | Column<Float64Array>;
  #end = 0;

  constructor(values: Column<Int32Array> | Column<Float64Array>) {
    this.#values = values;
  }

  get(ordinal: Ordinal): readonly number[] {
    const [start, length] = [this.#starts.get(ordinal), this.#lengths.get(ordinal)];
    if (length === 0) return NO_NUMBERS;
    const { values } = this.#values;
    const list: number[] = [];
    for (let i = start; i < start + length; i += 1) list.push(values[i] ?? 0);
    return list;
  }

  has(ordinal: Ordinal, number: number): boolean {
    const start = this.#starts.values[ordinal] ?? 0;
    const end = start + (this.#lengths.values[ordinal] ?? 0);
    const { values } = this.#values;
    for (let i = start; i < end; i += 1) if (values[i] === number) return true;
    return false;
  }

  /** A longer list than before goes behind all others; the place of the one before stays empty until the next start. */
  set(ordinal: Ordinal, list: readonly number[]): void {
    if (list.length > this.#lengths.get(ordinal)) {
      this.#starts.set(ordinal, this.#end);
      this.#end += list.length;
    }
    this.#lengths.set(ordinal, list.length);
    const start = this.#starts.get(ordinal);
    list.forEach((number, i) => this.#values.set(start + i, number));
  }

  /** For an image, of the first so many. */
  toPart(name: string, size: number): Record<string, NumberArray> {
    return {
      [`${name}Starts`]: this.#starts.values.slice(0, size),
      [`${name}Lengths`]: this.#lengths.values.slice(0, size),
      [`${name}Values`]: this.#values.values.slice(0, this.#end),
    };
  }

  /** Fills an empty one with what `toPart` gave. */
  fromPart(name: string, numbers: ImagePart["numbers"]): void {
    this.#starts.load(numbers[`${name}Starts`]);
    this.#lengths.load(numbers[`${name}Lengths`]);
    this.#values.load(numbers[`${name}Values`]);
    this.#end = this.#values.values.length;
  }
}

export function mapValues<V, W>(
  values: Readonly<Record<string, V>>,
  map: (value: V) => W,
): Record<string, W> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
}

/** The place of an ordinal in an ascending list, or where it belongs. */
export function placeIn(series: readonly number[], ordinal: number): number {
  let [low, high] = [0, series.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((series[middle] ?? 0) < ordinal) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Numbers strings from 1 in the order they are first seen, so that a column can hold them; null is 0. */
export class Interner {
  readonly #numbers = new Map<string, number>();
  readonly #strings: (string | null)[] = [null];

  number(value: string | null): number {
    if (value === null) return 0;
    const known = this.#numbers.get(value);
    if (known !== undefined) return known;
    this.#strings.push(value);
    this.#numbers.set(value, this.#strings.length - 1);
    return this.#strings.length - 1;
  }

  /** The strings in their order, without null. */
  get strings(): readonly (string | null)[] {
    return this.#strings.slice(1);
  }

  /** The number of a string seen before; undefined for another, which no row can hold then. */
  known(value: string | null): number | undefined {
    return value === null ? 0 : this.#numbers.get(value);
  }

  string(number: number): string | null {
    return this.#strings[number] ?? null;
  }
}

const NONE: readonly never[] = [];

/** Which memories name which others in `supersedes`, both ways; sparse, because few memories replace others. */
export class Successors {
  readonly #supersedes = new Map<Ordinal, readonly string[]>();
  /** By id of the memory that is replaced, whether it is here or not. */
  readonly #successors = new Map<string, readonly Ordinal[]>();

  set(ordinal: Ordinal, ids: readonly string[]): void {
    for (const id of this.idsOf(ordinal)) {
      const others = this.of(id).filter((other) => other !== ordinal);
      if (others.length === 0) this.#successors.delete(id);
      else this.#successors.set(id, others);
    }
    if (ids.length === 0) this.#supersedes.delete(ordinal);
    else this.#supersedes.set(ordinal, ids);
    for (const id of ids) this.#successors.set(id, [...this.of(id), ordinal]);
  }

  get entries(): [Ordinal, readonly string[]][] {
    return [...this.#supersedes];
  }

  /** Ids that a memory supersedes. */
  idsOf(ordinal: Ordinal): readonly string[] {
    return this.#supersedes.get(ordinal) ?? NONE;
  }

  /** The memories, live or not, that supersede this one. */
  of(id: string): readonly Ordinal[] {
    return this.#successors.get(id) ?? NONE;
  }
}

/** See `MemoryRow.duplicateHash`. */
const HASH_CHARS = 32;

/** Which memories have the same text. */
export class DuplicateIndex {
  /** By ordinal. */
  readonly hashes = new StringColumn(HASH_CHARS);
  /** The first of each. */
  readonly #first = new StringTable((ordinal) => this.hashes.get(ordinal));
  /** Where there are several, after memories were changed to be the same: ascending. */
  readonly #several = new Map<string, readonly Ordinal[]>();

  toPart(size: number) {
    const { bytes, others } = this.hashes.toPart(size);
    return {
      numbers: { hashes: bytes, firstOfHash: this.#first.slots },
      json: { others, several: [...this.#several] },
    };
  }

  /** Fills an empty index with what `toPart` gave. */
  fromPart(
    { hashes, firstOfHash }: ImagePart["numbers"],
    { others, several }: ReturnType<DuplicateIndex["toPart"]>["json"],
  ): void {
    this.hashes.fromPart(hashes, others);
    this.#first.load(firstOfHash);
    for (const [hash, ordinals] of several) this.#several.set(hash, ordinals);
  }

  of(hash: string): Ordinal[] {
    const first = this.#first.find(hash);
    return first === undefined ? [] : [...(this.#several.get(hash) ?? [first])];
  }

  hold(ordinal: Ordinal): void {
    const hash = this.hashes.get(ordinal);
    // A start comes here for every memory.
    if (this.#first.find(hash) === undefined) this.#first.set(hash, ordinal);
    else
      this.#setHolders(
        ordinal,
        [...this.#holdersBeside(ordinal), ordinal].sort((a, b) => a - b),
      );
  }

  forget(ordinal: Ordinal): void {
    this.#setHolders(ordinal, this.#holdersBeside(ordinal));
  }

  /** The others with the same hash. */
  #holdersBeside(ordinal: Ordinal): Ordinal[] {
    return this.of(this.hashes.get(ordinal)).filter((holder) => holder !== ordinal);
  }

  #setHolders(ordinal: Ordinal, holders: readonly Ordinal[]): void {
    const hash = this.hashes.get(ordinal);
    const [first] = holders;
    if (first === undefined) this.#first.delete(hash);
    else this.#first.set(hash, first);
    if (holders.length > 1) this.#several.set(hash, holders);
    else this.#several.delete(hash);
  }
}

/** A number for each top-level key with a scalar value: equal pairs get equal numbers, others differ but once in 2⁵². */
export function metadataKeys(metadata: Metadata): number[] {
  return Object.entries(metadata).flatMap(([key, value]) =>
    typeof value === "object" && value !== null
      ? []
      : [
          Number.parseInt(
            hash("sha256", `${key.length}${typeof value}${key}${String(value)}`).slice(0, 13),
            16,
          ),
        ],
  );
}

/** One shared empty list: most memories have none. */
export const NO_NUMBERS: readonly number[] = [];

export function numbersOf(strings: readonly string[], interner: Interner): readonly number[] {
  return strings.length === 0 ? NO_NUMBERS : strings.map((string) => interner.number(string));
}

const NO_STRINGS: readonly string[] = [];

export function stringsOf(numbers: readonly number[] | undefined, interner: Interner): readonly string[] {
  if (numbers === undefined || numbers.length === 0) return NO_STRINGS;
  return numbers.map((number) => interner.string(number) ?? "");
}

/** One bit a sector, by its index in `SECTORS`. */
export function sectorBits(sectors: readonly Sector[]): number {
  return sectors.reduce((bits, sector) => bits | (1 << SECTORS.indexOf(sector)), 0);
}

/** A list of zeros that is used again: fresh ones of a million cost a question milliseconds, and as many megabytes until they are collected. */
export class Scratch<A extends Float32Array | Int32Array> {
  readonly #make: (length: number) => A;
  #free: A | undefined;

  constructor(make: (length: number) => A) {
    this.#make = make;
  }

  /** Valid until its caller awaits anything. */
  take(length: number): A {
    const kept = this.#free;
    // An eighth more, for a store that grows.
    const whole = kept === undefined || kept.length < length ? this.#make(length + (length >> 3)) : kept;
    if (whole === kept) whole.fill(0, 0, length);
    this.#free = undefined;
    queueMicrotask(() => (this.#free = whole));
    return whole.subarray(0, length) as A;
  }
}

/** Scores by ordinal, with the best of them on demand. */
export class OrdinalScores implements Scores {
  readonly #scores: Float32Array;
  readonly #selection: Selection | undefined;

  constructor(scores: Float32Array, selection: Selection | undefined) {
    this.#scores = scores;
    this.#selection = selection;
  }

  of(ordinal: Ordinal): number {
    return this.#scores[ordinal] ?? 0;
  }

  /**
   * Keeps those above the worst of the best so far, and cuts them when they are four times too many. From the newest on, so that
   * those that equal the worst need not be kept.
   */
  top(limit: number, among = this.#selection): Ordinal[] {
    const scores = this.#scores;
    let best: Ordinal[] = [];
    if (limit <= 0) return best;
    const cut = () => best.sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || b - a).slice(0, limit);
    let floor = 0;
    for (let ordinal = scores.length - 1; ordinal >= 0; ordinal -= 1) {
      if ((scores[ordinal] ?? 0) <= floor || among?.has(ordinal) === false) continue;
      best.push(ordinal);
      if (best.length < 4 * limit) continue;
      best = cut();
      floor = scores[best.at(-1) ?? 0] ?? 0;
    }
    return cut();
  }
}
