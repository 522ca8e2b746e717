import { type Command, InvalidArgumentError, Option } from "commander";
import { KEY_NAME } from "../schemas/text-rules.ts";
import { parseTime } from "../schemas/time.ts";
import { type DaemonOptions, settingsOf, withDataDir } from "./daemon-options.ts";
import { textOf, userId } from "./option-values.ts";
import type { CreateKeyOptions, JsonOption } from "./keys.ts";

const UNIT_MS = { h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000, y: 365 * 86_400_000 } as const;

/** `memoryd keys` and `memoryd auth`. */
export function addKeyCommands(memoryd: Command): void {
  const keys = memoryd.command("keys").description("make, list and revoke the keys that let others in");
  withDataDir(keys.command("create").description("make a key; it is shown once"))
    .requiredOption(
      "-n, --name <name>",
      "what to call it: the program or person that gets it",
      textOf(KEY_NAME),
    )
    .option("-u, --user <id>", "bind it to this user: it reaches that one's data alone", userId)
    .addOption(
      new Option("--scope <scope>", "read: ask; write: change too; admin: everything")
        .choices(["read", "write", "admin"])
        .default("write"),
    )
    .option("--expires <time>", "when it ends: 12h, 90d, 2w, 1y, or a date", expiry)
    .option("--json", "print the key and its record as JSON")
    .action(async (options: DaemonOptions & CreateKeyOptions) => {
      const { createKey } = await import("./keys.ts");
      return await createKey(settingsOf(options).dataDir, options);
    });
  withDataDir(keys.command("list").description("list keys, also those that are revoked or expired"))
    .option("--json", "as JSON")
    .action(async (options: DaemonOptions & JsonOption) => {
      const { listKeys } = await import("./keys.ts");
      return await listKeys(settingsOf(options).dataDir, options);
    });
  withDataDir(keys.command("revoke").description("refuse a key from now on"))
    .argument("<key>", "its name, its prefix or its id")
    .option("--json", "print its record as JSON")
    .action(async (key: string, options: DaemonOptions & JsonOption) => {
      const { revokeKey } = await import("./keys.ts");
      return await revokeKey(settingsOf(options).dataDir, key, options);
    });

  const auth = memoryd.command("auth").description("whether keys are needed");
  withDataDir(auth.command("off").description("remove all keys, so that none is needed")).action(
    async (options: DaemonOptions) => {
      const { authOff } = await import("./auth-off.ts");
      return await authOff(settingsOf(options).dataDir);
    },
  );
}

/** Epoch milliseconds. */
function expiry(text: string): number {
  const span = /^([1-9]\d{0,4})([hdwy])$/.exec(text);
  const time =
    span === null ? parseTime(text) : Date.now() + Number(span[1]) * UNIT_MS[span[2] as keyof typeof UNIT_MS];
  if (time === undefined || time <= Date.now())
    throw new InvalidArgumentError("It must be a span such as 12h, 90d, 2w or 1y, or a date to come.");
  return time;
}
