import { conflict, wrongField } from "../errors.ts";
import { endOf, type Fact, isEmpty, objectKey, sameMetadata, slotKey } from "../facts/fact.ts";
import type { FactReads } from "../facts/fact-book.ts";
import type { FactTransfer } from "./export-records.ts";

/** The facts after a write that restores some: the book, and the facts restored so far. */
export class RestoredFacts {
  readonly #book: FactReads;
  readonly #ownerOfMemory: (id: string) => string | null | undefined;
  readonly #added = new Map<string, readonly Fact[]>();
  readonly #latestOfSlot = new Map<string, Fact[]>();

  /** @param ownerOfMemory the memory's user; null without an owner, undefined for an unknown id. */
  constructor(book: FactReads, ownerOfMemory: (id: string) => string | null | undefined) {
    this.#book = book;
    this.#ownerOfMemory = ownerOfMemory;
  }

  /**
   * The rows that restore a fact; none where it is stored already, perhaps with further versions. A source that is no
   * memory of the fact's user is left out.
   * @throws {ServiceError} INVALID_REQUEST for a history that no store could have; CONFLICT where the id, the
   *   cardinality or the period is taken by another fact.
   */
  restore({ versions }: FactTransfer, latestAllowed: number): readonly Fact[] {
    const rows = versions.map((version) => this.#withKnownSource(version));
    const latest = checkHistory(rows, latestAllowed);

    const known = this.#book.find(latest.id)?.versions ?? this.#added.get(latest.id);
    if (known !== undefined) {
      if (versions.every((version, i) => isSameVersion(version, known[i]))) return [];
      throw conflict("Another fact, or another history of it, has this id here; it was left as it is.");
    }

    const slot = slotKey(latest);
    const others = [
      ...(this.#book.timeline(latest)?.facts ?? []).map((history) => history.latest),
      ...(this.#latestOfSlot.get(slot) ?? []),
    ];
    if (others.some(({ cardinality }) => cardinality !== latest.cardinality))
      throw conflict("The facts here about this subject and predicate have the other cardinality.");
    if (others.some((other) => excludes(latest, other)))
      throw conflict("A fact here about this subject and predicate holds at the same time.");
    this.#added.set(latest.id, rows);
    this.#latestOfSlot.set(slot, [...(this.#latestOfSlot.get(slot) ?? []), latest]);
    return rows;
  }

  #withKnownSource(version: Fact): Fact {
    const { sourceMemoryId, userId } = version;
    if (sourceMemoryId === null || this.#ownerOfMemory(sourceMemoryId) === userId) return version;
    return { ...version, sourceMemoryId: null };
  }
}

/** The last of the versions. @throws {ServiceError} INVALID_REQUEST. */
function checkHistory(versions: readonly Fact[], latestAllowed: number): Fact {
  const latest = versions.at(-1);
  if (latest === undefined) throw wrong("/versions", "must not be empty");
  for (const field of ["subject", "predicate", "object"] as const) {
    if (latest[field].trim() === "") throw wrong(`/${field}`, "is empty");
  }
  for (const [i, { updatedAt, validFrom, validTo }] of versions.entries()) {
    const path = `/versions/${i}`;
    // It may be earlier than the version before: the clock may have been set back between the two.
    if (updatedAt > latestAllowed) throw wrong(`${path}/updated_at`, "is in the future");
    if (validTo !== null && validTo < validFrom)
      throw wrong(`${path}/valid_to`, "must not be before valid_from");
  }
  return latest;
}

/** True where both hold at some moment and only one may. */
function excludes(a: Fact, b: Fact): boolean {
  if (isEmpty(a) || isEmpty(b)) return false;
  if (a.cardinality === "many" && objectKey(a.object) !== objectKey(b.object)) return false;
  return a.validFrom < endOf(b) && b.validFrom < endOf(a);
}

function isSameVersion(restored: Fact, known: Fact | undefined): boolean {
  if (known === undefined) return false;
  const { metadata, sourceMemoryId, supersededBy, derivedFrom, createdBy, ...rest } = restored;
  // Links that a removal cleared here are not restored.
  const isSameLink = (mine: string | null, its: string | null) => its === null || mine === its;
  return (
    sameMetadata(metadata, known.metadata) &&
    isSameLink(sourceMemoryId, known.sourceMemoryId) &&
    isSameLink(supersededBy, known.supersededBy) &&
    isSameLink(derivedFrom, known.derivedFrom) &&
    (createdBy === null || createdBy === known.createdBy) &&
    Object.entries(rest).every(([field, value]) => known[field as keyof Fact] === value)
  );
}

const wrong = (path: string, message: string) => wrongField("The fact is not valid", path, message);
