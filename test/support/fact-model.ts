/**
 * A timeline told the slow and obvious way: one cell a moment, 0 … LAST, the last standing for all time after
 * it. The whole state is copied after every record, so "what was known then" is that copy. For property tests
 * only.
 */
export const LAST = 8;

export interface ModelFact {
  readonly object: string;
  confidence: number;
  endedBy: ModelFact | null;
  derivedFrom: ModelFact | null;
}

export interface Moment {
  readonly fact: ModelFact;
  readonly confidence: number;
}

type Cells = (ModelFact | null)[];

export class FactModel {
  readonly #cells: Cells = Array.from({ length: LAST + 1 }, () => null);
  readonly #all = new Set<ModelFact>();
  /** After each record. */
  readonly snapshots: (Moment | null)[][] = [];

  /** Facts that hold any moment, by their beginning. */
  get visible(): ModelFact[] {
    return [...new Set(this.#cells)].filter((fact) => fact !== null);
  }

  startOf(fact: ModelFact): number {
    return this.#cells.indexOf(fact);
  }

  /** The first moment after it; null: open. */
  endOf(fact: ModelFact): number | null {
    const last = this.#cells.lastIndexOf(fact);
    return last === LAST ? null : last + 1;
  }

  record(object: string, from: number, to: number | null, confidence: number | undefined): void {
    const cells = this.#cells;
    const outlasts = (fact: ModelFact) => to !== null && cells.lastIndexOf(fact) >= to;
    const bound = this.visible.find((fact) => {
      const start = this.startOf(fact);
      if (to === null) return start > from;
      return fact.object !== object && start > from && start < to && outlasts(fact);
    });
    const reach = bound === undefined ? (to ?? LAST + 1) : this.startOf(bound);
    const isReached = (moment: number) => moment >= from && moment < reach;

    const mine = this.visible.filter(
      (fact) =>
        fact.object === object &&
        (fact === bound || cells.some((cell, moment) => cell === fact && isReached(moment))),
    );
    const fact = mine[0] ?? { object, confidence: 1, endedBy: null, derivedFrom: null };
    const last = mine.at(-1);
    if (last === undefined || cells.lastIndexOf(last) + 1 < reach) fact.endedBy = bound ?? null;
    else fact.endedBy = last.endedBy;
    fact.confidence = confidence ?? fact.confidence;
    this.#all.add(fact);

    for (const other of mine.slice(1)) this.#rename(other, fact);
    const cut = new Set(cells.filter((cell, moment) => cell !== null && cell !== fact && isReached(moment)));
    for (let moment = from; moment < reach; moment += 1) cells[moment] = fact;
    for (const other of cut) {
      if (other === null) continue;
      const rest = { ...other, derivedFrom: other };
      other.endedBy = fact;
      for (let moment = reach; moment <= LAST; moment += 1) {
        if (cells[moment] !== other) continue;
        cells[moment] = rest;
        this.#all.add(rest);
      }
    }
  }

  /** False when refused. */
  close(fact: ModelFact, at: number): boolean {
    if (at < this.startOf(fact)) return false;
    for (let moment = at; moment <= LAST; moment += 1) {
      if (this.#cells[moment] !== fact) continue;
      this.#cells[moment] = null;
      fact.endedBy = null;
    }
    return true;
  }

  erase(fact: ModelFact): void {
    const gone = new Set([fact]);
    const hidden = [...this.#all].filter(
      (other) => other.object === fact.object && !this.#cells.includes(other),
    );
    for (let round = 0; round <= hidden.length; round += 1) {
      for (const other of hidden) {
        if (other.endedBy !== null && gone.has(other.endedBy)) gone.add(other);
        if ([...gone].some((erased) => erased.derivedFrom === other)) gone.add(other);
      }
    }
    for (const other of this.#all) {
      if (other.endedBy !== null && gone.has(other.endedBy)) other.endedBy = null;
      if (other.derivedFrom !== null && gone.has(other.derivedFrom)) other.derivedFrom = null;
    }
    for (const erased of gone) {
      this.#all.delete(erased);
      this.#rename(erased, null);
      for (const snapshot of this.snapshots) {
        for (const [moment, held] of snapshot.entries()) if (held?.fact === erased) snapshot[moment] = null;
      }
    }
  }

  now(): (Moment | null)[] {
    return this.#cells.map((fact) => fact && { fact, confidence: fact.confidence });
  }

  #rename(from: ModelFact, to: ModelFact | null): void {
    if (to !== null) from.endedBy = to;
    for (const [moment, cell] of this.#cells.entries()) if (cell === from) this.#cells[moment] = to;
  }
}
