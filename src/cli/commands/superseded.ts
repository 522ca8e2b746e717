import type { Command } from "commander";
import { addCommand, type Flags } from "../output/options.ts";
import { connect } from "../connect.ts";
import { beginning, oneLine, print, printJson, shortId, day } from "../output/output.ts";
import type { SupersededPair } from "../../client/client.ts";
import { present } from "../../schemas/wire.ts";
import { ID, readMemory } from "./memories.ts";

export function addSupersededCommands(memoryd: Command): void {
  addCommand(memoryd, "superseded", "list notes that a later note replaced, or perhaps did")
    .option("-u, --user <id>", "only this user's memories")
    .option("--guessed", "only guesses, to confirm with `supersede` or reject with `still-holds`")
    .option("--json", "print JSON")
    .action(list);
  addCommand(memoryd, "still-holds", "reject the guess that a later note replaced this one, for good")
    .argument("<id>", ID)
    .option("--json", "print the record as JSON")
    .action(stillHolds);
  addCommand(memoryd, "supersede", "say that a note replaces an earlier one, which stays and ranks behind it")
    .argument("<new>", ID)
    .argument("<old>", ID)
    .option("--json", "print the record as JSON")
    .action(supersede);
}

async function list(flags: Flags & { readonly guessed?: boolean }): Promise<void> {
  const { api } = await connect(flags);
  const filter = {
    ...present({ user_id: flags.user }),
    ...(flags.guessed === true && { how: "inferred" as const }),
  };
  const pairs: SupersededPair[] = [];
  for await (const pair of api.memories.superseded(filter)) pairs.push(pair);
  if (flags.json === true) return printJson({ items: pairs });
  if (pairs.length === 0) return print("No note was replaced by a later one.");
  for (const { older, newer } of pairs) {
    print(`${shortId(older.id)}  ${day(older.occurred_at)}  ${beginning(older.content)}`);
    const how = older.superseded_how === "told" ? "replaced by" : "perhaps replaced by";
    print(`  ${how} ${shortId(newer.id)}  ${day(newer.occurred_at)}  ${beginning(newer.content)}`);
  }
}

async function stillHolds(given: string, flags: Flags): Promise<void> {
  const { api } = await connect(flags);
  const { id } = await readMemory(api, given);
  const memory = await api.memories.update(id, { still_holds: true });
  if (flags.json === true) return printJson(memory);
  print(
    memory.superseded_by === null
      ? `${shortId(id)} still holds.`
      : `${shortId(id)} was replaced by ${shortId(memory.superseded_by)}, as somebody said; \`memoryd edit\` changes that note.`,
  );
}

async function supersede(newer: string, older: string, flags: Flags): Promise<void> {
  const { api } = await connect(flags);
  const [by, of] = [await readMemory(api, newer), await readMemory(api, older)];
  const supersedes = [...new Set([...by.supersedes, of.id])];
  const memory = await api.memories.update(by.id, { supersedes });
  if (flags.json === true) return printJson(memory);
  print(`${shortId(by.id)} replaces ${shortId(of.id)}: ${oneLine(beginning(of.content))}`);
}
