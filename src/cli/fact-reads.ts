import { arrayOf, integer, record, string } from "../json-form.ts";
import { connect } from "./daemon-client.ts";
import { drawTimeline } from "./draw-timeline.ts";
import {
  conditionsOf,
  doubt,
  type FactReadOptions,
  moment,
  pathOf,
  period,
  ShownFact,
  statement,
} from "./facts.ts";
import { oneLine, print, printJson } from "./output.ts";
import { plural } from "./plural.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const One = record({ fact: ShownFact });
const List = record({ facts: arrayOf(ShownFact), total: integer });
const Timeline = record({
  subject: string,
  timeline: arrayOf(record({ timestamp: string, change_type: string, fact: ShownFact })),
  total: integer,
});
const Comparison = record({
  time1: string,
  time2: string,
  added: arrayOf(ShownFact),
  removed: arrayOf(ShownFact),
  changed: arrayOf(record({ before: ShownFact, after: ShownFact })),
  summary: record({
    added: integer,
    removed: integer,
    changed: integer,
    unchanged: integer,
  }),
});

export interface GetFactsOptions extends FactReadOptions {
  readonly at?: string;
  /** Past and future ones too. */
  readonly all?: boolean;
}

/** Prints a fact by its id, or what is true now of a subject. */
export async function getFacts(
  dataDir: string,
  [subject, predicate]: readonly [subject: string, predicate?: string],
  options: GetFactsOptions,
): Promise<void> {
  const daemon = await connect(dataDir);
  if (predicate === undefined && UUID.test(subject)) {
    const { user_id, known_at } = conditionsOf(options);
    const one = await daemon.call(One, "GET", pathOf(`/api/temporal/fact/${subject}`, { user_id, known_at }));
    if (options.json === true) printJson(one);
    else printFact(one.fact);
    return;
  }
  const now = new Date().toISOString();
  const at = options.at ?? (options.all === true ? undefined : now);
  const path = pathOf("/api/temporal/fact", { subject, predicate, at, ...conditionsOf(options) });
  printFacts(await daemon.call(List, "GET", path), options);
}

export interface SearchFactsOptions extends FactReadOptions {
  readonly field?: string;
  readonly at?: string;
}

export async function searchFacts(
  dataDir: string,
  pattern: string,
  options: SearchFactsOptions,
): Promise<void> {
  const daemon = await connect(dataDir);
  const { field, at } = options;
  const path = pathOf("/api/temporal/search", { pattern, field, at, ...conditionsOf(options) });
  printFacts(await daemon.call(List, "GET", path), options);
}

export interface FactTimelineOptions extends FactReadOptions {
  readonly from?: string;
  readonly to?: string;
}

/** Draws what is known of a subject over time. */
export async function factTimeline(
  dataDir: string,
  [subject, predicate]: readonly [subject: string, predicate?: string],
  options: FactTimelineOptions,
): Promise<void> {
  const daemon = await connect(dataDir);
  const { from, to } = options;
  const path = pathOf("/api/temporal/timeline", { subject, predicate, from, to, ...conditionsOf(options) });
  const answer = await daemon.call(Timeline, "GET", path);
  if (options.json === true) return printJson(answer);
  if (answer.timeline.length === 0) return print("Nothing found.");
  for (const line of drawTimeline(answer.timeline, Date.now())) print(line);
  printRest(answer.timeline.length, answer.total, "change");
}

export interface CompareFactsOptions extends FactReadOptions {
  readonly subject?: string;
}

/** Prints what became different between two moments. */
export async function compareFacts(
  dataDir: string,
  [time1, time2]: readonly [time1: string, time2: string],
  options: CompareFactsOptions,
): Promise<void> {
  const daemon = await connect(dataDir);
  const { subject } = options;
  const path = pathOf("/api/temporal/compare", { subject, time1, time2, ...conditionsOf(options) });
  const answer = await daemon.call(Comparison, "GET", path);
  if (options.json === true) return printJson(answer);
  const { summary } = answer;
  const counts = Object.entries(summary).map(([name, count]) => `${count} ${name}`);
  print(`${moment(answer.time1)} → ${moment(answer.time2)}: ${counts.join(", ")}`);
  for (const { before, after } of answer.changed) print(`~ ${statement(before)} → ${oneLine(after.object)}`);
  for (const fact of answer.added) print(`+ ${statement(fact)}`);
  for (const fact of answer.removed) print(`- ${statement(fact)}`);
  const longest = Math.max(summary.added, summary.removed, summary.changed);
  const shown = Math.max(answer.added.length, answer.removed.length, answer.changed.length);
  printRest(shown, longest, undefined);
}

function printFacts(answer: { facts: readonly ShownFact[]; total: number }, options: FactReadOptions): void {
  if (options.json === true) return printJson(answer);
  if (answer.facts.length === 0) print("Nothing found.");
  for (const fact of answer.facts) printFact(fact);
  printRest(answer.facts.length, answer.total, "fact");
}

function printFact(fact: ShownFact): void {
  print(statement(fact));
  print(`    ${period(fact)}${doubt(fact)} · ${fact.id}`);
}

/** @param what is counted; undefined where it is of several kinds. */
function printRest(shown: number, total: number, what: string | undefined): void {
  const left = total - shown;
  const more = what === undefined ? `${left} more of a kind` : plural(left, `more ${what}`);
  if (left > 0) print(`… ${more}; ask for up to 10000 with --limit.`);
}
