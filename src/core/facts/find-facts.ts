import { type Fact, foldText, objectKey, endOf, sameMetadata } from "./fact.ts";
import { type FactFilter, visitFacts, type AsOf, type FactHistory } from "./fact-book.ts";
import { pageOf, charsOf, sortedPage } from "./fact-store.ts";
import type { PageRange, FactPage, FactReadPorts } from "./fact-store.ts";
import type { Given, Written } from "../memory.ts";
import { fitting } from "../page-end.ts";

interface FindFactsInput extends FactFilter, AsOf, PageRange, Given<Written> {
  /** Compared by `objectKey`. */
  readonly object?: string;
  /** In [0, 1]. */
  readonly minConfidence?: number;
  /** The last characters of the id. */
  readonly idEnd?: string;
  /** First recorded at this moment or later. */
  readonly recordedFrom?: number;
}

/** Facts that match, in list order; without `at` past and future ones too. */
export function findFacts({ store }: FactReadPorts, input: FindFactsInput): FactPage {
  const { minConfidence = 0, createdBy, recordedFrom = -Infinity, idEnd = "" } = input;
  const object = input.object === undefined ? undefined : objectKey(input.object);
  const found: Fact[] = [];
  visitFacts(store.catalogue.facts, input, (fact, history) => {
    if (fact.confidence < minConfidence || fact.recordedAt < recordedFrom) return;
    if (!fact.id.endsWith(idEnd)) return;
    if (object !== undefined && history.objectKey !== object) return;
    if (createdBy !== undefined && fact.createdBy !== createdBy) return;
    found.push(fact);
  });
  return pageOf(found, input);
}

/** Stand for `*` and `?` in a compiled pattern; no character is a number. */
const ANY_TEXT = 0;
const ANY_CHARACTER = 1;

/**
 * Makes a matcher, of texts already folded by `foldText`, of a search pattern in any case and Unicode form. With `*` (any text, also none) or `?`
 * (one character) in it the pattern describes the whole text, else a part of it. Only ASCII `*` and `?` are
 * wildcards; their full-width forms are text.
 *
 * Time is at most the text's length times the pattern's: after a mismatch only the last star takes one
 * character more.
 */
export function compilePattern(pattern: string): (folded: string) => boolean {
  const trimmed = pattern.trim();
  if (!/[*?]/.test(trimmed)) {
    const part = foldText(trimmed);
    return (folded) => folded.includes(part);
  }
  const parts = trimmed.split(/(\*+|\?)/).flatMap((part): (string | number)[] => {
    if (part.startsWith("*")) return [ANY_TEXT];
    return part === "?" ? [ANY_CHARACTER] : Array.from(foldText(part));
  });
  return (folded) => matchesWhole(parts, Array.from(folded));
}

function matchesWhole(parts: readonly (string | number)[], characters: readonly string[]): boolean {
  let [place, position] = [0, 0];
  /** The place of the last star, and the end of the text that it takes. */
  let [star, taken] = [-1, 0];
  while (position < characters.length) {
    const part = parts[place];
    if (part === ANY_TEXT) {
      star = place;
      taken = position;
      place += 1;
    } else if (part === ANY_CHARACTER || part === characters[position]) {
      place += 1;
      position += 1;
    } else if (star >= 0) {
      taken += 1;
      place = star + 1;
      position = taken;
    } else return false;
  }
  return parts.slice(place).every((part) => part === ANY_TEXT);
}

/** Order of events at one moment: ends before beginnings, and these before updates. */
const RANK = { superseded: 0, invalidated: 0, created: 1, updated: 2 } as const;

export interface FactEvent {
  /** When the change takes effect: `validFrom` or `validTo`; for `updated` when it was recorded. */
  readonly timestamp: number;
  readonly changeType: keyof typeof RANK;
  /** The fact as known; for `updated` the version that the change made. */
  readonly fact: Fact;
}

interface FactTimelineInput extends FactFilter, AsOf, PageRange {
  readonly subject: string;
  /** Events in [from, to). */
  readonly from?: number;
  readonly to?: number;
}

/** When each fact of a subject began, changed and ended, ascending; with `at`, only of facts valid then. The page may end before its limit. */
export function factTimeline({ store }: FactReadPorts, input: FactTimelineInput) {
  const { from = -Infinity, to = Infinity } = input;
  const events: FactEvent[] = [];
  visitFacts(store.catalogue.facts, input, (fact, history) => {
    for (const event of eventsOf(fact, history)) {
      if (event.timestamp >= from && event.timestamp < to) events.push(event);
    }
  });
  const total = events.length;
  return { total, events: fitting(sortedPage(events, input, inOrder), ({ fact }) => charsOf(fact)) };
}

function eventsOf(fact: Fact, { versions }: FactHistory): FactEvent[] {
  const events: FactEvent[] = [{ timestamp: fact.validFrom, changeType: "created", fact }];
  for (const [index, version] of versions.entries()) {
    const before = versions[index - 1];
    if (before === undefined || version.version > fact.version || !isUpdate(before, version)) continue;
    events.push({ timestamp: version.updatedAt, changeType: "updated", fact: version });
  }
  if (fact.validTo !== null) {
    const changeType = fact.supersededBy === null ? "invalidated" : "superseded";
    events.push({ timestamp: fact.validTo, changeType, fact });
  }
  return events;
}

/** Whether a version changes more than an earlier end, which is an event of its own. */
function isUpdate(before: Fact, after: Fact): boolean {
  return (
    after.confidence !== before.confidence ||
    after.validFrom !== before.validFrom ||
    endOf(after) > endOf(before) ||
    !sameMetadata(after.metadata, before.metadata)
  );
}

function inOrder(a: FactEvent, b: FactEvent): number {
  return (
    a.timestamp - b.timestamp ||
    RANK[a.changeType] - RANK[b.changeType] ||
    (a.fact.id < b.fact.id ? -1 : a.fact.id > b.fact.id ? 1 : 0)
  );
}
