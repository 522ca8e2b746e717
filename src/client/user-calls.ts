import type * as wire from "./records.ts";
import { type CallOptions, path, type Transport, walkPages } from "./transport.ts";

export type UserCalls = ReturnType<typeof userCalls>;

export function userCalls({ json, get }: Transport) {
  /** One page, by id; for the scope `admin`. */
  const page = (
    place?: { readonly l?: number; readonly u?: number; readonly cursor?: string },
    options?: CallOptions,
  ) => get<wire.UserPage>("/users", place, options);
  return {
    page,
    /** All users, by id, fetched page by page; for the scope `admin`. */
    list: (options?: CallOptions): AsyncGenerator<wire.User, void, undefined> =>
      walkPages(
        (place) => page(place, options),
        ({ items }) => items,
      ),
    /** A user's memories, newest first, fetched page by page. */
    memories: (
      userId: string,
      filter?: wire.MemoryFilter,
      options?: CallOptions,
    ): AsyncGenerator<wire.Memory, void, undefined> =>
      walkPages(
        (place) => get<wire.MemoryPage>(path`/users/${userId}/memories`, { ...filter, ...place }, options),
        ({ items }) => items,
      ),
    /** What a user has stored, in short. */
    summary: (userId: string, options?: CallOptions) =>
      get<wire.UserSummary>(path`/users/${userId}/summary`, {}, options),
    /** The same, made now. */
    regenerateSummary: (userId: string, options?: CallOptions) =>
      json<wire.UserSummary>({ method: "POST", path: path`/users/${userId}/summary/regenerate`, options }),
    /** All memories of a user, with documents and originals, but for what `keep` names; facts too with `include`. */
    deleteMemories: (userId: string, query?: wire.UserDeletion, options?: CallOptions) =>
      json<wire.DeletedUserMemories>({
        method: "DELETE",
        path: path`/users/${userId}/memories`,
        query,
        options,
      }),
  };
}
