/** The facts of one subject over time: a row for each predicate, with what is true at the moment asked about, and a bar for each fact. */
import type { Fact } from "../../client/client.ts";
import { dateOf } from "../format.ts";
import { texts } from "../texts.ts";

interface TimelineProps {
  readonly facts: readonly Fact[];
  /** Epoch milliseconds. */
  readonly first: number;
  readonly last: number;
  /** The moment asked about. */
  readonly mark: number;
}

export function Timeline({ facts, first, last, mark }: TimelineProps) {
  const span = Math.max(1, last - first);
  /** Percent of the width. */
  const x = (time: number) => (100 * (Math.min(Math.max(time, first), last) - first)) / span;
  const isThen = (fact: Fact) => Date.parse(fact.valid_from) <= mark && mark < endOf(fact, Infinity);
  return (
    <ul class="timeline" aria-label={texts.facts.drawn}>
      {lanesOf(facts).map(({ predicate, bars }, lane) => (
        <li key={lane}>
          {predicate} <strong>{bars.filter(isThen).map(({ object }) => object)}</strong>
          <div class="lane">
            {bars.map((fact) => {
              const [from, to] = [x(Date.parse(fact.valid_from)), x(endOf(fact, last))];
              return (
                <span
                  key={fact.id}
                  class={fact.valid_to === null ? "bar open" : "bar"}
                  style={{ left: `${from}%`, width: `${to - from}%` }}
                  title={spoken(fact)}
                >
                  {fact.object}
                  <span class="hidden">{spoken(fact)}</span>
                </span>
              );
            })}
            <i class="mark" style={{ left: `${x(mark)}%` }} />
          </div>
        </li>
      ))}
      <li class="axis" aria-hidden="true">
        <small>{dateOf(first)}</small>
        <small>{dateOf(last)}</small>
      </li>
    </ul>
  );
}

interface Lane {
  readonly predicate: string;
  readonly bars: Fact[];
}

/** Facts that are true side by side get lanes of their own. */
function lanesOf(facts: readonly Fact[]): Lane[] {
  const lanes: Lane[] = [];
  const inOrder = [...facts].sort(
    (a, b) => a.predicate.localeCompare(b.predicate) || Date.parse(a.valid_from) - Date.parse(b.valid_from),
  );
  for (const fact of inOrder) {
    const free = lanes.find(
      ({ predicate, bars }) =>
        predicate === fact.predicate && endOf(bars.at(-1), Infinity) <= Date.parse(fact.valid_from),
    );
    if (free === undefined) lanes.push({ predicate: fact.predicate, bars: [fact] });
    else free.bars.push(fact);
  }
  return lanes;
}

function endOf(fact: Fact | undefined, open: number): number {
  const end = fact?.valid_to ?? null;
  return end === null ? open : Date.parse(end);
}

function spoken({ predicate, object, valid_from, valid_to }: Fact): string {
  return `${predicate} ${object}, ${dateOf(valid_from)} – ${valid_to === null ? texts.facts.open : dateOf(valid_to)}`;
}
