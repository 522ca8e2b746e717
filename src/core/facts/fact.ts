import { type Metadata, type Owned, sorted, type Written } from "../memory.ts";

/**
 * A fact is a statement "subject predicate object" that is true for a time. Two clocks, named apart:
 * valid time (`validFrom`, `validTo`: when it is true in the world) and transaction time (`recordedAt`,
 * `updatedAt`: when it was recorded). All times are epoch milliseconds UTC, all periods half-open.
 */

/** `one`: at most one object at any moment ("lives in"). `many`: objects side by side ("speaks"). */
export const CARDINALITIES = ["one", "many"] as const;
export type Cardinality = (typeof CARDINALITIES)[number];

/**
 * One version of a fact, as it is stored and as reads answer it. Versions are only ever added; what was
 * known at a moment is the highest version whose `updatedAt` is not after it. So a change costs one small row
 * however long the history is, and no row holds until when it was the known one: the next version says so.
 *
 * Two things do touch earlier versions, because both are erasures: an erased fact loses all its rows, and an
 * id that points to something erased (`sourceMemoryId`, `supersededBy`, `derivedFrom`) becomes null.
 */
export interface Fact extends Owned, Written {
  /** UUIDv7 of the fact, the same in all its versions. */
  readonly id: string;
  /** 1 for the first, ascending by 1. */
  readonly version: number;
  /** As written, the same in all versions; compared by `nameKey`. */
  readonly subject: string;
  /** As written; compared by `nameKey`. */
  readonly predicate: string;
  /** As written; compared by `objectKey`. */
  readonly object: string;
  readonly validFrom: number;
  /** Null: open. Equal to `validFrom`: the period is empty, the fact was replaced or withdrawn whole. */
  readonly validTo: number | null;
  /** In [0, 1]. */
  readonly confidence: number;
  readonly metadata: Metadata;
  readonly cardinality: Cardinality;
  readonly sourceMemoryId: string | null;
  /** The fact that ended this one at `validTo`; null where it was closed by word or is open. */
  readonly supersededBy: string | null;
  /** The fact whose later part this is, cut off by a period put inside it. */
  readonly derivedFrom: string | null;
  /** When the fact was first recorded. */
  readonly recordedAt: number;
  /** When this version was recorded; later than that of the version before, unless the clock was wrong. */
  readonly updatedAt: number;
}

/** The row after a write, or null for gone. The id is `factRowId`. */
export type FactChange = { readonly table: "facts"; readonly id: string; readonly row: Fact | null };

export const factRowId = (fact: Pick<Fact, "id" | "version">): string => `${fact.id}#${fact.version}`;

/** The fact whose version stands in a row with that id. */
export const factIdOfRow = (rowId: string): string => rowId.slice(0, Math.max(0, rowId.lastIndexOf("#")));

/** A timeline: all facts of one user and project about one subject and predicate. */
export type FactSlot = Pick<Fact, "userId" | "project" | "subject" | "predicate">;

/** Equal for two facts of one timeline, and only for them. */
export const slotKey = (slot: FactSlot): string =>
  JSON.stringify([slot.userId, slot.project, nameKey(slot.subject), nameKey(slot.predicate)]);

const ASCII = /^[ -~]*$/;

/**
 * Text without case and compatibility differences: "Straße" and "STRASSE", "ﬁ" and "fi", full and half width,
 * composed and decomposed accents are the same. Accents themselves count. The same in every locale.
 *
 * NFKC, then upper and back to lower case, which stands in for Unicode's full case folding (lower case alone
 * keeps ß apart from SS); final sigma is written as sigma, because lower-casing depends on its place in a
 * word.
 */
export function foldText(text: string): string {
  // Fast path: most names are ASCII.
  if (ASCII.test(text)) return text.toLowerCase();
  return text.normalize("NFKC").toUpperCase().toLowerCase().replaceAll("ς", "σ").normalize("NFKC");
}

/** The key by which subjects, or predicates, are compared: trimmed and folded. */
export const nameKey = (name: string): string => foldText(name.trim());

/** The key by which objects are compared: trimmed and in NFC, case kept. */
export const objectKey = (object: string): string => object.trim().normalize("NFC");

/** True of a fact that was replaced or withdrawn whole: it is true at no moment and counts nowhere. */
export const isEmpty = (fact: Pick<Fact, "validFrom" | "validTo">): boolean =>
  fact.validTo !== null && fact.validTo <= fact.validFrom;

export const isValidAt = (fact: Pick<Fact, "validFrom" | "validTo">, at: number): boolean =>
  fact.validFrom <= at && (fact.validTo === null || at < fact.validTo);

/** The end of a period as a number that compares: infinity for an open one. */
export const endOf = (fact: Pick<Fact, "validTo">): number => fact.validTo ?? Infinity;

/** The fact with something changed, itself where nothing differs; changes within one record make one version. */
export function nextVersion(fact: Fact, changes: Partial<Fact>, recordedAt: number): Fact {
  const changed = { ...fact, ...changes };
  const names = Object.keys(changes) as (keyof Fact)[];
  const isKnown = (name: keyof Fact) =>
    name === "metadata" ? sameMetadata(changed[name], fact[name]) : changed[name] === fact[name];
  if (names.every(isKnown)) return fact;
  const version = fact.updatedAt === recordedAt ? fact.version : fact.version + 1;
  return { ...changed, version, updatedAt: recordedAt };
}

/** Whether two JSON values are the same, whatever the order of keys. */
export const sameMetadata = (a: Metadata, b: Metadata): boolean =>
  a === b || JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
