import { conflict, invalidRequest } from "../errors.ts";
import { type Cardinality, endOf, type Fact, isEmpty, nextVersion, objectKey } from "./fact.ts";
import { type Metadata, type Owned, ownerOf, type Written, writerOf } from "../memory.ts";

/**
 * How a timeline takes a new statement. A timeline is what one user and project hold about one subject and
 * predicate. With cardinality `one` it never holds two facts that are true at one moment; with `many` that
 * holds for each object by itself, and facts of other objects do not touch.
 *
 * "New" is the statement `[s, e)`, "old" a fact already there, "other" one of another object. Facts with an
 * empty period take no part. First how far the new statement reaches:
 *
 * | new statement | reaches to |
 * |---|---|
 * | open, a later fact begins at `f` | `f`: put into the past, it is bounded by its successor |
 * | open, nothing begins later | open |
 * | closed, an other fact begins inside it and lasts beyond `e` | that fact's beginning: its successor, too |
 * | closed, otherwise | `e` |
 * | `e` = `s` | refused: it would be true at no moment (periods are half-open: one day ends the next day) |
 * | `e` before `s` | refused |
 *
 * Then what becomes of old facts that this extent `[s, r)` meets; what lies outside stays as it was:
 *
 * | old fact | what happens |
 * |---|---|
 * | other, began before `s`, ends by `r`, or both are open | closed at `s` |
 * | other, began before `s`, lasts beyond `r` | split: closed at `s`, and its remainder returns from `r` |
 * | other, begins at `s`, lasts beyond `r` | replaced, and its remainder returns from `r` |
 * | other, begins at `s` or later, ends by `r` (one or several) | replaced: its period becomes empty |
 * | other, touches only | stays |
 * | same object, covers the extent | returned; another confidence, metadata or source makes its new version |
 * | same object, overlaps the extent or bounded it | extended to cover both; it keeps its id |
 * | same object, several such | the earliest is extended over all, the others are replaced by it |
 * | same object, touches only | stays; the new one is a fact of its own (as when one closed is stated anew) |
 * | none | a new fact |
 *
 * What closes or replaces a fact is its `superseded_by`, and the successor that bounds a statement is that of
 * the new fact. A remainder is a fact of its own, `derived_from` old. An existing fact that takes the statement
 * in is the answer (`deduplicated`). A replaced fact (empty period) is seen by its id and by `known_at` before
 * its replacement, and counts nowhere.
 *
 * | closing (`valid_to` = `v`) | what happens |
 * |---|---|
 * | `v` not given | now; for a fact that has not begun its `valid_from` (withdrawn: empty period) |
 * | `v` before `valid_from` | refused |
 * | `v` at `valid_from` | withdrawn: empty period |
 * | already closed at or before `v` | stays as it is, no new version |
 * | else | closed at `v`; `superseded_by` is cleared, since it was closed by word |
 *
 * Closing, withdrawing or erasing a fact never reopens another: what it superseded stays closed, until stated
 * anew.
 *
 * The first cardinality of a timeline holds as long as any fact of it is kept, replaced ones too; when all
 * are erased the next one chooses.
 */

/** A statement to be placed, already checked against the limits of the contract. */
export interface Statement {
  readonly object: string;
  readonly validFrom: number;
  /** Null: open. */
  readonly validTo: number | null;
  /** Absent: 1 for a new fact, as it is for an existing one. So for metadata ({}) and source (none). */
  readonly confidence?: number;
  readonly metadata?: Metadata;
  readonly sourceMemoryId?: string;
}

/** The names and owner of a new fact. */
export interface Placing extends Owned, Written {
  readonly subject: string;
  readonly predicate: string;
  readonly cardinality: Cardinality;
  /** Transaction time; later than that of every version already there, but those of the same record. */
  readonly recordedAt: number;
  newId(): string;
}

export interface Placed {
  /** The fact that now holds the statement: new, or an existing one. */
  readonly fact: Fact;
  /** New facts and new versions, each id once; empty when all was known already. */
  readonly written: readonly Fact[];
  /** Facts that the statement closed, split or replaced, earliest first. */
  readonly superseded: readonly string[];
  /** True when an existing fact took the statement in, and no new fact was made. */
  readonly deduplicated: boolean;
}

/** The timeline's own, else the one asked for, else `one`. @throws {ServiceError} CONFLICT. */
export function settleCardinality(
  held: Cardinality | undefined,
  asked: Cardinality | undefined,
): Cardinality {
  if (held !== undefined && asked !== undefined && asked !== held)
    throw conflict(
      `This subject and predicate hold ${held === "one" ? "one object at a time" : "many objects at once"}` +
        ` (cardinality "${held}"); leave cardinality out, or erase their facts first to choose anew.`,
    );
  return held ?? asked ?? "one";
}

/**
 * Puts a statement into a timeline, as the table above says.
 * @param timeline the latest version of each of its facts, in any order; with `many` those of other objects
 *   may be left out.
 * @throws {ServiceError} INVALID_REQUEST if the period is empty or ends before it begins.
 */
