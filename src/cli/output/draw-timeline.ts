import type { Fact } from "../../client/client.ts";
import { grouped, oneLine, moment } from "./output.ts";

type ShownFact = Pick<
  Fact,
  "id" | "subject" | "predicate" | "object" | "valid_from" | "valid_to" | "confidence"
>;

type Statement = Pick<Fact, "subject" | "predicate" | "object">;

export interface TimelineEvent {
  readonly timestamp: string;
  readonly change_type: string;
  readonly fact: ShownFact;
}

/** Columns of the drawing, from the first moment to the last. */
const WIDTH = 40;

/**
 * Facts as bars on one scale, by predicate, the earliest first:
 *
 *     lives in
 *       ├───────────┤                              2019-05-01 – 2021-03-01  London
 *                   ├─────────────────▶            from 2021-03-01          Paris
 *
 * An arrow: still true. What was said of a fact later stands below its bar.
 * @param now epoch ms: how far the drawing reaches, at least.
 */
export function drawTimeline(events: readonly TimelineEvent[], now: number): string[] {
  const facts = new Map<string, ShownFact>();
  const updates = new Map<string, string[]>();
  for (const { timestamp, change_type: type, fact } of events) {
    if (type !== "updated" || !facts.has(fact.id)) facts.set(fact.id, fact);
    if (type === "updated")
      updates.set(fact.id, [...(updates.get(fact.id) ?? []), `${moment(timestamp)} updated${doubt(fact)}`]);
  }
  const scale = scaleOf([...facts.values()], now);
  const lines: string[] = [];
  const inOrder = [...facts.values()].sort((a, b) => Date.parse(a.valid_from) - Date.parse(b.valid_from));
  // By predicate in any case, as first written.
  for (const bars of grouped(inOrder, ({ predicate }) => predicate.trim().toLowerCase()).values()) {
    if (lines.length > 0) lines.push("");
    lines.push(oneLine(bars[0]?.predicate ?? ""));
    const width = Math.max(...bars.map((fact) => period(fact).length));
    for (const fact of bars) {
      lines.push(
        `  ${bar(fact, scale)}  ${period(fact).padEnd(width)}  ${oneLine(fact.object)}${doubt(fact)}`,
      );
      for (const update of updates.get(fact.id) ?? []) lines.push(`  ${" ".repeat(WIDTH)}  ${update}`);
    }
  }
  return lines;
}

type Scale = { readonly from: number; readonly to: number };

function scaleOf(facts: readonly ShownFact[], now: number): Scale {
  const times = facts.flatMap(({ valid_from: from, valid_to: to }) => [from, to ?? from].map(Date.parse));
  return { from: Math.min(...times, now), to: Math.max(...times, now) };
}

function bar({ valid_from: from, valid_to: to }: ShownFact, { from: first, to: last }: Scale): string {
  const columnOf = (time: number) => Math.round(((time - first) / Math.max(1, last - first)) * (WIDTH - 1));
  const begin = columnOf(Date.parse(from));
  const end = to === null ? WIDTH - 1 : columnOf(Date.parse(to));
  const tip = to === null ? "▶" : "┤";
  const drawn = begin === end ? (to === null ? tip : "│") : `├${"─".repeat(end - begin - 1)}${tip}`;
  return `${" ".repeat(begin)}${drawn}`.padEnd(WIDTH);
}

export function statement({ subject, predicate, object }: Statement): string {
  return [subject, predicate, object].map(oneLine).join(" · ");
}

/** `2019-05-01 – 2021-03-01`, or `from 2019-05-01` while there is no end. */
export const period = ({ valid_from: from, valid_to: to }: ShownFact): string =>
  to === null ? `from ${moment(from)}` : `${moment(from)} – ${moment(to)}`;

/** Empty for what is certain. */
export const doubt = ({ confidence }: ShownFact): string =>
  confidence === 1 ? "" : ` · confidence ${Number(confidence.toFixed(2))}`;
