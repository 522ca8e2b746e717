/** From checked requests about facts to the inputs of operations: names, times, and null for "left out". */
import type { Static } from "typebox";
import type { CompareFactsInput } from "../core/facts/compare-facts.ts";
import type { FactFilter } from "../core/facts/fact-book.ts";
import type { PageRange } from "../core/facts/fact-page.ts";
import type { AsOf } from "../core/facts/fact-store.ts";
import type { RecordFactInput } from "../core/facts/record-fact.ts";
import { type CloseFactBody, type CloseFactQuery, RecordFactBody } from "../schemas/fact.ts";
import { DEFAULT_PAGE_LIMIT } from "../schemas/page.ts";
import type { CompareFactsQuery } from "../schemas/read-facts.ts";
import { parseQueryTime, parseTime } from "../schemas/time.ts";
import { fromWire } from "../schemas/wire.ts";
import { readPlace, writePlace } from "./cursor.ts";
import { invalid, ownerOf, type Present, present } from "./memory-input.ts";
import { uuidOf } from "./memory-id.ts";

/** An id in the one form it is kept in. @throws {ServiceError} NOT_FOUND for what cannot be one. */
export function factIdOf(text: string): string {
  return uuidOf(text, "fact");
}

export function recordFactInput(body: Static<typeof RecordFactBody>): RecordFactInput {
  const { sourceMemoryId, ...input } = fromWire(RecordFactBody, body);
  return { ...input, ...present({ sourceMemoryId: sourceMemoryId?.toLowerCase() }) };
}

/** What a `DELETE` asks, in its query or its body. @throws {ServiceError} INVALID_REQUEST where these differ. */
export function closeFactInput(
  query: Static<typeof CloseFactQuery>,
  body: Static<typeof CloseFactBody>,
): { readonly userId?: string; readonly validTo?: number; readonly erase: boolean } {
  const validTo = one([timeOf(query.valid_to), parseTime(body?.valid_to)], "/valid_to");
  const erase = one([query.erase, body?.erase], "/erase") ?? false;
  if (erase && validTo !== undefined)
    throw invalid("/valid_to", "must be left out where `erase` is true: nothing is left to end");
  return { ...ownerOf(query, body), ...present({ validTo }), erase };
}

interface FilterQuery {
  readonly subject?: string;
  readonly predicate?: string;
  readonly user_id?: string;
  readonly project?: string;
}

export function factFilter(query: FilterQuery): FactFilter {
  const { project } = query;
  return present({
    subject: query.subject,
    predicate: query.predicate,
    userId: query.user_id,
    projects: project === undefined ? undefined : [project === "" ? null : project],
  });
}

export function asOf(query: { readonly at?: string; readonly known_at?: string }): AsOf {
  return present({ at: timeOf(query.at), knownAt: timeOf(query.known_at) });
}

/** Conditions `from` and `to`. */
export function between(query: {
  readonly from?: string;
  readonly to?: string;
}): Present<{ from: number | undefined; to: number | undefined }> {
  return present({ from: timeOf(query.from), to: timeOf(query.to) });
}

export function pageRange(query: {
  readonly l?: number;
  readonly u?: number;
  readonly cursor?: string;
}): Required<PageRange> {
  const { l: limit = DEFAULT_PAGE_LIMIT, u: offset = 0, cursor } = query;
  if (cursor === undefined) return { limit, offset };
  if (offset > 0) throw invalid("/u", "must be left out where `cursor` is given");
  return { limit, offset: readPlace(cursor) };
}

/** What every page of a list says of itself. */
export function pageCounts(count: number, total: number, { offset }: Required<PageRange>) {
  const end = offset + count;
  return { count, total, next_cursor: count > 0 && end < total ? writePlace(end) : null };
}

export function comparedTimes(
  query: Static<typeof CompareFactsQuery>,
): Pick<CompareFactsInput, "time1" | "time2"> {
  const time1 = one([timeOf(query.time1), timeOf(query.from)], "/from");
  const time2 = one([timeOf(query.time2), timeOf(query.to)], "/to");
  if (time1 === undefined) throw invalid("/time1", "is missing");
  if (time2 === undefined) throw invalid("/time2", "is missing");
  return { time1, time2 };
}

export function timeOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseQueryTime(text);
}

function one<T>(values: readonly (T | null | undefined)[], path: string): T | undefined {
  const [first, ...others] = values.filter((value) => value !== null && value !== undefined);
  if (others.some((other) => other !== first))
    throw invalid(path, "is another than the request says elsewhere");
  return first;
}
