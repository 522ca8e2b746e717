import type { Ordinal, Selection } from "../../core/ports.ts";

/** Memories that pass a filter. Conditions are loops over columns: a function called for each memory takes ten times as long. */
export class OrdinalSet implements Selection {
  /** A byte for each: bits, an eighth of the memory, take three times as long. */
  readonly #members: Uint8Array;
  #size: number | undefined;

  /** Those of the first so many that are 1. */
  constructor(live: Uint8Array, ordinals: number) {
    this.#members = live.slice(0, ordinals);
  }

  get size(): number {
    if (this.#size !== undefined) return this.#size;
    const members = this.#members;
    let size = 0;
    for (let ordinal = 0; ordinal < members.length; ordinal += 1) size += members[ordinal] ?? 0;
    return (this.#size = size);
  }

  has(ordinal: Ordinal): boolean {
    return this.#members[ordinal] === 1;
  }

  list(): Ordinal[] {
    const ordinals: Ordinal[] = [];
    const members = this.#members;
    for (let ordinal = 0; ordinal < members.length; ordinal += 1)
      if (members[ordinal] === 1) ordinals.push(ordinal);
    return ordinals;
  }

  /** Keeps the ordinals whose value is one of `wanted`; an undefined value is none of them. */
  keepEqual(values: Int32Array, wanted: readonly (number | undefined)[]): void {
    const known = wanted.filter((value) => value !== undefined);
    const isWanted = new Uint8Array(Math.max(0, ...known) + 1);
    for (const value of known) isWanted[value] = 1;
    const members = this.#members;
    for (let ordinal = 0; ordinal < members.length; ordinal += 1)
      if (isWanted[values[ordinal] ?? 0] !== 1) members[ordinal] = 0;
  }

  /** Leaves those whose value has one of the bits. */
  keepBits(values: Uint8Array, wanted: number): void {
    const members = this.#members;
    for (let ordinal = 0; ordinal < members.length; ordinal += 1)
      if (((values[ordinal] ?? 0) & wanted) === 0) members[ordinal] = 0;
  }

  /** Leaves those whose value, or the one of `others` where it is NaN, is at least `from` and less than `to`. */
  keepBetween(values: Float64Array, others: Float64Array, from = -Infinity, to = Infinity): void {
    const members = this.#members;
    for (let ordinal = 0; ordinal < members.length; ordinal += 1) {
      const said = values[ordinal] ?? 0;
      const value = Number.isNaN(said) ? (others[ordinal] ?? 0) : said;
      if (!(value >= from && value < to)) members[ordinal] = 0;
    }
  }

  /** For conditions that are no comparison of numbers, after all others. */
  keepIf(test: (ordinal: Ordinal) => boolean): void {
    const members = this.#members;
    for (let ordinal = 0; ordinal < members.length; ordinal += 1)
      if (members[ordinal] === 1 && !test(ordinal)) members[ordinal] = 0;
  }
}
