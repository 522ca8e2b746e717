/** Fields that several routes read: conditions of lists, ids, and whom a request names. */

import type { FastifyRequest } from "fastify";
import type { Static } from "typebox";
import { notFound } from "../core/errors.ts";
import type { Operations } from "../core/operations.ts";
import type { MemoryFilter, Places } from "../core/ports.ts";
import { ListMemoriesQuery } from "../schemas/memory.ts";
import { UUID } from "../schemas/text-rules.ts";
import { fromWire, present } from "../schemas/wire.ts";
import { pageAt, pageOf, type PageQuery, pageReply, placeOf } from "./page.ts";
import { invalid } from "./problem.ts";
import { seen } from "./records.ts";
import { writer } from "./request-headers.ts";

/** The page of memories that a query asks for; one by the time of what happened goes on from its place. */
export async function memoriesPage(
  query: Static<typeof ListMemoriesQuery>,
  { listMemories }: Pick<Operations, "listMemories">,
  places: Places,
) {
  const filter = listFilter(query);
  if (query.order === "happened") {
    const place = placeOf(query);
    const { items, total } = await listMemories({ filter, isByTime: true, ...place });
    return pageAt(place, items.map(seen), total);
  }
  const input = { filter, ...pageOf(query, places) };
  return pageReply(input, await listMemories(input), places, seen);
}

export function listFilter(query: Static<typeof ListMemoriesQuery>): MemoryFilter {
  const {
    sector,
    tag,
    tags = [],
    order: _order,
    ...conditions
  } = inScope(fromWire(ListMemoriesQuery, query));
  requireOrder(conditions, "/to");
  const all = tag === undefined ? tags : [...tags, tag];
  return {
    ...conditions,
    ...present({ sectors: sector && [sector], tags: all.length > 0 ? all : undefined }),
  };
}

/** @throws {ServiceError} INVALID_REQUEST for a time that ends before it begins. */
export function requireOrder({ from, to }: Pick<MemoryFilter, "from" | "to">, path: string): void {
  if (from !== undefined && to !== undefined && from > to)
    throw invalid(path, "lies before `from`: nothing can be between the two");
}

type Listing = PageQuery & { readonly project?: string };

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
export function oneOf<T>(
  values: readonly (T | null | undefined)[],
  path: string,
  fault = "is another than the request says elsewhere",
): T | undefined {
  const [first, ...others] = values.filter((value) => value !== null && value !== undefined);
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

/** An id in the one form it is kept in. @throws {ServiceError} NOT_FOUND for what cannot be one. */
export const memoryIdOf = (text: string): string => uuidOf(text, "memory");

/** The same for a record of another kind, which the error names. */
export function uuidOf(text: string, kind: string): string {
  if (!UUID.test(text)) throw notFound(`There is no ${kind} with this id.`);
  return text.toLowerCase();
}
