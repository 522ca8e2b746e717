import { bm25Weight, type TermStatistics } from "../../core/recall/bm25.ts";
import { hasNearWords, letterBits, mayBeNear, nearness } from "../../core/text/near-words.ts";
import type { Ordinal, QueryTerm, Scores, Selection } from "../../core/ports.ts";
import type { ImagePart } from "../image/index-image.ts";
import { Column, OrdinalScores, Scratch } from "./column.ts";
import { StringTable } from "./string-table.ts";

/** Low bits of a posting: how often the term stands in the document, at most 63. */
const FREQUENCY_BITS = 6;
const MAX_FREQUENCY = (1 << FREQUENCY_BITS) - 1;
const NOBODY = -1;
/** Some 3 ms; a term alone takes as long as so many of its postings. */
const POSTINGS_PER_STEP = 50_000;
const POSTINGS_PER_TERM = 30;
/** Postings of replaced or deleted documents are swept when they are more than this share. */
const MAX_DEAD_SHARE = 0.2;

/** Postings of many terms end to end: those of term `n` end at `ends[n]`, where those of the next one begin. */
interface PostingBlock {
  readonly terms: readonly string[];
  readonly numbers: StringTable;
  /** See `letterBits`. */
  readonly letters: Int32Array;
  readonly ends: Uint32Array;
  readonly values: Int32Array;
}

const EMPTY_BLOCK: PostingBlock = {
  terms: [],
  numbers: numbersOf([]),
  letters: new Int32Array(0),
  ends: new Uint32Array(0),
  values: new Int32Array(0),
};

/** A table for the places of terms, to be filled. */
function numbersOf(terms: readonly string[]): StringTable {
  return new StringTable((number) => terms[number]);
}

/**
 * An inverted index over the analyser's terms, in memory: some 4 bytes for each different term of a memory. Scores are exact,
 * whatever was deleted or replaced, and a filter costs nothing in recall.
 *
 * A document is a state of a memory's terms: replacing them makes a new document and leaves the old one dead in its
 * postings, so that a removal need not know which terms there were.
 */
export class WordIndex {
  /** Postings as of the open or the last sweep, packed; and those of later documents. */
  #packed = EMPTY_BLOCK;
  #postings = new Map<string, number[]>();
  /** The letters of each term of `#postings`, in the order of its keys; see `letterBits`. */
  #letters: number[] = [];
  readonly #ordinalOfDocument = new Column((length) => new Int32Array(length));
  readonly #lengthOfDocument = new Column((length) => new Uint32Array(length));
  /** A document's number and 1; 0 for a memory that is not in the index. */
  readonly #documentOfOrdinal = new Column((length) => new Int32Array(length));
  #documents = 0;
  #memories = 0;
  #totalLength = 0;
  /** By term, how many living documents of the packed ones have it, once that was asked. */
  readonly #packedWith = new Map<string, number>();
  readonly #scratch = new Scratch((length) => new Float32Array(length));

  /** Replaces the terms of a memory; those of the longest text take some 20 ms. */
  put(ordinal: Ordinal, terms: Iterable<string>): void {
    const base = this.#documents << FREQUENCY_BITS;
    let length = 0;
    for (const term of terms) {
      const postings = this.#postings.get(term);
      if (postings === undefined) {
        this.#postings.set(term, [base + 1]);
        this.#letters.push(letterBits(term));
      } else countIn(postings, base);
      length += 1;
    }
    this.remove(ordinal);
    this.#ordinalOfDocument.set(this.#documents, ordinal);
    this.#lengthOfDocument.set(this.#documents, length);
    this.#documents += 1;
    this.#documentOfOrdinal.set(ordinal, this.#documents);
    this.#memories += 1;
    this.#totalLength += length;
  }

  remove(ordinal: Ordinal): void {
    const document = this.#documentOfOrdinal.get(ordinal) - 1;
    if (document < 0) return;
    this.#documentOfOrdinal.set(ordinal, 0);
    this.#packedWith.clear();
    this.#ordinalOfDocument.set(document, NOBODY);
    this.#memories -= 1;
    this.#totalLength -= this.#lengthOfDocument.get(document);
  }

