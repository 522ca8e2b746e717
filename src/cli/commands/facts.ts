import { type Command, Option } from "commander";
import type { Fact, FactPlace } from "../../client/client.ts";
import { FACT_OBJECT, FACT_PATTERN, FACT_PREDICATE, FACT_SUBJECT, UUID } from "../../schemas/text-rules.ts";
import { connect, factId, memoryId } from "../connect.ts";
import { doubt, drawTimeline, period, statement } from "../output/draw-timeline.ts";
import * as options from "../output/options.ts";
import { oneLine, plural, print, printJson, moment } from "../output/output.ts";
import { shortId } from "../../core/text/text-size.ts";
import { confirmed, parseMetadata } from "./memories.ts";
import { present } from "../../schemas/wire.ts";

const { addCommand, textOf, time } = options;
type Flags = options.Flags;

const FIELDS = ["subject", "predicate", "object", "any"];
const ID = "the fact's id, or its last 6 or more characters";
export function addFactCommands(memoryd: Command): void {
  const fact = memoryd.command("fact").description("record and read facts that are true for a time");

  options
    .withNewOwner(addCommand(fact, "add", "record that something is true for a time"), "fact")
    .argument("<subject>", 'what it is about, such as "Ada"', textOf(FACT_SUBJECT))
    .argument("<predicate>", 'what is said of it, such as "lives in"', textOf(FACT_PREDICATE))
    .argument("<object>", 'what that is, such as "London"', textOf(FACT_OBJECT))
    .option("--from <time>", "say when it began, such as 2019-05 (default: now)", time)
    .option("--to <time>", "say when it ended (default: it has not)", time)
    .option("-c, --confidence <number>", "say how certain it is, 0 to 1 (default: 1)", options.part)
    .option("--source <id>", "name the memory it was taken from")
    .option("--many", "let several objects be true at once, as of languages spoken")
    .option("--metadata <json>", "keep a JSON object with it")
    .option("--json", "print the record as JSON")
    .action(add);

  asRead(addCommand(fact, "get", "print the facts on a subject that are true now, or a fact by its id"))
    .argument("<subject>", "the subject, or the id of a fact", textOf(FACT_SUBJECT))
    .argument("[predicate]", "only facts with this predicate", textOf(FACT_PREDICATE))
    .option("--at <time>", "print facts that were true at this time", time)
    .option("--all", "print past and future facts too")
    .action(get);

  asRead(addCommand(fact, "list", "list facts, open ones first"))
    .option("--at <time>", "only facts that were true at this time", time)
    .action(async (flags: Flags) => {
      const { api } = await connect(flags);
      printFacts(await api.facts.page(present({ at: flags.at, ...conditionsOf(flags) })), flags);
    });

  options
    .withPeriod(asRead(addCommand(fact, "timeline", "draw the facts on a subject over time")), "changes")
    .argument("<subject>", "the subject", textOf(FACT_SUBJECT))
    .argument("[predicate]", "only facts with this predicate", textOf(FACT_PREDICATE))
    .action(timeline);

  asRead(addCommand(fact, "search", "find facts by a part of them, or a pattern with * and ?"))
    .argument("<pattern>", 'such as "lond*"', textOf(FACT_PATTERN))
    .addOption(new Option("--field <name>", "search this field (default: any)").choices(FIELDS))
    .option("--at <time>", "only facts that were true at this time", time)
    .action(async (pattern: string, flags: Flags & { readonly field?: "any" }) => {
      const { api } = await connect(flags);
      const { field, at } = flags;
      printFacts(
        await api.facts.search({ pattern, ...present({ field, at, ...conditionsOf(flags) }) }),
        flags,
      );
    });

  asRead(addCommand(fact, "compare", "print the differences between two times"))
    .argument("<time1>", "such as 2020-01-01", time)
    .argument("<time2>", "such as 2022-01", time)
    .option("--subject <name>", "only facts about this subject", textOf(FACT_SUBJECT))
    .action(compare);

  addCommand(fact, "end", "say that a fact is no longer true")
    .showHelpAfterError("(it takes one id, as `memoryd fact get SUBJECT` prints it)")
    .argument("<id>", ID)
    .option("--at <time>", "say when it ended (default: now)", time)
    .option("--json", "print the record as JSON")
    .action(end);

  addCommand(fact, "rm", "erase facts with all their versions; asks first")
    .aliases(["delete", "remove"])
    .argument("<id...>", ID)
    .option("-y, --yes", "erase without asking")
    .action(remove);
}

function asRead(command: Command): Command {
  return options
    .withOwner(command, "facts")
    .option("--known-at <time>", "print facts as they were recorded at this time", time)
    .option(
      "-l, --limit <number>",
      "print at most so many, 1 to 10000 (default: 100)",
      options.wholeNumber(1, 10_000),
    )
    .option("--json", "print the answer as JSON");
}

const conditionsOf = ({ user, project, knownAt, limit }: Flags): FactPlace =>
  present({ user_id: user, project, known_at: knownAt, l: limit });

