import { arrayOf, boolean, type Formed, integer, mapOf, nullable, record, string } from "../json-form.ts";
import { connect } from "./daemon-client.ts";
import { pathOf, ShownFact, statement } from "./facts.ts";
import { oneLine, print, printJson, printTable } from "./output.ts";
import { plural } from "./plural.ts";

const MemoryTime = nullable(string);
const Counts = {
  user_id: string,
  memory_count: integer,
  fact_count: integer,
  first_memory_at: MemoryTime,
  last_memory_at: MemoryTime,
};
const List = record({
  items: arrayOf(record({ ...Counts, document_count: integer })),
  total: integer,
});
const Summary = record({
  ...Counts,
  method: string,
  summary: string,
  highlights: arrayOf(record({ memory_id: string, text: string })),
  key_phrases: arrayOf(string),
  facts: arrayOf(ShownFact),
  sectors: mapOf(integer),
  top_tags: arrayOf(record({ tag: string, count: integer })),
  stale: boolean,
});

export interface ListUsersOptions {
  readonly limit?: number;
  readonly json?: boolean;
}

/** Prints who has something stored, and how much. */
export async function listUsers(dataDir: string, { limit, json }: ListUsersOptions): Promise<void> {
  const daemon = await connect(dataDir);
  const answer = await daemon.call(List, "GET", pathOf("/users", { l: limit }));
  if (json === true) {
    printJson(answer);
    return;
  }
  if (answer.items.length === 0) print("Nobody has anything stored.");
  for (const user of answer.items) {
    print(oneLine(user.user_id));
    print(
      `    ${[counted(user, user.document_count), days(user)].filter((part) => part !== "").join(" · ")}`,
    );
  }
  if (answer.total > answer.items.length) print(`… and ${answer.total - answer.items.length} more`);
}

export interface SummariseUserOptions {
  readonly fresh?: boolean;
  readonly json?: boolean;
}

/** Prints what a user has stored, in short. */
export async function summariseUser(
  dataDir: string,
  user: string,
  { fresh, json }: SummariseUserOptions,
): Promise<void> {
  const daemon = await connect(dataDir);
  const path = `/users/${encodeURIComponent(user)}/summary`;
  const summary =
    fresh === true
      ? await daemon.call(Summary, "POST", `${path}/regenerate`)
      : await daemon.call(Summary, "GET", path);
  if (json === true) printJson(summary);
  else printSummary(summary);
}

function printSummary(summary: Formed<typeof Summary>): void {
  const head = [
    oneLine(summary.user_id),
    counted(summary),
    days(summary),
    summary.stale ? "changed since" : "",
  ];
  print(head.filter((part) => part !== "").join(" · "));
  print("");
  if (summary.method === "extractive") for (const { text } of summary.highlights) print(`  ${oneLine(text)}`);
  else print(`  ${oneLine(summary.summary)}`);
  if (summary.facts.length > 0) print("");
  for (const fact of summary.facts) print(`  ${statement(fact)}`);
  print("");
  const sectors = Object.entries(summary.sectors).filter(([, count]) => count > 0);
  printTable([
    ["about", summary.key_phrases.map(oneLine).join(", ")],
    ["sectors", sectors.map(([name, count]) => `${name} ${count}`).join(", ")],
    ["tags", summary.top_tags.map(({ tag, count }) => `${oneLine(tag)} ${count}`).join(", ")],
  ]);
}

/** `12 memories, 3 facts, 1 document`; what there is none of is left out. */
export function counted(
  { memory_count: memories, fact_count: facts }: { memory_count: number; fact_count: number },
  documents = 0,
): string {
  return [plural(memories, "memory", "memories"), plural(facts, "fact"), plural(documents, "document")]
    .filter((part) => !part.startsWith("0 "))
    .join(", ");
}

function days({
  first_memory_at: first,
  last_memory_at: last,
}: Formed<typeof Summary> | Formed<typeof List>["items"][number]): string {
  const [from = "", to = ""] = [first, last].map((time) => time?.slice(0, "YYYY-MM-DD".length));
  return from === to ? from : `${from} – ${to}`;
}
