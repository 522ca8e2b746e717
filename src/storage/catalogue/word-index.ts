import { bm25Weight, type TermStatistics } from "../../core/recall/bm25.ts";
import { nearness } from "../../core/text/near-words.ts";
import type { Ordinal, QueryTerm, Scores, Selection } from "../../core/ports.ts";
import { Column } from "./column.ts";
import { OrdinalScores } from "./ordinal-scores.ts";

/** Low bits of a posting: how often the term stands in the document, at most 63. */
const FREQUENCY_BITS = 6;
const MAX_FREQUENCY = (1 << FREQUENCY_BITS) - 1;
const NOBODY = -1;
/** Some 2 ms. */
const TERMS_PER_STEP = 4_096;
/** Postings of replaced or deleted documents are swept when they are more than this share. */
const MAX_DEAD_SHARE = 0.2;

/**
 * An inverted index over the analyser's terms, in memory: about 8 bytes for each different term of a memory. Scores are exact,
 * whatever was deleted or replaced, and a filter costs nothing in recall.
 *
 * A document is a state of a memory's terms: replacing them makes a new document and leaves the old one dead in its
 * postings, so that a removal need not know which terms there were.
 */
export class WordIndex {
  #postings = new Map<string, number[]>();
  #ordinalOfDocument = new Column((length) => new Int32Array(length));
  #lengthOfDocument = new Column((length) => new Uint32Array(length));
  readonly #documentOfOrdinal = new Map<Ordinal, number>();
  #documents = 0;
  #totalLength = 0;

  /** Replaces the terms of a memory. */
  put(ordinal: Ordinal, terms: Iterable<string>): void {
    for (const _ of this.putInSteps(ordinal, terms));
  }

  /** Like `put`, in steps: until the last one the memory has its old terms. No other may be put meanwhile. */
  *putInSteps(ordinal: Ordinal, terms: Iterable<string>): Generator<void, void> {
    const base = this.#documents << FREQUENCY_BITS;
    this.#ordinalOfDocument.set(this.#documents, NOBODY);
    let length = 0;
    for (const term of terms) {
      const postings = this.#postings.get(term);
      if (postings === undefined) this.#postings.set(term, [base + 1]);
      else countIn(postings, base);
      length += 1;
      if (length % TERMS_PER_STEP === 0) yield;
    }
    this.remove(ordinal);
    this.#add(ordinal, length);
  }

  /**
   * For filling an empty index at open: a `put` for memories not there yet, of terms in UTF-8 with a space between. To be
   * used before anything else is put or removed.
   */
  startLoading(): (ordinal: Ordinal, terms: Uint8Array) => void {
    const reader = new TermReader();
    const lists: number[][] = [];
    return (ordinal, terms) => {
      const base = this.#documents << FREQUENCY_BITS;
      const length = reader.read(terms, (number) => {
        const postings = lists[number];
        if (postings === undefined) this.#postings.set(reader.term(number), (lists[number] = [base + 1]));
        else countIn(postings, base);
      });
      this.#add(ordinal, length);
    };
  }

  remove(ordinal: Ordinal): void {
    const document = this.#documentOfOrdinal.get(ordinal);
    if (document === undefined) return;
    this.#documentOfOrdinal.delete(ordinal);
    this.#ordinalOfDocument.set(document, NOBODY);
    this.#totalLength -= this.#lengthOfDocument.get(document);
  }

  /** Sweeps when it is time; to be called once a record, however many memories it removed. */
  tidy(): void {
    const dead = this.#documents - this.#documentOfOrdinal.size;
    if (dead > 1_000 && dead > MAX_DEAD_SHARE * this.#documents) this.#sweep();
  }

  /** Statistics of all live memories, or of the given ones. Cost: linear in all memories, and for a term in those that have it. */
  statistics(among: Selection | undefined): TermStatistics {
    const ordinalOfDocument = this.#ordinalOfDocument.values;
    const isCounted = (document: number) => {
      const ordinal = ordinalOfDocument[document] ?? NOBODY;
      return ordinal !== NOBODY && (among === undefined || among.has(ordinal));
    };
    let memories = this.#documentOfOrdinal.size;
    let totalLength = this.#totalLength;
    if (among !== undefined) {
      const lengthOfDocument = this.#lengthOfDocument.values;
      memories = totalLength = 0;
      for (let document = 0; document < this.#documents; document += 1) {
        if (!isCounted(document)) continue;
        memories += 1;
        totalLength += lengthOfDocument[document] ?? 0;
      }
    }
    return {
      memories,
      totalLength,
      memoriesWith: (term) => {
        let count = 0;
        for (const posting of this.#postings.get(term) ?? []) {
          if (isCounted(posting >>> FREQUENCY_BITS)) count += 1;
        }
        return count;
      },
      termsNear: (word) => {
        const near: QueryTerm[] = [];
        for (const [term, postings] of this.#postings) {
          const weight = nearness(word, term);
          if (weight > 0 && postings.some((posting) => isCounted(posting >>> FREQUENCY_BITS)))
            near.push({ term, weight });
        }
        return near;
      },
    };
  }

  /** BM25 of each memory, the weights of the terms as they are given. */
  score(
    terms: readonly QueryTerm[],
    averageLength: number,
    ordinals: number,
    selection: Selection | undefined,
  ): Scores {
    const scores = new Float32Array(ordinals);
    const ordinalOfDocument = this.#ordinalOfDocument.values;
    const lengthOfDocument = this.#lengthOfDocument.values;
    for (const { term, weight } of terms) {
      for (const posting of this.#postings.get(term) ?? []) {
        const document = posting >>> FREQUENCY_BITS;
        const ordinal = ordinalOfDocument[document] ?? NOBODY;
        if (ordinal === NOBODY) continue;
        const length = lengthOfDocument[document] ?? 0;
        scores[ordinal] =
          (scores[ordinal] ?? 0) + weight * bm25Weight(posting & MAX_FREQUENCY, length, averageLength);
      }
    }
    return new OrdinalScores(scores, selection);
  }

  /** The document whose postings were just written. */
  #add(ordinal: Ordinal, length: number): void {
    this.#ordinalOfDocument.set(this.#documents, ordinal);
    this.#lengthOfDocument.set(this.#documents, length);
    this.#documentOfOrdinal.set(ordinal, this.#documents);
    this.#documents += 1;
    this.#totalLength += length;
  }

