import { existsSync } from "node:fs";
import { type Command, Option } from "commander";
import type { DeletedUserMemories, Key, User, UserSummary } from "../../client/client.ts";
import type { Scope } from "../../core/access/key-ring.ts";
import type { KeyAdministration } from "../../daemon/key-service.ts";
import { KEY_NAME } from "../../schemas/text-rules.ts";
import { present } from "../../schemas/wire.ts";
import { connect, findDaemon } from "../connect.ts";
import { statement } from "../output/draw-timeline.ts";
import { addCommand, expiry, settingsOf, textOf, userId, wholeNumber } from "../output/options.ts";
import type { Flags } from "../output/options.ts";
import {
  CliFailure,
  complain,
  counted,
  oneLine,
  plural,
  print,
  printJson,
  printTable,
  day,
  minute,
} from "../output/output.ts";
import { confirmed } from "./memories.ts";

export function addUserCommands(memoryd: Command): void {
  const users = memoryd
    .command("users")
    .description("list users, summarise what they have stored, delete it");
  addCommand(users, "list", "list users with the size of their data")
    .option("-l, --limit <number>", "maximum number, 1 to 10000 (default: 100)", wholeNumber(1, 10_000))
    .option("--json", "print the answer as JSON")
    .action(list);
  addCommand(users, "summary", "summarise a user's memories")
    .argument("<user>", "the id of the user", userId)
    .option("--json", "print the answer as JSON")
    .action(summarise);
  addCommand(users, "delete", "delete a user's memories, with documents and originals")
    .argument("<user>", "the id of the user", userId)
    .option("--keep-documents", "keep documents and their memories")
    .option("--include-facts", "delete the facts too")
    .option("--backups", "then replace all backups of the store by a new one, which does not have it")
    .option("-y, --yes", "delete without asking")
    .option("--json", "print the answer as JSON")
    .action(remove);
}

async function list(flags: Flags): Promise<void> {
  const { api } = await connect(flags);
  const answer = await api.users.page(present({ l: flags.limit }));
  if (flags.json === true) return printJson(answer);
  if (answer.items.length === 0) print("No user has stored anything.");
  for (const user of answer.items) {
    print(oneLine(user.user_id));
    const parts = [inWords(user.memory_count, user.fact_count, user.document_count), days(user)];
    print(`    ${parts.filter((part) => part !== "").join(" · ")}`);
  }
  if (answer.total > answer.items.length) print(`… and ${answer.total - answer.items.length} more`);
}

async function summarise(user: string, flags: Flags): Promise<void> {
  const { api } = await connect(flags);
  const summary = await api.users.summary(user);
  if (flags.json === true) return printJson(summary);
  const { user_id, memory_count, fact_count, highlights, facts, sectors, top_tags, key_phrases } = summary;
  const head = [oneLine(user_id), inWords(memory_count, fact_count), days(summary)];
  print(head.filter((part) => part !== "").join(" · "));
  print("");
  for (const { text } of highlights) print(`  ${oneLine(text)}`);
  if (facts.length > 0) print("");
  for (const fact of facts) print(`  ${statement(fact)}`);
  print("");
  const there = Object.entries(sectors).filter(([, count]) => count > 0);
  printTable([
    ["about", key_phrases.map(oneLine).join(", ")],
    ["sectors", there.map(([name, count]) => `${name} ${count}`).join(", ")],
    ["tags", top_tags.map(({ tag, count }) => `${oneLine(tag)} ${count}`).join(", ")],
  ]);
}

async function remove(user: string, flags: Flags): Promise<void> {
  const { keepDocuments = false, includeFacts = false, yes = false } = flags;
  const { api } = await connect(flags);
  const one = { user_id: user, l: 1 };
  const staying = async () => {
    const facts = includeFacts ? 0 : (await api.facts.page(one)).total;
    return facts === 0 ? "" : `; ${facts} ${facts === 1 ? "fact stays" : "facts stay"} (--include-facts)`;
  };
  if (!yes) {
    const there = inWords(
      (await api.memories.page(one)).total,
      includeFacts ? (await api.facts.page(one)).total : 0,
      keepDocuments ? 0 : (await api.documents.page(one)).total,
    );
    const facts = await staying();
    const documents = keepDocuments ? ", documents and their memories left out" : "";
    const what = `${oneLine(user)} has ${there || (facts === "" ? "nothing stored" : "no memories")}${documents}${facts}`;
    const question = `${what}. Delete ${facts === "" ? "all of it" : "all but the facts"} for good?`;
    if (!(await confirmed(question, `${what}; nothing was deleted`))) return;
  }
  const keep = keepDocuments ? ("documents" as const) : undefined;
  const include = includeFacts ? ("facts" as const) : undefined;
  const deleted = await api.users.deleteMemories(user, present({ keep, include, backups: flags.backups }));
  if (flags.json === true) return printJson(deleted);
  const gone = inWords(deleted.deleted, deleted.deleted_facts, deleted.deleted_documents);
  const stay = await staying();
  print(gone === "" ? `There was nothing to delete${stay === "" ? "." : stay}` : `deleted ${gone}${stay}`);
  if (gone !== "" || flags.backups === true)
    printCopies(deleted.backups, "`memoryd compact --now --backups` makes a new one in their place");
}

