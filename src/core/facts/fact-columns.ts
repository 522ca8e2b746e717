import { endOf, type Fact } from "./fact.ts";

/** Numbers of a fact that never change, see `FactColumns`. */
export interface FactNumbers {
  readonly timeline: number;
  readonly subject: number;
  readonly predicate: number;
  readonly object: number;
}

const FIRST_CAPACITY = 1_024;

/**
 * What a read over all facts looks at, as numbers in dense arrays by ordinal (48 bytes a fact), so that it is
 * bound by neither pointers nor garbage. Freed places have an empty period.
 */
export class FactColumns {
  /** Of the latest version, as all but the last four. */
  start = new Float64Array(FIRST_CAPACITY);
  /** Infinity: open. */
  end = new Float64Array(FIRST_CAPACITY);
  confidence = new Float64Array(FIRST_CAPACITY);
  updatedAt = new Float64Array(FIRST_CAPACITY);
  /** Places in the book's tables of timelines, subjects, predicates and objects. */
  timeline = new Int32Array(FIRST_CAPACITY);
  subject = new Int32Array(FIRST_CAPACITY);
  predicate = new Int32Array(FIRST_CAPACITY);
  object = new Int32Array(FIRST_CAPACITY);

  set(ordinal: number, latest: Fact): void {
    this.start[ordinal] = latest.validFrom;
    this.end[ordinal] = endOf(latest);
    this.confidence[ordinal] = latest.confidence;
    this.updatedAt[ordinal] = latest.updatedAt;
  }

  name(ordinal: number, numbers: FactNumbers): void {
    if (ordinal >= this.start.length) this.#grow();
    this.timeline[ordinal] = numbers.timeline;
    this.subject[ordinal] = numbers.subject;
    this.predicate[ordinal] = numbers.predicate;
    this.object[ordinal] = numbers.object;
  }

  free(ordinal: number): void {
    this.start[ordinal] = 0;
    this.end[ordinal] = 0;
    // Later than any moment asked for would send a read to versions that are gone.
    this.updatedAt[ordinal] = -Infinity;
  }

  #grow(): void {
    const wider = <T extends Float64Array | Int32Array>(old: T, next: T): T => {
      next.set(old);
      return next;
    };
    const capacity = this.start.length * 2;
    this.start = wider(this.start, new Float64Array(capacity));
    this.end = wider(this.end, new Float64Array(capacity));
    this.confidence = wider(this.confidence, new Float64Array(capacity));
    this.updatedAt = wider(this.updatedAt, new Float64Array(capacity));
    this.timeline = wider(this.timeline, new Int32Array(capacity));
    this.subject = wider(this.subject, new Int32Array(capacity));
    this.predicate = wider(this.predicate, new Int32Array(capacity));
    this.object = wider(this.object, new Int32Array(capacity));
  }
}
