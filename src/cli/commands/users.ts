import type { Command } from "commander";
import type { DeletedUserMemories, User, UserSummary } from "../../client/client.ts";
import { connect } from "../connect.ts";
import { statement } from "../output/draw-timeline.ts";
import { addCommand, type Flags, userId, wholeNumber } from "../output/options.ts";
import { oneLine, plural, print, printJson, printTable } from "../output/output.ts";
import { day } from "../output/times.ts";
import { confirmed } from "./memories.ts";
import { present } from "../../schemas/wire.ts";

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
    .option("--fresh", "make a new summary")
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
    const parts = [counted(user.memory_count, user.fact_count, user.document_count), days(user)];
    print(`    ${parts.filter((part) => part !== "").join(" · ")}`);
  }
  if (answer.total > answer.items.length) print(`… and ${answer.total - answer.items.length} more`);
}

async function summarise(user: string, flags: Flags & { readonly fresh?: boolean }): Promise<void> {
  const { api } = await connect(flags);
  const summary = await (flags.fresh === true ? api.users.regenerateSummary(user) : api.users.summary(user));
  if (flags.json === true) return printJson(summary);
  const { user_id, memory_count, fact_count, highlights, facts, sectors, top_tags, key_phrases } = summary;
  const head = [
    oneLine(user_id),
    counted(memory_count, fact_count),
    days(summary),
    summary.stale ? "changed since" : "",
  ];
  print(head.filter((part) => part !== "").join(" · "));
  print("");
  if (summary.method === "extractive") for (const { text } of highlights) print(`  ${oneLine(text)}`);
  else print(`  ${oneLine(summary.summary)}`);
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

interface DeletionFlags extends Flags {
  readonly keepDocuments?: boolean;
  readonly includeFacts?: boolean;
  readonly backups?: boolean;
}

async function remove(user: string, flags: DeletionFlags): Promise<void> {
  const { keepDocuments = false, includeFacts = false, yes = false } = flags;
  const { api } = await connect(flags);
  const one = { user_id: user, l: 1 };
  const staying = async () => {
    const facts = includeFacts ? 0 : (await api.facts.page(one)).total;
    return facts === 0 ? "" : `; ${facts} ${facts === 1 ? "fact stays" : "facts stay"} (--include-facts)`;
  };
  if (!yes) {
    const there = counted(
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
  const gone = counted(deleted.deleted, deleted.deleted_facts, deleted.deleted_documents);
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

/** `12 memories, 3 facts, 1 document`; without those of which there are none. */
function counted(memories: number, facts: number, documents = 0): string {
  return [plural(memories, "memory", "memories"), plural(facts, "fact"), plural(documents, "document")]
    .filter((part) => !part.startsWith("0 "))
    .join(", ");
}

function days({ first_memory_at: first, last_memory_at: last }: User | UserSummary): string {
  if (first === null || last === null) return "";
  return day(first) === day(last) ? day(first) : `${day(first)} – ${day(last)}`;
}
