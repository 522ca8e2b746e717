import { type Command, Option } from "commander";
import { FACT_OBJECT, FACT_PATTERN, FACT_PREDICATE, FACT_SUBJECT } from "../schemas/text-rules.ts";
import { type DaemonOptions, settingsOf, withDataDir } from "./daemon-options.ts";
import type { AddFactOptions } from "./fact-add.ts";
import type {
  CompareFactsOptions,
  FactTimelineOptions,
  GetFactsOptions,
  SearchFactsOptions,
} from "./fact-reads.ts";
import { part, project, projectOrNone, textOf, time, userId, wholeNumber } from "./option-values.ts";

export function addFactCommands(memoryd: Command): void {
  const fact = memoryd.command("fact").description("record and read facts that are true for a time");

  withDataDir(fact.command("add").description("record that something is true for a time"))
    .argument("<subject>", 'what it is about, such as "Ada"', textOf(FACT_SUBJECT))
    .argument("<predicate>", 'what is said of it, such as "lives in"', textOf(FACT_PREDICATE))
    .argument("<object>", 'what that is, such as "London"', textOf(FACT_OBJECT))
    .option("--from <time>", "when it began, such as 2019-05-01; now if absent", time)
    .option("--to <time>", "when it ended; open if absent", time)
    .option("-c, --confidence <number>", "how certain it is, 0 to 1; 1 if absent", part)
    .option("-u, --user <id>", "whose fact it is", userId)
    .option("-p, --project <name>", "the project it belongs to", project)
    .option("--source <id>", "the memory it was taken from")
    .option("--many", "several objects may be true at once, as of languages spoken")
    .option("--metadata <json>", "a JSON object to keep with it")
    .option("--json", "print the record as JSON")
    .action(
      async (subject: string, predicate: string, object: string, options: DaemonOptions & AddFactOptions) => {
        const { addFact } = await import("./fact-add.ts");
        return await addFact(settingsOf(options).dataDir, [subject, predicate, object], options);
      },
    );

  asRead(fact.command("get").description("say what is true of a subject now, or show a fact by its id"))
    .argument("<subject>", "the subject, or the id of a fact", textOf(FACT_SUBJECT))
    .argument("[predicate]", "only what is said of it so", textOf(FACT_PREDICATE))
    .option("--at <time>", "what was true then instead", time)
    .option("--all", "past and future facts too")
    .action(
      async (subject: string, predicate: string | undefined, options: DaemonOptions & GetFactsOptions) => {
        const { getFacts } = await import("./fact-reads.ts");
        return await getFacts(settingsOf(options).dataDir, withPredicate(subject, predicate), options);
      },
    );

  asRead(fact.command("timeline").description("draw what was true of a subject, and when"))
    .argument("<subject>", "the subject", textOf(FACT_SUBJECT))
    .argument("[predicate]", "only what is said of it so", textOf(FACT_PREDICATE))
    .option("--from <time>", "only what changed at this time or later", time)
    .option("--to <time>", "only what changed before this time", time)
    .action(
      async (
        subject: string,
        predicate: string | undefined,
        options: DaemonOptions & FactTimelineOptions,
      ) => {
        const { factTimeline } = await import("./fact-reads.ts");
        return await factTimeline(settingsOf(options).dataDir, withPredicate(subject, predicate), options);
      },
    );

  asRead(fact.command("search").description("find facts by a part of them, or a pattern with * and ?"))
    .argument("<pattern>", 'such as "lond*"', textOf(FACT_PATTERN))
    .addOption(
      new Option("--field <name>", "where to look").choices(["subject", "predicate", "object", "any"]),
    )
    .option("--at <time>", "only what was true then", time)
    .action(async (pattern: string, options: DaemonOptions & SearchFactsOptions) => {
      const { searchFacts } = await import("./fact-reads.ts");
      return await searchFacts(settingsOf(options).dataDir, pattern, options);
    });

  asRead(fact.command("compare").description("say what became different between two times"))
    .argument("<time1>", "such as 2020-01-01", time)
    .argument("<time2>", "such as 2022-01-01", time)
    .option("--subject <name>", "only what is said of this subject", textOf(FACT_SUBJECT))
    .action(async (time1: string, time2: string, options: DaemonOptions & CompareFactsOptions) => {
      const { compareFacts } = await import("./fact-reads.ts");
      return await compareFacts(settingsOf(options).dataDir, [time1, time2], options);
    });
}

function asRead(command: Command): Command {
  return withDataDir(command)
    .option("-u, --user <id>", "only this user's facts", userId)
    .option("-p, --project <name>", 'only those of this project; "" for none', projectOrNone)
    .option("--known-at <time>", "what had been recorded by then, as it stood then", time)
    .option("-l, --limit <number>", "how many at most, 1 to 10000; 100 if absent", wholeNumber(1, 10_000))
    .option("--json", "print the answer as JSON");
}

function withPredicate(subject: string, predicate: string | undefined): readonly [string, string?] {
  return predicate === undefined ? [subject] : [subject, predicate];
}