export function placeStatement(timeline: readonly Fact[], statement: Statement, placing: Placing): Placed {
  checkPeriod(statement);
  const key = objectKey(statement.object);
  const same: Fact[] = [];
  const others: Fact[] = [];
  for (const fact of timeline) {
    if (isEmpty(fact)) continue;
    if (objectKey(fact.object) === key) same.push(fact);
    else if (placing.cardinality === "one") others.push(fact);
  }
  same.sort(byStart);
  others.sort(byStart);

  const extent = extentOf(statement, same, others);
  const mine = same.filter((fact) => overlaps(fact, extent) || fact.id === extent.successor?.id);
  const fact =
    mine[0] === undefined ? create(statement, extent, placing) : extend(mine, statement, extent, placing);

  const written: Fact[] = fact === mine[0] ? [] : [fact];
  const superseded: Fact[] = [];
  const cut = (old: Fact, validTo: number) => {
    superseded.push(old);
    written.push(nextVersion(old, { validTo, supersededBy: fact.id }, placing.recordedAt));
  };
  for (const absorbed of mine.slice(1)) cut(absorbed, absorbed.validFrom);
  for (const old of others) {
    if (!overlaps(old, extent)) continue;
    cut(old, Math.max(old.validFrom, extent.from));
    if (endOf(old) > extent.to) written.push(remainderOf(old, extent.to, placing));
  }
  return {
    fact,
    written,
    superseded: superseded.sort(byStart).map(({ id }) => id),
    deduplicated: mine.length > 0,
  };
}

/**
 * The fact closed at `validTo`, or withdrawn, as the table above says; the fact itself where nothing changes.
 * @param validTo absent: now.
 * @throws {ServiceError} INVALID_REQUEST if `validTo` is before the fact begins.
 */
export function closeFact(
  fact: Fact,
  validTo: number | undefined,
  { now, recordedAt }: { readonly now: number; readonly recordedAt: number },
): Fact {
  if (validTo !== undefined && validTo < fact.validFrom)
    throw invalidRequest("A fact cannot end before it begins; give a valid_to at or after its valid_from.", {
      fields: [{ path: "/valid_to", message: "is before the fact's valid_from" }],
    });
  const end = validTo ?? Math.max(now, fact.validFrom);
  if (end >= endOf(fact)) return fact;
  return nextVersion(fact, { validTo: end, supersededBy: null }, recordedAt);
}

/** How far a statement reaches, and the fact that bounds it, if one does. */
interface Extent {
  readonly from: number;
  /** Infinity: open. */
  readonly to: number;
  readonly successor: Fact | undefined;
}

function extentOf(statement: Statement, same: readonly Fact[], others: readonly Fact[]): Extent {
  const from = statement.validFrom;
  const to = endOf(statement);
  const isLater = (fact: Fact) => fact.validFrom > from;
  const successor =
    statement.validTo === null
      ? [same.find(isLater), others.find(isLater)].filter((fact) => fact !== undefined).sort(byStart)[0]
      : others.find((fact) => isLater(fact) && fact.validFrom < to && endOf(fact) > to);
  return { from, to: successor?.validFrom ?? to, successor };
}

const create = (statement: Statement, extent: Extent, placing: Placing): Fact => ({
  id: placing.newId(),
  version: 1,
  subject: placing.subject,
  predicate: placing.predicate,
  object: statement.object,
  validFrom: extent.from,
  validTo: extent.to === Infinity ? null : extent.to,
  confidence: statement.confidence ?? 1,
  metadata: statement.metadata ?? {},
  ...ownerOf(placing),
  cardinality: placing.cardinality,
  sourceMemoryId: statement.sourceMemoryId ?? null,
  supersededBy: extent.successor?.id ?? null,
  derivedFrom: null,
  ...writerOf(placing),
  recordedAt: placing.recordedAt,
  updatedAt: placing.recordedAt,
});

/** The first of `mine`, extended over the periods of all and the extent; unchanged if it already covers these. */
function extend(mine: readonly Fact[], statement: Statement, extent: Extent, placing: Placing): Fact {
  const [first, last] = [mine[0], mine.at(-1)];
  if (first === undefined || last === undefined) throw new TypeError("nothing to extend");

  const lasts = endOf(last) >= extent.to;
  const changes = {
    validFrom: Math.min(first.validFrom, extent.from),
    validTo: lasts ? last.validTo : extent.to === Infinity ? null : extent.to,
    supersededBy: lasts ? last.supersededBy : (extent.successor?.id ?? null),
    confidence: statement.confidence ?? first.confidence,
    metadata: statement.metadata ?? first.metadata,
    sourceMemoryId: statement.sourceMemoryId ?? first.sourceMemoryId,
  };
  return nextVersion(first, changes, placing.recordedAt);
}

/** The rest of a fact after the period put inside it, as a fact of its own. */
const remainderOf = (old: Fact, from: number, placing: Placing): Fact => ({
  ...old,
  id: placing.newId(),
  version: 1,
  validFrom: from,
  derivedFrom: old.id,
  recordedAt: placing.recordedAt,
  updatedAt: placing.recordedAt,
});

function checkPeriod({ validFrom, validTo }: Statement): void {
  if (validTo === null || validTo > validFrom) return;
  const message =
    validTo < validFrom
      ? "is before valid_from"
      : "equals valid_from, so the fact would never be true (valid_to is the first moment at which it no longer is)";
  throw invalidRequest(`The period is not one: valid_to ${message}.`, {
    fields: [{ path: "/valid_to", message }],
  });
}

const overlaps = (fact: Fact, extent: Extent): boolean =>
  fact.validFrom < extent.to && endOf(fact) > extent.from;

const byStart = (a: Fact, b: Fact): number => a.validFrom - b.validFrom || (a.id < b.id ? -1 : 1);