  /** Sweeps when it is time, in the steps of `packInSteps`; once per record, however many memories it removed. */
  *tidyInSteps(): Generator<void, void> {
    const dead = this.#documents - this.#memories;
    if (dead > 1_000 && dead > MAX_DEAD_SHARE * this.#documents) yield* this.packInSteps();
  }

  /** Statistics of all live memories, or of the given ones. Cost: linear in all memories, and for a term in those that have it. */
  statistics(among: Selection | undefined): TermStatistics {
    const ordinalOfDocument = this.#ordinalOfDocument.values;
    const isCounted = (posting: number) => {
      const ordinal = ordinalOfDocument[posting >>> FREQUENCY_BITS] ?? NOBODY;
      return ordinal !== NOBODY && (among === undefined || among.has(ordinal));
    };
    let memories = this.#memories;
    let totalLength = this.#totalLength;
    if (among !== undefined) {
      const lengthOfDocument = this.#lengthOfDocument.values;
      memories = totalLength = 0;
      for (let document = 0; document < this.#documents; document += 1) {
        if (!isCounted(document << FREQUENCY_BITS)) continue;
        memories += 1;
        totalLength += lengthOfDocument[document] ?? 0;
      }
    }
    return {
      memories,
      totalLength,
      memoriesWith: (term) => {
        const known = among === undefined ? this.#packedWith.get(term) : undefined;
        let count = known ?? 0;
        for (const postings of this.#postingsOf(term)) {
          const isPacked = postings instanceof Int32Array;
          if (isPacked && known !== undefined) continue;
          for (let i = 0; i < postings.length; i += 1) if (isCounted(postings[i] ?? 0)) count += 1;
          if (isPacked && among === undefined) this.#packedWith.set(term, count);
        }
        return count;
      },
      termsNear: (word) => {
        const near: QueryTerm[] = [];
        if (!hasNearWords(word)) return near;
        const letters = letterBits(word);
        const { terms, numbers, letters: lettersOf } = this.#packed;
        const add = (term: string) => {
          const weight = nearness(word, term);
          if (weight > 0 && this.#postingsOf(term).some((postings) => postings.some(isCounted)))
            near.push({ term, weight });
        };
        for (let number = 0; number < lettersOf.length; number += 1)
          if (mayBeNear(word, letters, lettersOf[number] ?? 0)) add(terms[number] ?? "");
        let place = 0;
        for (const term of this.#postings.keys())
          if (mayBeNear(word, letters, this.#letters[place++] ?? 0) && numbers.find(term) === undefined)
            add(term);
        return near;
      },
    };
  }

  /** Which memories have the term. Cost of an answer: logarithmic in those that have it. */
  having(term: string): (ordinal: Ordinal) => boolean {
    const lists = this.#postingsOf(term);
    return (ordinal) => {
      const document = (this.#documentOfOrdinal.values[ordinal] ?? 0) - 1;
      if (document < 0) return false;
      for (const postings of lists) if (hasDocument(postings, document)) return true;
      return false;
    };
  }

  /** BM25 of each memory, the weights of the terms as they are given. */
  score(
    terms: readonly QueryTerm[],
    averageLength: number,
    ordinals: number,
    selection: Selection | undefined,
  ): Scores {
    const scores = this.#scratch.take(ordinals);
    const ordinalOfDocument = this.#ordinalOfDocument.values;
    const lengthOfDocument = this.#lengthOfDocument.values;
    for (const { term, weight } of terms) {
      for (const postings of this.#postingsOf(term)) {
        for (let i = 0; i < postings.length; i += 1) {
          const posting = postings[i] ?? 0;
          const document = posting >>> FREQUENCY_BITS;
          const ordinal = ordinalOfDocument[document] ?? NOBODY;
          if (ordinal === NOBODY) continue;
          const length = lengthOfDocument[document] ?? 0;
          scores[ordinal] =
            (scores[ordinal] ?? 0) + weight * bm25Weight(posting & MAX_FREQUENCY, length, averageLength);
        }
      }
    }
    return new OrdinalScores(scores, selection);
  }

  /** Renumbers the living documents, drops the postings of dead ones, and puts all into one block. */
  pack(): void {
    for (const _ of this.packInSteps());
  }

  /** Like `pack`, in steps: until the last one all is as before. Nothing may be put or removed meanwhile. */
  *packInSteps(): Generator<void, void> {
    const ordinalOfDocument = new Int32Array(this.#memories);
    const lengthOfDocument = new Uint32Array(this.#memories);
    const renumbered = new Int32Array(this.#documents).fill(NOBODY);
    let next = 0;
    for (let document = 0; document < this.#documents; document += 1) {
      const ordinal = this.#ordinalOfDocument.get(document);
      if (ordinal === NOBODY) continue;
      renumbered[document] = next;
      ordinalOfDocument[next] = ordinal;
      lengthOfDocument[next] = this.#lengthOfDocument.get(document);
      next += 1;
    }
    yield;
    const terms: string[] = [];
    const numbers = numbersOf(terms);
    const letters = new Column((length) => new Int32Array(length));
    const ends = new Column((length) => new Uint32Array(length));
    const values = new Column((length) => new Int32Array(length));
    let end = 0;
    let seen = 0;
    for (const term of this.#terms()) {
      if (seen >= POSTINGS_PER_STEP) {
        seen = 0;
        yield;
      }
      const start = end;
      for (const postings of this.#postingsOf(term)) {
        seen += POSTINGS_PER_TERM + postings.length;
        for (let i = 0; i < postings.length; i += 1) {
          const posting = postings[i] ?? 0;
          const document = renumbered[posting >>> FREQUENCY_BITS] ?? NOBODY;
          if (document !== NOBODY)
            values.set(end++, (document << FREQUENCY_BITS) + (posting & MAX_FREQUENCY));
        }
      }
      if (end === start) continue;
      const number = terms.push(term) - 1;
      letters.set(number, letterBits(term));
      ends.set(number, end);
      numbers.set(term, number);
    }
    yield;
    this.#packed = {
      terms,
      numbers,
      letters: letters.values.slice(0, terms.length),
      ends: ends.values.slice(0, terms.length),
      values: values.values.slice(0, end),
    };
    this.#postings = new Map();
    this.#letters = [];
    this.#packedWith.clear();
    ordinalOfDocument.forEach((ordinal, document) => this.#documentOfOrdinal.set(ordinal, document + 1));
    this.#ordinalOfDocument.load(ordinalOfDocument);
    this.#lengthOfDocument.load(lengthOfDocument);
    this.#documents = next;
  }

  /** For an image, of a packed index without removed memories. */
  toPart(): ImagePart {
    const { terms, ends, values } = this.#packed;
    return {
      numbers: {
        ends,
        values,
        ordinalOfDocument: this.#ordinalOfDocument.values,
        lengthOfDocument: this.#lengthOfDocument.values,
      },
      json: { terms },
    };
  }

  /** Fills an empty index with what `toPart` gave. */
  fromPart({ numbers, json }: ImagePart): void {
    const { ends, values, ordinalOfDocument, lengthOfDocument } = numbers;
    const terms = json["terms"] as string[];
    const numberOfTerm = numbersOf(terms);
    numberOfTerm.reserve(terms.length);
    terms.forEach((term, number) => numberOfTerm.set(term, number));
    this.#packed = {
      terms,
      numbers: numberOfTerm,
      letters: Int32Array.from(terms, letterBits),
      ends: ends as Uint32Array,
      values: values as Int32Array,
    };
    this.#ordinalOfDocument.load(ordinalOfDocument);
    this.#lengthOfDocument.load(lengthOfDocument);
    for (const ordinal of this.#ordinalOfDocument.values) {
      this.#documentOfOrdinal.set(ordinal, (this.#documents += 1));
      this.#totalLength += this.#lengthOfDocument.get(this.#documents - 1);
    }
    this.#memories = this.#documents;
  }

  /** Every term once. */
  *#terms(): Generator<string> {
    const { terms, numbers } = this.#packed;
    yield* terms;
    for (const term of this.#postings.keys()) if (numbers.find(term) === undefined) yield term;
  }

  /** In the order of the documents. */
  #postingsOf(term: string): (Int32Array | readonly number[])[] {
    const { numbers, ends, values } = this.#packed;
    const number = numbers.find(term);
    const packed = number === undefined ? [] : [values.subarray(ends[number - 1] ?? 0, ends[number])];
    const later = this.#postings.get(term);
    return later === undefined ? packed : [...packed, later];
  }
}

/** Whether one of the postings, which are in order, is of the document. */
function hasDocument(postings: Int32Array | readonly number[], document: number): boolean {
  let [from, to] = [0, postings.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    const other = (postings[middle] ?? 0) >>> FREQUENCY_BITS;
    if (other === document) return true;
    if (other < document) from = middle + 1;
    else to = middle;
  }
  return false;
}

/** One more of the term in the document that is being written, which `base` stands for. */
function countIn(postings: number[], base: number): void {
  const last = postings[postings.length - 1] ?? 0;
  if (last < base) postings.push(base + 1);
  else if (last - base < MAX_FREQUENCY) postings[postings.length - 1] = last + 1;
}
