/** From checked requests to the inputs of operations: names, times, and null for "left out". */
import { isTimeZone } from "../core/text/calendar.ts";
import type { Static } from "typebox";
import type { AddMemoryInput } from "../core/memories/added-memory.ts";
import { ServiceError } from "../core/errors.ts";
import type { ListMemoriesInput } from "../core/memories/list-memories.ts";
import type { MemoryFilter } from "../core/ports.ts";
import type { QueryMemoryInput } from "../core/recall/query-memory.ts";
import type { UpdateMemoryInput } from "../core/memories/update-memory.ts";
import { AddMemoryBody, UpdateMemoryBody, ListMemoriesQuery } from "../schemas/memory.ts";
import { DEFAULT_MATCHES, QueryFilters, QueryMemoryBody } from "../schemas/query-memory.ts";
import { fromWire, present } from "../schemas/wire.ts";
import { type Page, pageOf } from "./page.ts";
import { invalid } from "./problem.ts";
import { UUID } from "../schemas/text-rules.ts";

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

function timeZoneOf(name: string | null | undefined): string | undefined {
  if (name === undefined || name === null) return undefined;
  if (!isTimeZone(name)) throw invalid("/time_zone", "must be a time zone, such as Europe/Berlin");
  return name;
}

export function listMemoriesInput(query: Static<typeof ListMemoriesQuery>): ListMemoriesInput & Page {
  const { sector, tag, ...conditions } = inScope(fromWire(ListMemoriesQuery, query));
  const filter = {
    ...conditions,
    ...present({ sectors: sector && [sector], tags: tag === undefined ? undefined : [tag] }),
  };
  return { filter, ...pageOf(query) };
}

interface Listing {
  readonly project?: string;
  readonly l?: number;
  readonly u?: number;
  readonly cursor?: string;
}

/** The conditions of a query without its page, and with the project as operations take it: empty stands for none. */
export function inScope<T extends Listing>({
  project,
  l: _l,
  u: _u,
  cursor: _cursor,
  ...conditions
}: T): Omit<T, keyof Listing> & { projects?: (string | null)[] } {
  return { ...conditions, ...(project !== undefined && { projects: [project === "" ? null : project] }) };
}

/**
 * The value of a field that a request may carry in several places.
 * @throws {ServiceError} INVALID_REQUEST when they differ: neither can be the one that was meant.
 */
export function oneOf<T>(
  values: readonly (T | null | undefined)[],
  path: string,
  fault = "is another than the request says elsewhere",
): T | undefined {
  const [first, ...others] = values.filter(isPresent);
  if (others.some((other) => other !== first)) throw invalid(path, fault);
  return first;
}

/** The one user that a request names. @throws as `oneOf`. */
export function oneUser(names: readonly (string | null | undefined)[], path: string): string | undefined {
  return oneOf(names, path, "names another user than the request does elsewhere");
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

/** An id in the one form it is kept in. @throws {ServiceError} NOT_FOUND for what cannot be one. */
export function memoryIdOf(text: string): string {
  return uuidOf(text, "memory");
}

/** The same for a record of another kind, which the error names. */
export function uuidOf(text: string, kind: string): string {
  if (!UUID.test(text)) throw new ServiceError("NOT_FOUND", `There is no ${kind} with this id.`);
  return text.toLowerCase();
}
