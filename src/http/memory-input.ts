/** From checked requests to the inputs of operations: names, times, and null for "left out". */
import type { Static } from "typebox";
import type { AddMemoryInput } from "../core/memories/added-memory.ts";
import { ServiceError } from "../core/errors.ts";
import type { ListMemoriesInput } from "../core/memories/list-memories.ts";
import type { MemoryFilter } from "../core/ports.ts";
import type { QueryMemoryInput } from "../core/recall/query-memory.ts";
import type { UpdateMemoryInput } from "../core/memories/update-memory.ts";
import type { ListMemoriesQuery } from "../schemas/list-memories.ts";
import type { AddMemoryBody, UpdateMemoryBody } from "../schemas/memory.ts";
import { DEFAULT_PAGE_LIMIT } from "../schemas/page.ts";
import { DEFAULT_MATCHES, type QueryFilters, type QueryMemoryBody } from "../schemas/query-memory.ts";
import { parseQueryTime, parseTime } from "../schemas/time.ts";
import { readCursor } from "./cursor.ts";

/** The fields that are there, without those that are undefined or null. */
export type Present<T> = { [K in keyof T]?: NonNullable<T[K]> };
export function present<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => isPresent(value))) as Present<T>;
}

function isPresent<T>(value: T): value is NonNullable<T> {
  return value !== null && value !== undefined;
}

export function addMemoryInput(body: Static<typeof AddMemoryBody>): AddMemoryInput {
  return {
    content: body.content,
    ...present({
      tags: body.tags,
      metadata: body.metadata,
      userId: body.user_id,
      project: body.project,
      sessionId: body.session_id,
      occurredAt: parseTime(body.occurred_at),
      sector: body.sector,
    }),
  };
}

/** What to change; null stays where it clears. */
export function updateMemoryInput(id: string, body: Static<typeof UpdateMemoryBody>): UpdateMemoryInput {
  return {
    id,
    ...present({ content: body.content, tags: body.tags, metadata: body.metadata }),
    ...(body.occurred_at !== undefined && { occurredAt: parseTime(body.occurred_at) ?? null }),
    ...(body.project !== undefined && { project: body.project }),
  };
}

export function queryMemoryInput(body: Static<typeof QueryMemoryBody>): QueryMemoryInput {
  const filters = body.filters ?? {};
  return {
    query: body.query,
    limit: body.k ?? DEFAULT_MATCHES,
    filter: queryFilter(filters, oneUser([body.user_id, filters.user_id], "/filters/user_id")),
    ...present({
      minScore: filters.min_score,
      snippetChars: body.snippet,
      explain: body.explain,
      includeFacts: body.include_facts,
    }),
  };
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
  return present({
    userId,
    projects: isPresent(project) ? [project].flat() : undefined,
    sectors: isPresent(sector) ? [sector] : sectors,
    tags: filters.tags,
    sessionId: filters.session_id,
    createdBy: filters.created_by,
    from: parseTime(filters.from),
    to: parseTime(filters.to),
    metadata: filters.metadata,
  });
}

export function invalid(path: string, message: string): ServiceError {
  return new ServiceError("INVALID_REQUEST", `The request is not valid: ${path} ${message}.`, {
    fields: [{ path, message }],
  });
}
