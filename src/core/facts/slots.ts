/** Values under small dense numbers; the number of a removed one is given to a later one. */
export class Slots<T> {
  readonly #values: (T | undefined)[] = [];
  readonly #free: number[] = [];

  /** Numbers are below this. */
  get capacity(): number {
    return this.#values.length;
  }

  /** The number that `add` will give. */
  get next(): number {
    return this.#free.at(-1) ?? this.#values.length;
  }

  at(number: number): T | undefined {
    return this.#values[number];
  }

  add(value: T): number {
    const number = this.#free.pop() ?? this.#values.length;
    this.#values[number] = value;
    return number;
  }

  remove(number: number): void {
    this.#values[number] = undefined;
    this.#free.push(number);
  }
}
