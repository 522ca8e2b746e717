/** Scripts written without spaces, where a word may begin and end at any character. */
export const UNSPACED =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;

/** A run of letters and digits, or one character that is neither or of such a script. */
const PART = new RegExp(`(?:(?!${UNSPACED.source})[\\p{L}\\p{N}])+|.`, "suy");

interface State {
  length: number;
  /** Of the longest phrase end that stands elsewhere too; none of the first state. */
  suffix: State | undefined;
  readonly next: Map<string, State>;
}

/**
 * All phrases of a text: every stretch of it that begins and ends where a word may begin or end. Kept as a
 * suffix automaton over the text's parts (Blumer et al. 1985), so building it is linear in the text and looking
 * a phrase up in the phrase, however often its beginning occurs.
 */
export class Phrases {
  readonly #root: State = { length: 0, suffix: undefined, next: new Map() };
  readonly #size: number;
  /** First characters of the parts: most phrases that are not there differ in theirs. */
  readonly #firsts = new Set<number | undefined>();

  constructor(text: string) {
    this.#size = text.length;
    let last = this.#root;
    for (let place = 0; place < text.length;) {
      const part = partAt(text, place);
      place += part.length;
      this.#firsts.add(part.codePointAt(0));
      last = this.#extend(last, part);
    }
  }

  has(phrase: string): boolean {
    if (phrase.length > this.#size || !this.#firsts.has(phrase.codePointAt(0))) return false;
    let state: State | undefined = this.#root;
    for (let place = 0; state !== undefined && place < phrase.length;) {
      const part = partAt(phrase, place);
      place += part.length;
      state = state.next.get(part);
    }
    return state !== undefined;
  }

  /** Adds a part to the end of the text; returns the state of the whole text. */
  #extend(last: State, part: string): State {
    const whole: State = { length: last.length + 1, suffix: this.#root, next: new Map() };
    let state: State | undefined = last;
    for (; state !== undefined && !state.next.has(part); state = state.suffix) state.next.set(part, whole);
    const known = state?.next.get(part);
    if (state === undefined || known === undefined) return whole;
    if (known.length === state.length + 1) {
      whole.suffix = known;
      return whole;
    }
    // Some ways to the known state now occur once more than the others: they part here.
    const shorter: State = { length: state.length + 1, suffix: known.suffix, next: new Map(known.next) };
    for (; state?.next.get(part) === known; state = state.suffix) state.next.set(part, shorter);
    known.suffix = shorter;
    whole.suffix = shorter;
    return whole;
  }
}

function partAt(text: string, place: number): string {
  PART.lastIndex = place;
  return PART.exec(text)?.[0] ?? text.slice(place);
}
