type NumberArray = Int8Array | Uint8Array | Int32Array | Uint32Array | Float32Array | Float64Array;

/** A column of numbers that grows as it is written: a row not yet written is 0. */
export class Column<A extends NumberArray> {
  #values: A;
  readonly #make: (length: number) => A;

  constructor(make: (length: number) => A) {
    this.#make = make;
    this.#values = make(1_024);
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
      const larger = this.#make(Math.max(index + 1, this.#values.length + (this.#values.length >> 1)));
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[index] = value;
  }
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