/** Prints how many backups may still hold the deleted data. */
export function printCopies(copies: DeletedUserMemories["backups"], remedy: string): void {
  const { made, removed = 0, remaining, problem } = copies ?? {};
  const isMade = typeof made === "string";
  if (isMade) print(`made the backup ${made}, and removed ${plural(removed, "older one")}`);
  if (problem !== undefined) print(problem);
  else if ((remaining ?? 0) > 0)
    print(
      `${plural(remaining ?? 0, "backup")} from before may still hold it; ` +
        (isMade ? "`memoryd backup list` shows those that are left" : remedy),
    );
}

const inWords = (memory: number, fact: number, document = 0): string =>
  counted({ memory, fact, document }).join(", ");

function days({ first_memory_at: first, last_memory_at: last }: User | UserSummary): string {
  if (first === null || last === null) return "";
  return day(first) === day(last) ? day(first) : `${day(first)} – ${day(last)}`;
}

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
    .action(listKeys);
  addCommand(keys, "revoke", "refuse a key from now on")
    .argument("<key>", "its name, its prefix or its id")
    .option("--json", "print its record as JSON")
    .action(revoke);

  const auth = memoryd.command("auth").description("set whether requests need a key");
  addCommand(auth, "off", "remove all keys, so that none is needed")
    .option("-y, --yes", "do not ask")
    .action(removeAll);
}

/**
 * The keys of a data directory: through the daemon that runs on it, so that a change holds at once, or in its file.
 * @param makes makes the directory where it is missing. @throws {CliFailure} where it is missing otherwise.
 */
async function keysOf(flags: Flags, makes = false): Promise<KeyAdministration> {
  const { dataDir } = settingsOf(flags);
  const daemon = await findDaemon(dataDir);
  if (!makes && !existsSync(dataDir))
    throw new CliFailure(
      `There is no data directory ${dataDir}, so there are no keys. Begin with \`memoryd keys create\`, or name another directory with --data-dir.`,
    );
  if (daemon === undefined) return (await import("../../daemon/key-service.ts")).offlineKeys(dataDir);
  return daemon.api.keys;
}

/** `expires`: epoch milliseconds. */
type CreateFlags = Flags & { readonly name: string; readonly scope: Scope; readonly expires?: number };

/** Prints the key alone on standard output, so that it can be piped to where it is needed. */
async function create(flags: CreateFlags): Promise<void> {
  const { name, scope, user, expires } = flags;
  const desk = await keysOf(flags, true);
  const { first, ...made } = await desk.create({
    name,
    scope,
    ...present({ user_id: user, expires_at: expires }),
  });
  if (flags.json === true) printJson({ ...made, first });
  else print(made.key);
  complain(`Made ${described(made)}. It is shown this once and not kept.`);
  if (first) complain(FIRST_KEY);
}

async function listKeys(flags: Flags): Promise<void> {
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
  const question =
    "Remove all keys? Every program that uses one stops working, and every program on this machine can read and write all memories.";
  if (flags.yes !== true && !(await confirmed(question, "No key was removed"))) return;
  const { deleted, key_needed: isStillNeeded } = await (await keysOf(flags)).removeAll();
  print(`Removed ${plural(deleted, "key")}.`);
  complain(
    isStillNeeded
      ? "A key is still needed: the daemon was started with MEMORYD_API_KEY or --api-key-file."
      : "No key is needed now: your programs on this machine can read and write all memories.",
  );
}

function described({ name, scope, user_id: user, expires_at: expiresAt }: Key): string {
  const whose = user === null ? "for all users" : `for the user ${oneLine(user)}`;
  const end = expiresAt === null ? "without end" : `until ${minute(expiresAt)}`;
  return `the key ${oneLine(name)}: ${scope}, ${whose}, ${end}`;
}
