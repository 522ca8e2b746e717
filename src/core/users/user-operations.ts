import {
  type DeletedUserMemories,
  deleteUserMemories,
  type DeleteUserMemoriesInput,
  type UserErasurePorts,
} from "./delete-user-memories.ts";
import { type ListedUsers, listUsers, type ListUsersInput } from "./list-users.ts";
import type { UserSummaries } from "./user-summaries.ts";
import type { UserSummary } from "./user-summary.ts";

/** What the service can do with a user as a whole. */
export interface UserOperations {
  listUsers(input: ListUsersInput): ListedUsers;
  userSummary(input: UserSummaryInput): Promise<UserSummary>;
  /** The same, made now. */
  regenerateSummary(input: UserSummaryInput): Promise<UserSummary>;
  deleteUserMemories(input: DeleteUserMemoriesInput): Promise<DeletedUserMemories>;
}

/** What the operations on users need of the world beside the stores. */
export interface UserPorts extends UserErasurePorts {
  readonly summaries: Pick<UserSummaries, "get" | "regenerate">;
}

export interface UserSummaryInput {
  readonly userId: string;
}

export function bindUserOperations(ports: UserPorts): UserOperations {
  return {
    listUsers: (input) => listUsers(ports, input),
    userSummary: ({ userId }) => ports.summaries.get(userId),
    regenerateSummary: ({ userId }) => ports.summaries.regenerate(userId),
    deleteUserMemories: (input) => deleteUserMemories(ports, input),
  };
}
