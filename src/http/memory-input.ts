/** From checked requests to the inputs of operations: names, times, and null for "left out". */
import { isTimeZone } from "../core/text/calendar.ts";
import type { Static } from "typebox";
import type { AddMemoryInput } from "../core/memories/added-memory.ts";
import { ServiceError } from "../core/errors.ts";
import type { ListMemoriesInput } from "../core/memories/list-memories.ts";
import type { MemoryFilter } from "../core/ports.ts";
import type { QueryMemoryInput } from "../core/recall/query-memory.ts";
import type { UpdateMemoryInput } from "../core/memories/update-memory.ts";
import type { ListMemoriesQuery } from "../schemas/list-memories.ts";
import { AddMemoryBody, UpdateMemoryBody } from "../schemas/memory.ts";
import { DEFAULT_PAGE_LIMIT } from "../schemas/page.ts";
import { DEFAULT_MATCHES, QueryFilters, QueryMemoryBody } from "../schemas/query-memory.ts";
import { parseQueryTime } from "../schemas/time.ts";
import { fromWire } from "../schemas/wire.ts";
import { readCursor } from "./cursor.ts";
import { memoryIdOf } from "./memory-id.ts";

/** The fields that are there, without those that are undefined or null. */
export type Present<T> = { [K in keyof T]?: NonNullable<T[K]> };
export function present<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => isPresent(value))) as Present<T>;
}

function isPresent<T>(value: T): value is NonNullable<T> {
  return value !== null && value !== undefined;
}

export function addMemoryInput(body: Static<typeof AddMemoryBody>): AddMemoryInput {
  const { supersedes, ...input } = fromWire(AddMemoryBody, body);
  return { ...input, ...present({ supersedes: supersedesOf(supersedes) }) };
}

/** What to change; null stays where it clears. */
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

/** One id or several, in the form that ids are kept in. */
function supersedesOf(ids: string | readonly string[] | null | undefined): string[] | undefined {
  return isPresent(ids) ? [ids].flat().map(memoryIdOf) : undefined;
}

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
    filter: queryFilter(filters, oneUser([body.user_id, filters.user_id], "/filters/user_id")),
    ...present({
      minScore: filters.min_score,
      timeZone: timeZoneOf(timeZone),
      snippetChars: snippet,
      leavesNoTrace: reinforce === false ? true : undefined,
    }),
  };
}

function timeZoneOf(name: string | null | undefined): string | undefined {
  if (name === undefined || name === null) return undefined;
  if (!isTimeZone(name)) throw invalid("/time_zone", "must be a time zone, such as Europe/Berlin");
  return name;
}

export function listMemoriesInput(
  query: Static<typeof ListMemoriesQuery>,
): ListMemoriesInput & { readonly skipped: number } {
  const offset = query.u ?? 0;
  const page = query.cursor === undefined ? undefined : readCursor(query.cursor);
  if (page !== undefined && offset > 0) throw invalid("/u", "must be left out where `cursor` is given");
  const filter = present({
    userId: query.user_id,
    projects: query.project === undefined ? undefined : [query.project === "" ? null : query.project],
    sectors: query.sector === undefined ? undefined : [query.sector],
    tags: query.tag === undefined ? undefined : [query.tag],
    sessionId: query.session_id,
    createdBy: query.created_by,
    idEnd: query.id_end,
    createdFrom: query.created_from === undefined ? undefined : parseQueryTime(query.created_from),
    from: query.from === undefined ? undefined : parseQueryTime(query.from),
    to: query.to === undefined ? undefined : parseQueryTime(query.to),
  });
  const limit = query.l ?? DEFAULT_PAGE_LIMIT;
  return page === undefined
    ? { filter, limit, offset, skipped: offset }
    : { filter, limit, offset: 0, before: page.before, skipped: page.skipped };
}

/**
 * The one user that a request names, where it may name one in two places.
 *
 * @throws {ServiceError} INVALID_REQUEST when they differ: neither can be the one that was meant.
 */
export function oneUser(names: readonly (string | null | undefined)[], path: string): string | undefined {
  const [first, ...others] = names.filter(isPresent);
  if (others.some((name) => name !== first))
    throw invalid(path, "names another user than the request does elsewhere");
  return first;
}

/** The user that a request on one memory or fact names, in its query or its body. @throws as `oneUser`. */
export function ownerOf(
  query: { readonly user_id?: string },
  body: { readonly user_id?: string | null } | null,
): { userId?: string } {
  return present({ userId: oneUser([query.user_id, body?.user_id], "/user_id") });
}

function queryFilter(filters: Static<typeof QueryFilters>, userId: string | undefined): MemoryFilter {
  const { sector, sectors, project } = filters;
  if (isPresent(sector) && isPresent(sectors) && !sectors.includes(sector)) {
    throw invalid("/filters/sector", "is not among `sectors`: give one of the two");
  }
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

export function invalid(path: string, message: string): ServiceError {
  return new ServiceError("INVALID_REQUEST", `The request is not valid: ${path} ${message}.`, {
    fields: [{ path, message }],
  });
}
