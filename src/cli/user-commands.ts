import type { Command } from "commander";
import { type DaemonOptions, settingsOf, withDataDir } from "./daemon-options.ts";
import { userId, wholeNumber } from "./option-values.ts";
import type { DeleteUserOptions } from "./user-delete.ts";
import type { ListUsersOptions, SummariseUserOptions } from "./users.ts";

export function addUserCommands(memoryd: Command): void {
  const users = memoryd.command("users").description("see who has something stored, and delete it");

  withDataDir(users.command("list").description("list users and how much each has"))
    .option("-l, --limit <number>", "how many at most, 1 to 10000; 100 if absent", wholeNumber(1, 10_000))
    .option("--json", "print the answer as JSON")
    .action(async (options: DaemonOptions & ListUsersOptions) => {
      const { listUsers } = await import("./users.ts");
      return await listUsers(settingsOf(options).dataDir, options);
    });

  withDataDir(users.command("summary").description("say in short what a user has stored"))
    .argument("<user>", "the id of the user", userId)
    .option("--fresh", "make it now, even if there is one")
    .option("--json", "print the answer as JSON")
    .action(async (user: string, options: DaemonOptions & SummariseUserOptions) => {
      const { summariseUser } = await import("./users.ts");
      return await summariseUser(settingsOf(options).dataDir, user, options);
    });

  withDataDir(users.command("delete").description("delete a user's memories, with documents and originals"))
    .argument("<user>", "the id of the user", userId)
    .option("--keep-documents", "what was ingested stays, with its memories")
    .option("--include-facts", "the facts go too")
    .option("-y, --yes", "without asking")
    .option("--json", "print the answer as JSON")
    .action(async (user: string, options: DaemonOptions & DeleteUserOptions) => {
      const { deleteUser } = await import("./user-delete.ts");
      return await deleteUser(settingsOf(options).dataDir, user, options);
    });
}
