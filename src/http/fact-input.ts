/** From checked requests about facts to the inputs of operations. */
import type { Static } from "typebox";
import type { RecordFactInput } from "../core/facts/record-fact.ts";
import { CloseFactBody, CloseFactQuery, RecordFactBody } from "../schemas/fact.ts";
import { fromWire, present } from "../schemas/wire.ts";
import { oneOf, ownerOf } from "./memory-input.ts";
import { nextPlace, type Page } from "./page.ts";
import { invalid } from "./problem.ts";

export function recordFactInput(body: Static<typeof RecordFactBody>): RecordFactInput {
  const { sourceMemoryId, ...input } = fromWire(RecordFactBody, body);
  return { ...input, ...present({ sourceMemoryId: sourceMemoryId?.toLowerCase() }) };
}

/** The input of a `DELETE`, from its query or its body. @throws {ServiceError} INVALID_REQUEST if the two differ. */
export function closeFactInput(
  query: Static<typeof CloseFactQuery>,
  body: Static<typeof CloseFactBody>,
): { readonly userId?: string; readonly validTo?: number; readonly erase: boolean } {
  const [asked, sent] = [fromWire(CloseFactQuery, query), fromWire(CloseFactBody, body ?? {})];
  const validTo = oneOf([asked.validTo, sent?.validTo], "/valid_to");
  const erase = oneOf([asked.erase, sent?.erase], "/erase") ?? false;
  if (erase && validTo !== undefined)
    throw invalid("/valid_to", "must be left out where `erase` is true: nothing is left to end");
  return { ...ownerOf({ query, body }), ...present({ validTo }), erase };
}

/** The counts in every page of a list. */
export function pageCounts(count: number, total: number, { offset }: Pick<Page, "offset">) {
  const end = offset + count;
  return { count, total, next_cursor: count > 0 && end < total ? nextPlace(end) : null };
}

interface ComparedTimes {
  readonly time1?: number;
  readonly time2?: number;
  readonly from?: number;
  readonly to?: number;
}

/** Conditions with the two times under their one name each. @throws {ServiceError} INVALID_REQUEST where one is missing. */
export function comparedTimes<T extends ComparedTimes>({ from, to, ...conditions }: T) {
  const time1 = oneOf([conditions.time1, from], "/from");
  const time2 = oneOf([conditions.time2, to], "/to");
  if (time1 === undefined) throw invalid("/time1", "is missing");
  if (time2 === undefined) throw invalid("/time2", "is missing");
  return { ...conditions, time1, time2 };
}
