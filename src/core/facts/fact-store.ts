import type { Fact } from "./fact.ts";
import type { FactMeanings } from "./fact-meanings.ts";
import type { RequestLedger } from "../idempotency.ts";
import { fitting } from "../page-end.ts";
import type { Catalogue, Clock, IdSource, MemoryStore } from "../ports.ts";

/** The order of every list of facts: open ones first, then the newest `validFrom`, then by id. */
export function compareForList(a: Fact, b: Fact): number {
  const aIsClosed = a.validTo !== null;
  if (aIsClosed !== (b.validTo !== null)) return aIsClosed ? 1 : -1;
  return b.validFrom - a.validFrom || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/** Names, times and ids of a fact as an answer shows them. */
const RECORD_CHARS = 500;

/** About how much of a page a fact takes. */
export const charsOf = ({ subject, predicate, object, metadata }: Fact): number =>
  RECORD_CHARS + subject.length + predicate.length + object.length + JSON.stringify(metadata).length;

/** A page of facts. It may end before its limit, see `fitting`: the next one begins where it ends. */
export type PageRange = { readonly limit: number; readonly offset?: number };

/** The items `offset` … `offset + limit` of the sorted list; the input comes back sorted. */
export const sortedPage = <T>(
  items: T[],
  { limit, offset = 0 }: PageRange,
  compare: (a: T, b: T) => number,
): T[] => items.sort(compare).slice(offset, offset + limit);

/** The part of the store that facts need. */
export interface FactStore extends Pick<MemoryStore, "commit"> {
  readonly catalogue: Pick<Catalogue, "facts" | "find" | "findRequest">;
}

/** The ports of reading facts. */
export type FactReadPorts = { readonly store: FactStore; readonly clock: Clock };

/** The ports of recording facts. */
export interface FactPorts extends FactReadPorts {
  readonly meanings: FactMeanings;
  readonly ids: IdSource;
  readonly requests: RequestLedger;
}

/** Facts of one page, which may end before its limit, and how many there are in all. */
export type FactPage = { readonly facts: readonly Fact[]; readonly total: number };

/** How far the clock may lag behind the newest record, in ms: what time daemons correct by themselves. */
export const CLOCK_STEP_MS = 1_000_000;

/** The clock's time, or the newest record's where that is a little ahead; further ahead, the clock is believed. */
export function presentOf(clock: Clock, latestRecordedAt: number): number {
  const now = clock.now();
  return latestRecordedAt > now && latestRecordedAt - now <= CLOCK_STEP_MS ? latestRecordedAt : now;
}

/** One page of the facts that a read found. */
export function pageOf(found: Fact[], range: PageRange): FactPage {
  const total = found.length;
  const facts = sortedPage(found, range, compareForList);
  const count = fitting(facts.length, (index) => charsOf(facts[index] as Fact));
  return { total, facts: facts.slice(0, count) };
}
