import type { PageRange } from "./fact-page.ts";

/** Ordinals with the start of their period, growing. */
class Group {
  ordinals = new Int32Array(64);
  starts = new Float64Array(64);
  size = 0;

  add(ordinal: number, start: number): void {
    if (this.size === this.ordinals.length) {
      const [ordinals, starts] = [new Int32Array(this.size * 2), new Float64Array(this.size * 2)];
      ordinals.set(this.ordinals);
      starts.set(this.starts);
      this.ordinals = ordinals;
      this.starts = starts;
    }
    this.ordinals[this.size] = ordinal;
    this.starts[this.size] = start;
    this.size += 1;
  }

  /** The ordinals at places `from` … `to` of the order newest start first, then by id. */
  slice(from: number, to: number, idOf: (ordinal: number) => string): number[] {
    const last = Math.min(to, this.size) - 1;
    if (from > last) return [];
    const values = this.starts.slice(0, this.size);
    const newest = largest(values, from);
    const oldest = largest(values, last);
    let before = 0;
    const found: { start: number; ordinal: number; id: string }[] = [];
    for (let index = 0; index < this.size; index += 1) {
      const start = this.starts[index] as number;
      if (start > newest) before += 1;
      else if (start >= oldest) {
        const ordinal = this.ordinals[index] as number;
        found.push({ start, ordinal, id: idOf(ordinal) });
      }
    }
    found.sort((a, b) => b.start - a.start || (a.id < b.id ? -1 : 1));
    return found.slice(from - before, last + 1 - before).map(({ ordinal }) => ordinal);
  }
}

/**
 * Facts found by a read, by ordinal, to be counted and shown a page at a time in list order (see
 * `compareForList`).
 */
export class FactSelection {
  readonly #open = new Group();
  readonly #closed = new Group();

  get size(): number {
    return this.#open.size + this.#closed.size;
  }

  /** @param end Infinity: open. */
  add(ordinal: number, start: number, end: number): void {
    (end === Infinity ? this.#open : this.#closed).add(ordinal, start);
  }

  /**
   * The ordinals of a page. Cost: linear in the size, and n log n only in the page and what starts with its
   * first and last.
   */
  page({ limit, offset = 0 }: PageRange, idOf: (ordinal: number) => string): number[] {
    const end = offset + limit;
    const open = this.#open.slice(offset, end, idOf);
    const openSize = this.#open.size;
    return [
      ...open,
      ...this.#closed.slice(Math.max(0, offset - openSize), Math.max(0, end - openSize), idOf),
    ];
  }
}

/** The value at a place of the descending order, by quickselect (Hoare); reorders the values. */
function largest(values: Float64Array, place: number): number {
  let [low, high] = [0, values.length - 1];
  while (low < high) {
    const pivot = values[(low + high) >>> 1] as number;
    let [left, right] = [low, high];
    while (left <= right) {
      while ((values[left] as number) > pivot) left += 1;
      while ((values[right] as number) < pivot) right -= 1;
      if (left > right) break;
      const value = values[left] as number;
      values[left] = values[right] as number;
      values[right] = value;
      left += 1;
      right -= 1;
    }
    if (place <= right) high = right;
    else if (place >= left) low = left;
    else break;
  }
  return values[place] as number;
}
