/** From checked requests to the inputs of operations: names, times, and null for "left out". */

import type { FastifyRequest } from "fastify";
import type { Static } from "typebox";
import type { ContextInput } from "../core/context/gather-items.ts";
import { notFound } from "../core/errors.ts";
import type { RecordFactInput } from "../core/facts/record-fact.ts";
import type { CountMemoriesInput, ListMemoriesInput } from "../core/memories/list-memories.ts";
import type { AddMemoryInput } from "../core/memories/memory-ports.ts";
import type { MemoryGraphInput } from "../core/memories/related-memories.ts";
import type { TagMemoriesInput, UpdateMemoryInput } from "../core/memories/update-memory.ts";
import type { MemoryFilter } from "../core/ports.ts";
import type { QueryMemoryInput } from "../core/recall/query-memory.ts";
import { isTimeZone } from "../core/text/calendar.ts";
import { CloseFactBody, CloseFactQuery, RecordFactBody } from "../schemas/fact.ts";
import { AddMemoryBody, ListMemoriesQuery, UpdateMemoryBody } from "../schemas/memory.ts";
import type { CountMemoriesQuery, MemoryGraphQuery, TagMemoriesBody } from "../schemas/memory.ts";
import {
  ContextBody,
  DEFAULT_CONTEXT_TOKENS,
  DEFAULT_MATCHES,
  QueryFilters,
  QueryMemoryBody,
} from "../schemas/query-memory.ts";
import { UUID } from "../schemas/text-rules.ts";
import { fromWire, present } from "../schemas/wire.ts";
import { nextPlace, type Page, pageOf } from "./page.ts";
import { invalid } from "./problem.ts";
import { writer } from "./request-headers.ts";

const isPresent = <T>(value: T): value is NonNullable<T> => value !== null && value !== undefined;

export function addMemoryInput(body: Static<typeof AddMemoryBody>): AddMemoryInput {
  const { supersedes, ...input } = fromWire(AddMemoryBody, body);
  return { ...input, ...present({ supersedes: supersedesOf(supersedes) }) };
}

/** The fields to change; null stays in the fields that it clears. */
export function updateMemoryInput(id: string, body: Static<typeof UpdateMemoryBody>): UpdateMemoryInput {
  const { supersedes, userId: _owner, ...changes } = fromWire(UpdateMemoryBody, body);
  return {
    id,
    ...changes,
    ...present({ supersedes: supersedesOf(supersedes) }),
    ...(body.occurred_at === null && { occurredAt: null }),
    ...(body.project === null && { project: null }),
  };
}

/** @throws {ServiceError} INVALID_REQUEST for what names no tag, a tag to add and remove, or a memory twice. */
export function tagMemoriesInput(body: Static<typeof TagMemoriesBody>): TagMemoriesInput {
  const [add, remove] = [body.add ?? [], body.remove ?? []];
  if (add.length + remove.length === 0) throw invalid("/add", "must name a tag, or `remove` must");
  if (remove.some((tag) => add.includes(tag))) throw invalid("/remove", "must not name a tag of `add`");
  const memories = body.memories.map(({ id, version }) => ({
    id: id.toLowerCase(),
    ...present({ ifVersion: version }),
  }));
  if (new Set(memories.map(({ id }) => id)).size < memories.length)
    throw invalid("/memories", "must not name a memory twice");
  return { memories, add, remove };
}

/** One id or several, in the form that ids are kept in. */
const supersedesOf = (ids: string | readonly string[] | null | undefined): string[] | undefined =>
  isPresent(ids) ? [ids].flat().map(memoryIdOf) : undefined;

export function queryMemoryInput(body: Static<typeof QueryMemoryBody>): QueryMemoryInput {
  const {
    k,
    snippet,
    timeZone,
    reinforce,
    userId: _user,
    filters: _filters,
    ...input
  } = fromWire(QueryMemoryBody, body);
  const filters = body.filters ?? {};
  return {
    ...input,
    limit: k ?? DEFAULT_MATCHES,
    includeFacts: input.includeFacts ?? true,
    filter: queryFilter(filters, oneUser([body.user_id, filters.user_id], "/filters/user_id")),
    ...present({
      minScore: filters.min_score,
      timeZone: timeZoneOf(timeZone),
      snippetChars: snippet,
      leavesNoTrace: reinforce === false ? true : undefined,
    }),
  };
}

export function contextInput(body: Static<typeof ContextBody>): ContextInput {
  return { maxTokens: DEFAULT_CONTEXT_TOKENS, ...fromWire(ContextBody, body) };
}

function timeZoneOf(name: string | null | undefined): string | undefined {
  if (name === undefined || name === null) return undefined;
  if (!isTimeZone(name)) throw invalid("/time_zone", "must be a time zone, such as Europe/Berlin");
  return name;
}

export function listMemoriesInput(query: Static<typeof ListMemoriesQuery>): ListMemoriesInput & Page {
  return { filter: listFilter(query), ...pageOf(query) };
}

