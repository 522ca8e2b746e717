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

  /** The number of a string seen before; undefined for another, which no row can hold then. */
  known(value: string | null): number | undefined {
    return value === null ? 0 : this.#numbers.get(value);
  }

  string(number: number): string | null {
    return this.#strings[number] ?? null;
  }
}
