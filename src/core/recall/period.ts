import type { Catalogue, MemoryFilter, Ordinal } from "../ports.ts";
import { fit, type Period } from "../text/time-periods.ts";
import type { TimedQuestion } from "./question.ts";
import type { RankedHit } from "./ranking.ts";

/** The filter, and that it happened then. */
export function within(filter: MemoryFilter, { from, to }: Period): MemoryFilter {
  return {
    ...filter,
    from: Math.max(filter.from ?? -Infinity, from),
    to: Math.min(filter.to ?? Infinity, to),
  };
}

/**
 * The question where any memory that the filter lets through happened then; undefined where none did. "What did grandpa
 * do in 1956?" means a year of which notes tell, not one in which they were written.
 */
export function withMemories(
  catalogue: Catalogue,
  filter: MemoryFilter,
  question: TimedQuestion | undefined,
): TimedQuestion | undefined {
  if (question === undefined) return undefined;
  const { or } = question.period;
  const isThere = (period: Period) => catalogue.select(within(filter, period)).size > 0;
  if (isThere(question.period)) return question;
  return or !== undefined && isThere(or) ? { ...question, period: or } : undefined;
}

/** The score where only a time is asked for, and it is met. */
const IN_PERIOD = 0.9;
/** Later memories are meant a little more than earlier ones. */
const NEWER = 0.05;
const HALF_LIFE_MS = 30 * 86_400_000;

/** The memories that may answer a question. */
export interface Found {
  /** Best first. */
  readonly found: readonly RankedHit[];
  /** Ordinals of memories that pass the filter; neither an answer nor a path shows others. */
  readonly idOf: ReadonlyMap<Ordinal, string>;
  /** The weight of each of the question's terms. */
  readonly weightOfTerm: ReadonlyMap<string, number>;
  /** Undefined where everything found answers. */
  readonly sureness?: {
    /** See `answerOdds`. */
    readonly oddsOf: (hit: RankedHit) => number;
    /** The best of all the user's memories, selected or not. */
    readonly best: RankedHit;
    /** How many the user has, see `answeringCount`. */
    readonly memories: number;
  };
  /** How well a memory has each token of the question, and what each token weighs; see `RankingCandidate.matches`. */
  readonly tokens?: {
    readonly weights: Float32Array;
    readonly of: ReadonlyMap<Ordinal, Float32Array>;
  };
  /** The question's vector, where it was embedded. */
  readonly vector?: Float32Array;
}

/** Memories of a period, newest first, at most `limit`; a score tells how well it fits. */
export function happenedIn(
  catalogue: Catalogue,
  filter: MemoryFilter,
  period: Period,
  limit: number,
  now: number,
): Found {
  const entries = catalogue
    .select(within(filter, period))
    .list()
    .flatMap((ordinal) => catalogue.at(ordinal) ?? [])
    .sort((a, b) => b.occurredAt - a.occurredAt || b.ordinal - a.ordinal)
    .slice(0, limit);
  return {
    found: entries.map(({ ordinal, occurredAt }) => {
      const age = Math.max(0, now - occurredAt);
      const score = IN_PERIOD * fit(period, occurredAt) + NEWER * 2 ** (-age / HALF_LIFE_MS);
      return { ordinal, score, shares: { time: score }, path: [ordinal] };
    }),
    idOf: new Map(entries.map(({ ordinal, id }) => [ordinal, id])),
    weightOfTerm: new Map(),
  };
}