export function countMemoriesInput(query: Static<typeof CountMemoriesQuery>): CountMemoriesInput {
  const { by, time_zone, l, ...conditions } = query;
  const timeZone = timeZoneOf(time_zone);
  return { filter: listFilter(conditions), by, limit: l ?? DEFAULT_COUNTS, ...present({ timeZone }) };
}

export function memoryGraphInput(query: Static<typeof MemoryGraphQuery>): MemoryGraphInput {
  const { around, depth, l = 1_000, ...conditions } = query;
  if (around === undefined && depth !== undefined) throw invalid("/depth", "needs `around`");
  return {
    filter: listFilter(conditions),
    limit: l,
    ...(around !== undefined && { around: { id: memoryIdOf(around), depth: depth ?? 2 } }),
  };
}

/** A year of days. */
const DEFAULT_COUNTS = 366;

function listFilter(query: Static<typeof ListMemoriesQuery>): MemoryFilter {
  const { sector, tag, ...conditions } = inScope(fromWire(ListMemoriesQuery, query));
  return {
    ...conditions,
    ...present({ sectors: sector && [sector], tags: tag === undefined ? undefined : [tag] }),
  };
}

interface Listing {
  readonly project?: string;
  readonly l?: number;
  readonly u?: number;
  readonly cursor?: string;
}

/** The conditions of a query without its page, and with the project as operations take it: empty stands for none. */
export function inScope<T extends Listing>(
  listing: T,
): Omit<T, keyof Listing> & { projects?: (string | null)[] } {
  const { project, l: _l, u: _u, cursor: _cursor, ...conditions } = listing;
  return { ...conditions, ...(project !== undefined && { projects: [project === "" ? null : project] }) };
}

/**
 * The value of a field that a request may carry in several places.
 * @throws {ServiceError} INVALID_REQUEST when they differ: neither can be the one that was meant.
 */
function oneOf<T>(
  values: readonly (T | null | undefined)[],
  path: string,
  fault = "is another than the request says elsewhere",
): T | undefined {
  const [first, ...others] = values.filter(isPresent);
  if (others.some((other) => other !== first)) throw invalid(path, fault);
  return first;
}

/** The one user that a request names. @throws as `oneOf`. */
export const oneUser = (names: readonly (string | null | undefined)[], path: string): string | undefined =>
  oneOf(names, path, "names another user than the request does elsewhere");

/** A request as far as its owner is concerned: whoever may name it, in the query or the body, is in a schema. */
type Owned = Pick<FastifyRequest, "query" | "body">;

/** The user that a request names, in its query or its body. @throws as `oneUser`. */
export function ownerOf({ query, body }: Owned): { userId?: string } {
  const names = [query, body].map((part) => (part as { readonly user_id?: string | null } | null)?.user_id);
  return present({ userId: oneUser(names, "/user_id") });
}

/** The id and the user that a request on one record names. @throws as `oneUser`, `uuidOf`. */
export const targetOf = (
  request: Owned & { readonly params: { readonly id: string } },
  kind: string,
): { id: string; userId?: string } => ({ id: uuidOf(request.params.id, kind), ...ownerOf(request) });

/** Whose, and whether into the trash and by whom, of a request that deletes. @throws as `oneUser`. */
export function deletion(
  request: FastifyRequest & {
    readonly query: { readonly user_id?: string; readonly trash?: boolean };
    readonly body: { readonly user_id?: string | null; readonly trash?: boolean | null } | null;
  },
): { userId?: string; trash?: boolean; deletedBy?: string } {
  const { query, body } = request;
  const isTrash = (query.trash ?? body?.trash) === true;
  return {
    ...ownerOf(request),
    ...(isTrash && { trash: true, ...present({ deletedBy: writer(request).createdBy }) }),
  };
}

function queryFilter(filters: Static<typeof QueryFilters>, userId: string | undefined): MemoryFilter {
  const { sector, sectors, project } = filters;
  if (isPresent(sector) && isPresent(sectors) && !sectors.includes(sector))
    throw invalid("/filters/sector", "is not among `sectors`: give one of the two");
  const { minScore: _score, project: _project, sector: _sector, ...filter } = fromWire(QueryFilters, filters);
  return {
    ...filter,
    ...present({
      userId,
      projects: isPresent(project) ? [project].flat() : undefined,
      sectors: isPresent(sector) ? [sector] : undefined,
    }),
  };
}

/** An id in the one form it is kept in. @throws {ServiceError} NOT_FOUND for what cannot be one. */
export const memoryIdOf = (text: string): string => uuidOf(text, "memory");

/** The same for a record of another kind, which the error names. */
export function uuidOf(text: string, kind: string): string {
  if (!UUID.test(text)) throw notFound(`There is no ${kind} with this id.`);
  return text.toLowerCase();
}

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
  return { count, total, nextCursor: count > 0 && end < total ? nextPlace(end) : null };
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
