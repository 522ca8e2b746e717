import {
  type DeletedUserMemories,
  deleteUserMemories,
  type DeleteUserMemoriesInput,
  type UserErasurePorts,
} from "./delete-user-memories.ts";
import { type ListedUsers, listUsers, type ListUsersInput } from "./list-users.ts";

/** What the service can do with a user as a whole. */
export interface UserOperations {
  listUsers(input: ListUsersInput): ListedUsers;
  deleteUserMemories(input: DeleteUserMemoriesInput): Promise<DeletedUserMemories>;
}

/** What the operations on users need of the world beside the stores. */
export type UserPorts = UserErasurePorts;

export function bindUserOperations(ports: UserPorts): UserOperations {
  return {
    listUsers: (input) => listUsers(ports, input),
    deleteUserMemories: (input) => deleteUserMemories(ports, input),
  };
}
