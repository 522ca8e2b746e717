/** The facts of one subject over time: a row a predicate, a bar a fact. */
import type { Fact } from "../../client/client.ts";
import { dateOf } from "../format.ts";
import { texts } from "../texts.ts";

const WIDTH = 800;
/** For the predicates' names. */
const MARGIN = 140;
const ROW = 26;
const AXIS = 20;
/** Room that a letter takes. */
const LETTER = 7;

interface TimelineProps {
  readonly facts: readonly Fact[];
  /** Epoch milliseconds. */
  readonly first: number;
  readonly last: number;
  /** The moment asked about. */
  readonly mark: number;
}

export function Timeline({ facts, first, last, mark }: TimelineProps) {
  const lanes = lanesOf(facts);
  const height = lanes.length * ROW + AXIS;
  const span = Math.max(1, last - first);
  const x = (time: number) =>
    MARGIN + ((Math.min(Math.max(time, first), last) - first) / span) * (WIDTH - MARGIN - 8);
  return (
    <div class="timeline" tabIndex={0} role="group" aria-label={texts.facts.drawn}>
      <svg viewBox={`0 0 ${WIDTH} ${height}`} role="img" aria-label={facts.map(spoken).join("; ")}>
        {lanes.map(({ predicate, bars }, lane) => (
          <g key={lane} transform={`translate(0 ${lane * ROW})`}>
            <text x={0} y={17}>
              {cut(predicate, MARGIN)}
            </text>
            {bars.map((fact) => {
              const [from, to] = [x(Date.parse(fact.valid_from)), x(endOf(fact, last))];
              return (
                <g key={fact.id} class={fact.valid_to === null ? "open" : "ended"}>
                  <rect x={from} y={3} width={Math.max(3, to - from)} height={ROW - 6} rx={4}>
                    <title>{spoken(fact)}</title>
                  </rect>
                  <text x={from + 5} y={17}>
                    {cut(fact.object, to - from - 6)}
                  </text>
                </g>
              );
            })}
          </g>
        ))}
        <line x1={x(mark)} x2={x(mark)} y1={0} y2={height - AXIS} class="mark" />
        <text x={MARGIN} y={height - 4}>
          {dateOf(first)}
        </text>
        <text x={WIDTH - 8} y={height - 4} text-anchor="end">
          {dateOf(last)}
        </text>
      </svg>
    </div>
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

/** As much of a text as a width holds. */
function cut(text: string, width: number): string {
  const letters = Math.floor(width / LETTER);
  if (text.length <= letters) return text;
  return letters < 3 ? "" : `${text.slice(0, letters - 1)}…`;
}