async function add(subject: string, predicate: string, object: string, flags: Flags): Promise<void> {
  const { from, to, confidence, user, project, source, many, metadata } = flags;
  const kept = metadata === undefined ? undefined : parseMetadata(metadata);
  const { api } = await connect(flags);
  const sourceId = source && (await memoryId(api, source));
  const recorded = await api.facts.record({
    subject,
    predicate,
    object,
    ...present({ valid_from: from, valid_to: to, confidence, metadata: kept, user_id: user, project }),
    ...present({ source_memory_id: sourceId, cardinality: many === true ? ("many" as const) : undefined }),
  });
  if (flags.json === true) return printJson(recorded);
  print(`${recorded.deduplicated ? "already recorded" : "recorded"} ${shortId(recorded.id)}`);
  print(`  ${statement(recorded)}`);
  print(`  ${period(recorded)}${doubt(recorded)}`);
  for (const id of recorded.superseded) print(`  ended, split or replaced ${shortId(id)}`);
  for (const other of recorded.similar ?? []) {
    print(`  similar: ${statement({ subject, ...other })}`);
    print(`    if it no longer holds: memoryd fact end ${shortId(other.id)}`);
  }
}

async function get(subject: string, predicate: string | undefined, flags: Flags) {
  const { api } = await connect(flags);
  if (predicate === undefined && UUID.test(subject)) {
    const fact = await api.facts.get(subject, present({ user_id: flags.user, known_at: flags.knownAt }));
    if (flags.json === true) printJson({ fact });
    else printFact(fact);
    return;
  }
  const at = flags.at ?? (flags.all === true ? undefined : new Date().toISOString());
  printFacts(await api.facts.page(present({ subject, predicate, at, ...conditionsOf(flags) })), flags);
}

async function timeline(subject: string, predicate: string | undefined, flags: Flags): Promise<void> {
  const { api } = await connect(flags);
  const { from, to } = flags;
  const answer = await api.facts.timeline({
    subject,
    ...present({ predicate, from, to, ...conditionsOf(flags) }),
  });
  if (flags.json === true) return printJson(answer);
  if (answer.timeline.length === 0) return print("Nothing found.");
  for (const line of drawTimeline(answer.timeline, Date.now())) print(line);
  printRest(answer.timeline.length, answer.total, "change");
}

async function compare(time1: string, time2: string, flags: Flags): Promise<void> {
  const { api } = await connect(flags);
  const answer = await api.facts.compare({
    time1,
    time2,
    ...present({ subject: flags.subject, ...conditionsOf(flags) }),
  });
  if (flags.json === true) return printJson(answer);
  const { summary, added, removed, changed } = answer;
  const counts = Object.entries(summary).map(([name, count]) => `${count} ${name}`);
  print(`${moment(answer.time1)} → ${moment(answer.time2)}: ${counts.join(", ")}`);
  for (const { before, after } of changed) print(`~ ${statement(before)} → ${oneLine(after.object)}`);
  for (const fact of added) print(`+ ${statement(fact)}`);
  for (const fact of removed) print(`- ${statement(fact)}`);
  const total = Math.max(summary.added, summary.removed, summary.changed);
  printRest(Math.max(added.length, removed.length, changed.length), total, undefined);
}

async function end(id: string, flags: Flags): Promise<void> {
  const { api } = await connect(flags);
  const ended = await api.facts.close(await factId(api, id), present({ valid_to: flags.at }));
  if (flags.json === true) return printJson(ended);
  print(`ended ${shortId(ended.id)}`);
  printFact(ended);
}

async function remove(ids: readonly string[], flags: Flags): Promise<void> {
  const { api } = await connect(flags);
  const facts = new Map<string, Fact>();
  for (const text of ids) {
    const fact = await api.facts.get(await factId(api, text));
    facts.set(fact.id, fact);
  }
  const what = plural(facts.size, "fact");
  if (flags.yes !== true) {
    for (const fact of facts.values()) printFact(fact);
    if (!(await confirmed(`Erase ${what} for good?`, "Nothing was erased"))) return;
  }
  for (const id of facts.keys()) await api.facts.erase(id);
  print(`erased ${what}`);
}

function printFacts(
  answer: { readonly facts: readonly Fact[]; readonly total: number },
  { json }: Flags,
): void {
  if (json === true) return printJson(answer);
  if (answer.facts.length === 0) print("Nothing found.");
  for (const fact of answer.facts) printFact(fact);
  printRest(answer.facts.length, answer.total, "fact");
}

function printFact(fact: Fact): void {
  print(statement(fact));
  print(`    ${period(fact)}${doubt(fact)} · ${shortId(fact.id)}`);
}

/** @param what is counted; undefined where it is of several kinds. */
function printRest(shown: number, total: number, what: string | undefined): void {
  const left = total - shown;
  const more = what === undefined ? `${left} more of a kind` : plural(left, `more ${what}`);
  if (left > 0) print(`… ${more}; ask for up to 10000 with --limit.`);
}
