import { type Command, Option } from "commander";
import type { Scope } from "../../core/access/api-key.ts";
import type { KeyAdministration } from "../../daemon/key-service.ts";
import { KEY_NAME } from "../../schemas/text-rules.ts";
import { findDaemon } from "../connect.ts";
import { CliFailure, complain, oneLine, plural, print, printJson, sayIfLost } from "../output/output.ts";
import { addCommand, expiry, type Flags, settingsOf, textOf, userId } from "../output/options.ts";
import { minute } from "../output/times.ts";
import { present } from "../../schemas/wire.ts";

type KeyRecord = Awaited<ReturnType<KeyAdministration["list"]>>["keys"][number];

/** Printed after the first key: what stops working. */
const FIRST_KEY =
  "It is the first key. From now on every request needs one: clients that send none, agents and scripts among them, are " +
  "refused (401) until they send `Authorization: Bearer KEY`. memoryd's own commands on this machine need none. Pages of " +
  "this machine and of private networks are no longer fetched. `memoryd auth off` removes all keys again.";

export function addKeyCommands(memoryd: Command): void {
  const keys = memoryd.command("keys").description("make, list and revoke keys for programs and people");
  addCommand(keys, "create", "make a key; it is shown once")
    .requiredOption("-n, --name <name>", "name the program or person that gets it", textOf(KEY_NAME))
    .option("-u, --user <id>", "bind it to this user: it reaches that user's data alone", userId)
    .addOption(
      new Option("--scope <scope>", "read: ask; write: change too; admin: everything")
        .choices(["read", "write", "admin"])
        .default("write"),
    )
    .option("--expires <time>", "end it after 12h, 90d, 2w or 1y, or at a date (default: never)", expiry)
    .option("--json", "print the key and its record as JSON")
    .action(create);
  addCommand(keys, "list", "list keys, also revoked and expired ones")
    .option("--json", "print JSON")
    .action(list);
  addCommand(keys, "revoke", "refuse a key from now on")
    .argument("<key>", "its name, its prefix or its id")
    .option("--json", "print its record as JSON")
    .action(revoke);

  const auth = memoryd.command("auth").description("set whether requests need a key");
  addCommand(auth, "off", "remove all keys, so that none is needed").action(removeAll);
}

/** The keys of a data directory: through the daemon that runs on it, so that a change holds at once, or in its file. */
async function keysOf(flags: Flags): Promise<KeyAdministration> {
  const { dataDir } = settingsOf(flags);
  const daemon = await findDaemon(dataDir);
  if (daemon === undefined) return (await import("../../daemon/key-service.ts")).offlineKeys(dataDir);
  return daemon.api.keys;
}

interface CreateFlags extends Flags {
  readonly name: string;
  readonly scope: Scope;
  /** Epoch milliseconds. */
  readonly expires?: number;
}

/** Prints the key alone on standard output, so that it can be piped to where it is needed. */
async function create(flags: CreateFlags): Promise<void> {
  const { name, scope, user, expires } = flags;
  const desk = await keysOf(flags);
  const { first, ...made } = await desk.create({
    name,
    scope,
    ...present({ user_id: user, expires_at: expires }),
  });
  sayIfLost(
    `The key is made, but lost: revoke it with \`memoryd keys revoke ${made.id}\`, and make another.`,
  );
  if (flags.json === true) printJson({ ...made, first });
  else print(made.key);
  complain(`Made ${described(made)}. It is shown this once and not kept.`);
  if (first) complain(FIRST_KEY);
}

async function list(flags: Flags): Promise<void> {
  const answer = await (await keysOf(flags)).list();
  if (flags.json === true) return printJson(answer);
  for (const key of answer.keys) {
    const use = key.last_used_at === null ? "never used" : `last used ${minute(key.last_used_at)}`;
    print(`${key.prefix}…  ${key.state.padEnd(7)}  ${described(key)}, ${use}`);
  }
  if (answer.keys.length === 0) print("There are no keys.");
  print(answer.key_needed ? "Every request needs a key." : "No key is needed.");
}

async function revoke(wanted: string, flags: Flags): Promise<void> {
  const desk = await keysOf(flags);
  const named = (await desk.list()).keys.filter(({ id, name, prefix }) =>
    [id, name, prefix].includes(wanted),
  );
  // A name may be given again once its key is gone.
  const found = named.find(({ state }) => state === "active") ?? named.at(-1);
  if (found === undefined)
    throw new CliFailure(`There is no key "${oneLine(wanted)}"; \`memoryd keys list\` lists them.`);
  const revoked = await desk.revoke(found.id);
  if (flags.json === true) return printJson(revoked);
  print(`Revoked ${described(revoked)}.`);
}

async function removeAll(flags: Flags): Promise<void> {
  const { deleted, key_needed: isStillNeeded } = await (await keysOf(flags)).removeAll();
  print(`Removed ${plural(deleted, "key")}.`);
  complain(
    isStillNeeded
      ? "A key is still needed: the daemon was started with MEMORYD_API_KEY or --api-key-file."
      : "Every program on this machine can read and write all memories now.",
  );
}

function described({ name, scope, user_id: user, expires_at: expiresAt }: KeyRecord): string {
  const whose = user === null ? "for all users" : `for the user ${oneLine(user)}`;
  const end = expiresAt === null ? "without end" : `until ${minute(expiresAt)}`;
  return `the key ${oneLine(name)}: ${scope}, ${whose}, ${end}`;
}