  /** Renumbers the living documents and drops the postings of dead ones. */
  #sweep(): void {
    const ordinalOfDocument = new Column((length) => new Int32Array(length));
    const lengthOfDocument = new Column((length) => new Uint32Array(length));
    const renumbered = new Int32Array(this.#documents).fill(NOBODY);
    let next = 0;
    for (let document = 0; document < this.#documents; document += 1) {
      const ordinal = this.#ordinalOfDocument.get(document);
      if (ordinal === NOBODY) continue;
      renumbered[document] = next;
      ordinalOfDocument.set(next, ordinal);
      lengthOfDocument.set(next, this.#lengthOfDocument.get(document));
      this.#documentOfOrdinal.set(ordinal, next);
      next += 1;
    }
    for (const [term, postings] of this.#postings) {
      const living = postings.flatMap((posting) => {
        const document = renumbered[posting >>> FREQUENCY_BITS] ?? NOBODY;
        return document === NOBODY ? [] : [(document << FREQUENCY_BITS) + (posting & MAX_FREQUENCY)];
      });
      if (living.length === 0) this.#postings.delete(term);
      else this.#postings.set(term, living);
    }
    this.#ordinalOfDocument = ordinalOfDocument;
    this.#lengthOfDocument = lengthOfDocument;
    this.#documents = next;
  }
}

/** One more of the term in the document that is being written, which `base` stands for. */
function countIn(postings: number[], base: number): void {
  const last = postings[postings.length - 1] ?? 0;
  if (last < base) postings.push(base + 1);
  else if (last - base < MAX_FREQUENCY) postings[postings.length - 1] = last + 1;
}

const SPACE = 0x20;
/** FNV-1a, 32 bits. */
const HASH_PRIME = 16_777_619;
const HASH_START = 2_166_136_261;
/** Maximum load of the hash table: a fuller one makes lookups slow. */
const FULL = 0.5;

/**
 * Numbers the terms in UTF-8 text, from 0 in the order they are first seen, without making each a string: of the 3 million
 * terms of 100 000 memories a twentieth differ, and strings of all took two of the five seconds of a start.
 */
export class TermReader {
  /** Each a number and 1; 0 is free. Open addressing, a power of two long. */
  #table = new Int32Array(1 << 16);
  #count = 0;
  /** The terms end to end; where each begins; and its hash. */
  #bytes = new Uint8Array(1 << 20);
  readonly #starts: number[] = [0];
  readonly #hashes: number[] = [];

  /** Calls back with each term of a text that has one space between terms, and answers how many there were. */
  read(text: Uint8Array, visit: (number: number) => void): number {
    let count = 0;
    let start = 0;
    while (start < text.length) {
      let hash = HASH_START;
      let end = start;
      for (; end < text.length && text[end] !== SPACE; end += 1)
        hash = Math.imul(hash ^ (text[end] ?? 0), HASH_PRIME);
      visit(this.#number(text, start, end, hash));
      count += 1;
      start = end + 1;
    }
    return count;
  }

  /** The term of a number that `read` gave. */
  term(number: number): string {
    return Buffer.from(this.#bytes.buffer).toString("utf8", this.#starts[number], this.#starts[number + 1]);
  }

  #number(text: Uint8Array, start: number, end: number, hash: number): number {
    const mask = this.#table.length - 1;
    // The high bits of the hash are better mixed than the low ones.
    for (let place = (hash ^ (hash >>> 15)) & mask; ; place = (place + 1) & mask) {
      const number = (this.#table[place] ?? 0) - 1;
      if (number < 0) return this.#add(text, start, end, hash, place);
      if (this.#hashes[number] === hash && this.#isTerm(number, text, start, end)) return number;
    }
  }

  #isTerm(number: number, text: Uint8Array, start: number, end: number): boolean {
    const from = this.#starts[number] ?? 0;
    if ((this.#starts[number + 1] ?? 0) - from !== end - start) return false;
    for (let i = 0; i < end - start; i += 1) if (this.#bytes[from + i] !== text[start + i]) return false;
    return true;
  }

  #add(text: Uint8Array, start: number, end: number, hash: number, place: number): number {
    const number = this.#count;
    const from = this.#starts[number] ?? 0;
    const to = from + end - start;
    if (to > this.#bytes.length) {
      const larger = new Uint8Array(2 * to);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes.set(text.subarray(start, end), from);
    this.#starts.push(to);
    this.#hashes.push(hash);
    this.#table[place] = number + 1;
    this.#count += 1;
    if (this.#count > FULL * this.#table.length) this.#grow();
    return number;
  }

  #grow(): void {
    this.#table = new Int32Array(2 * this.#table.length);
    const mask = this.#table.length - 1;
    for (const [number, hash] of this.#hashes.entries()) {
      let place = (hash ^ (hash >>> 15)) & mask;
      while (this.#table[place] !== 0) place = (place + 1) & mask;
      this.#table[place] = number + 1;
    }
  }
}
