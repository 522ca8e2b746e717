import type {
  DeletedUserMemories,
  Memory,
  MemoryFilter,
  User,
  UserDeletion,
  UserPage,
  UserSummary,
} from "./records.ts";
import { type CallOptions, path, type Transport } from "./transport.ts";
import { walkPages } from "./walk-pages.ts";

export interface UserCalls {
  /** One page, by id; for the scope `admin`. */
  page(
    place?: { readonly l?: number; readonly u?: number; readonly cursor?: string },
    options?: CallOptions,
  ): Promise<UserPage>;
  /** All users, by id, fetched page by page; for the scope `admin`. */
  list(options?: CallOptions): AsyncGenerator<User, void, undefined>;
  /** A user's memories, newest first, fetched page by page. */
  memories(
    userId: string,
    filter?: MemoryFilter,
    options?: CallOptions,
  ): AsyncGenerator<Memory, void, undefined>;
  /** What a user has stored, in short. */
  summary(userId: string, options?: CallOptions): Promise<UserSummary>;
  /** The same, made now. */
  regenerateSummary(userId: string, options?: CallOptions): Promise<UserSummary>;
  /** All memories of a user, with documents and originals, unless `keep` says otherwise; facts if `include` says so. */
  deleteMemories(
    userId: string,
    deletion?: UserDeletion,
    options?: CallOptions,
  ): Promise<DeletedUserMemories>;
}

export function userCalls({ json }: Transport): UserCalls {
  const page: UserCalls["page"] = (place, options) =>
    json({ method: "GET", path: "/users", query: { ...place }, options });
  return {
    page,
    list: (options) =>
      walkPages(
        (place) => page(place, options),
        ({ items }) => items,
      ),
    memories: (userId, filter, options) =>
      walkPages(
        (place) =>
          json<{ readonly items: Memory[]; readonly next_cursor: string | null }>({
            method: "GET",
            path: path`/users/${userId}/memories`,
            query: { ...filter, ...place },
            options,
          }),
        ({ items }) => items,
      ),
    summary: (userId, options) => json({ method: "GET", path: path`/users/${userId}/summary`, options }),
    regenerateSummary: (userId, options) =>
      json({ method: "POST", path: path`/users/${userId}/summary/regenerate`, options }),
    deleteMemories: (userId, deletion, options) =>
      json({
        method: "DELETE",
        path: path`/users/${userId}/memories`,
        query: { ...deletion },
        options,
      }),
  };
}
