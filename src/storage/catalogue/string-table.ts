import type { NumberArray } from "../image/index-image.ts";

const LEAST_STRINGS = 16;

/**
 * Strings by number that nearly all have the same length and one byte per character, as ids and hashes do: outside of the heap,
 * where collecting garbage passes over them.
 */
export class StringColumn {
  readonly #width: number;
  #bytes: Buffer;
  /** Those of another length or alphabet. */
  readonly #others = new Map<number, string>();

  constructor(width: number) {
    this.#width = width;
    this.#bytes = Buffer.alloc(LEAST_STRINGS * width);
  }

  /** Any string for a number that has none. */
  get(number: number): string {
    const other = this.#others.size === 0 ? undefined : this.#others.get(number);
    return other ?? this.#bytes.toString("latin1", number * this.#width, (number + 1) * this.#width);
  }

  set(number: number, string: string): void {
    const [start, end] = [number * this.#width, (number + 1) * this.#width];
    if (end > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(end, this.#bytes.length + (this.#bytes.length >> 1)));
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#others.delete(number);
    if (string.length === this.#width) this.#bytes.write(string, start, "latin1");
    if (this.#bytes.toString("latin1", start, end) !== string) this.#others.set(number, string);
  }

  /** For an image, of the first so many. */
  toPart(count: number) {
    return {
      bytes: new Uint8Array(this.#bytes.buffer, this.#bytes.byteOffset, count * this.#width),
      others: [...this.#others],
    };
  }

  /** Fills an empty column with what `toPart` gave. */
  fromPart(bytes: NumberArray | undefined, others: readonly (readonly [number, string])[]): void {
    if (bytes instanceof Uint8Array) this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    for (const [number, string] of others) this.#others.set(number, string);
  }
}

const FREE = 0;
/** Was taken: a search goes on behind it. */
const REMOVED = -1;
const LEAST_SLOTS = 32;

/** FNV-1a's 32-bit prime and start. */
const FNV_PRIME = 16_777_619;
const FNV_START = 2_166_136_261;

/**
 * Finds numbers by their strings, which others hold: 6 to 16 bytes for each, where a map takes 30 to 60. Growing takes
 * some 200 ms at a million.
 */
export class StringTable {
  readonly #stringOf: (number: number) => string | undefined;
  /** A number and 1, from the slot on that the hash of its string names. */
  #slots: Int32Array = new Int32Array(LEAST_SLOTS);
  /** Slots that are not free. */
  #used = 0;

  /** @param stringOf must go on to answer the same for each number in the table. */
  constructor(stringOf: (number: number) => string | undefined) {
    this.#stringOf = stringOf;
  }

  find(string: string): number | undefined {
    const slot = this.#slots[this.#placeOf(string)] ?? FREE;
    return slot === FREE ? undefined : slot - 1;
  }

  /** Adds a number, or puts it in the place of the one that has the same string. */
  set(string: string, number: number): void {
    if (8 * this.#used >= 5 * this.#slots.length) this.reserve(0);
    const place = this.#placeOf(string);
    if (this.#slots[place] === FREE) this.#used += 1;
    this.#slots[place] = number + 1;
  }

  delete(string: string): void {
    const place = this.#placeOf(string);
    if (this.#slots[place] !== FREE) this.#slots[place] = REMOVED;
  }

  /** For an image: what `load` takes over. */
  get slots(): Int32Array {
    return this.#slots;
  }

  /** Fills an empty table with what `slots` gave, for the same strings. */
  load(slots: NumberArray | undefined): void {
    if (!(slots instanceof Int32Array)) throw new TypeError("slots of another kind");
    this.#slots = slots;
    this.#used = slots.reduce((used, slot) => (slot === FREE ? used : used + 1), 0);
  }

  /** Makes room for so many, so that adding them does not let the table grow. */
  reserve(count: number): void {
    const numbers = this.#slots.filter((slot) => slot > FREE);
    let length = LEAST_SLOTS;
    // At most half full after it grew, so that this does not come again soon.
    while (5 * length <= 8 * count || length <= 2 * numbers.length) length *= 2;
    this.#slots = new Int32Array(length);
    this.#used = numbers.length;
    for (const slot of numbers) this.#slots[this.#placeOf(this.#stringOf(slot - 1) ?? "")] = slot;
  }

  /** The slot that has the string, or the free one where it would go. */
  #placeOf(string: string): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let place = hash32(string) & mask; ; place = (place + 1) & mask) {
      const slot = slots[place] ?? FREE;
      if (slot === FREE || (slot !== REMOVED && this.#stringOf(slot - 1) === string)) return place;
    }
  }
}

function hash32(string: string): number {
  let hash = FNV_START;
  for (let i = 0; i < string.length; i += 1) hash = Math.imul(hash ^ string.charCodeAt(i), FNV_PRIME);
  return hash ^ (hash >>> 15);
}
