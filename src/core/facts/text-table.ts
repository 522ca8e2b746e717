/**
 * Different texts, each kept once under a small number, with their folded form; a text nobody holds any more
 * goes.
 */
export class TextTable {
  readonly #numbers = new Map<string, number>();
  readonly #texts: (string | undefined)[] = [];
  readonly #folded: string[] = [];
  readonly #holders: number[] = [];
  readonly #free: number[] = [];

  /** Numbers are below this. */
  get capacity(): number {
    return this.#texts.length;
  }

  numberOf(text: string): number | undefined {
    return this.#numbers.get(text);
  }

  /** The number of a text, held once more. */
  hold(text: string, fold: (text: string) => string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) {
      this.#holders[known] = (this.#holders[known] ?? 0) + 1;
      return known;
    }
    const number = this.#free.pop() ?? this.#texts.length;
    const folded = fold(text);
    this.#numbers.set(text, number);
    this.#texts[number] = text;
    // The same string where they are equal, so that it is held once.
    this.#folded[number] = folded === text ? text : folded;
    this.#holders[number] = 1;
    return number;
  }

  release(number: number): void {
    const holders = (this.#holders[number] ?? 0) - 1;
    this.#holders[number] = holders;
    const text = this.#texts[number];
    if (holders > 0 || text === undefined) return;
    this.#numbers.delete(text);
    this.#texts[number] = undefined;
    this.#folded[number] = "";
    this.#free.push(number);
  }

  /**
   * Tells by number whether a text's folded form matches. Each text is looked at once, when it is first asked
   * for, so a read pays for the texts that it comes by; good until the table next changes.
   */
  matcher(matches: (folded: string) => boolean): (number: number) => boolean {
    const [untold, yes, no] = [0, 1, 2];
    const answers = new Uint8Array(this.capacity);
    return (number) => {
      if (answers[number] === untold) answers[number] = matches(this.#folded[number] ?? "") ? yes : no;
      return answers[number] === yes;
    };
  }
}
