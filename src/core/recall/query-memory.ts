import { answeringFacts, type ScoredFact } from "../facts/answering-facts.ts";
import { presentOf } from "../facts/fact-store.ts";
import { gatherCandidates } from "./gather-candidates.ts";
import type { SeenMemory } from "../memory.ts";
import type { MemoryPorts } from "../memories/memory-ports.ts";
import type { MemoryFilter } from "../ports.ts";
import { termWeights } from "./bm25.ts";
import { currentFirst, LOOKED_AT, tenseOf } from "./currency.ts";
import { denialsFirst } from "./denial.ts";
import { type Found, happenedIn, withMemories, within } from "./period.ts";
import { readQuestion, timedQuestion, type TimedQuestion } from "./question.ts";
import { relevantCount } from "./relevance.ts";
import { rank } from "./ranking.ts";
import { snippetOf } from "./snippet.ts";

export interface QueryMemoryInput {
  readonly query: string;
  /** 1 … 200. */
  readonly limit: number;
  /** In which "yesterday" is meant; the service's own if absent. */
  readonly timeZone?: string;
  /** It is a text to find the like of, no question: times in it are words as any others. */
  readonly isText?: boolean;
  readonly filter: MemoryFilter;
  /** In [0, 1]. */
  readonly minScore?: number;
  /** Longest snippet wanted, in characters; absent: none. */
  readonly snippetChars?: number;
  readonly explain?: boolean;
  /** What counted then is answered: memories of later have no say. */
  readonly asOf?: number;
  /** Also answer facts. */
  readonly includeFacts?: boolean;
  /** What is found does not count as remembered: its salience stays, and no waypoint grows. */
  readonly leavesNoTrace?: boolean;
}

export interface MemoryHit {
  readonly memory: SeenMemory;
  /** In [0, 1]: near 1 for the same text, low for unrelated; comparable between questions. */
  readonly score: number;
  /** Ids walked over waypoints, the hit last; the hit alone when it was found directly. */
  readonly path: readonly string[];
  readonly snippet?: string;
  /** Each term's share of the score, by its name; they add up to `score`. */
  readonly explain?: Readonly<Record<string, number>>;
}

export interface QueryMemoryResult {
  /** Best first. */
  readonly hits: readonly MemoryHit[];
  /** How many leading hits answer the question; the others are merely the nearest. */
  readonly relevant: number;
  /** Of the same user and projects, those valid now (or at `asOf`), see `answeringFacts`. Only where they were asked for. */
  readonly facts?: readonly ScoredFact[];
}

/** Lower ones, which print as 0.00, are no matches unless a caller asks for them. */
const LEAST_SCORE = 0.005;

/**
 * Finds the memories that answer a question, best first.
 *
 * @throws {ServiceError} MODEL_UNAVAILABLE, RATE_LIMITED, NOT_READY.
 */
export async function queryMemory(ports: MemoryPorts, input: QueryMemoryInput): Promise<QueryMemoryResult> {
  const { store, facts, clock, followUps, timeZone } = ports;
  const { query, limit, minScore = LEAST_SCORE, snippetChars, explain = false, asOf } = input;
  const filter =
    asOf === undefined
      ? input.filter
      : { ...input.filter, to: Math.min(input.filter.to ?? Infinity, asOf + 1) };
  const now = asOf ?? clock.now();
  const asked =
    input.isText === true
      ? undefined
      : withMemories(store.catalogue, filter, timedQuestion(query, now, input.timeZone ?? timeZone));
  const { found, idOf, weightOfTerm, countRelevant, vector } =
    asked?.isTimeAlone === true
      ? happenedIn(store.catalogue, filter, asked.period, limit, now)
      : await findByMeaning(ports, query, filter, asked, now);
  const idsOf = (list: typeof found) => list.flatMap(({ ordinal }) => idOf.get(ordinal) ?? []);
  const memories = await store.readMemories(idsOf(found.slice(0, Math.max(limit, LOOKED_AT))));
  const ordered =
    asked?.isTimeAlone === true
      ? found
      : currentFirst(
          store,
          input.isText === true
            ? found
            : denialsFirst(query, found, (ordinal) => memories.get(idOf.get(ordinal) ?? "")?.content),
          memories,
          { question: query, tense: tenseOf(query), asOf, hasTime: asked !== undefined },
        );
  const ranked = ordered.filter(({ score }) => score >= minScore).slice(0, limit);
  // What fell behind made room for others.
  const missing = idsOf(ranked).filter((id) => !memories.has(id));
  for (const [id, memory] of await store.readMemories(missing)) memories.set(id, memory);
  const hits = ranked.flatMap(({ ordinal, score, shares, path }): MemoryHit[] => {
    const memory = memories.get(idOf.get(ordinal) ?? "");
    // Deleted while the question was answered.
    if (memory === undefined) return [];
    return [
      {
        memory:
          asOf === undefined
            ? memory
            : { ...memory, superseded: store.catalogue.supersession(ordinal, asOf) ?? null },
        score,
        path: path.flatMap((step) => idOf.get(step) ?? []),
        ...(snippetChars === undefined
          ? {}
          : { snippet: snippetOf(memory.content, snippetChars, weightOfTerm) }),
        ...(explain ? { explain: shares } : {}),
      },
    ];
  });
  const relevant = Math.min(hits.length, countRelevant(ranked));
  // What does not answer was not remembered.
  if (input.leavesNoTrace !== true)
    followUps.recalled(hits.slice(0, relevant).map(({ memory }) => memory.id));
  if (input.includeFacts !== true) return { hits, relevant };
  const { userId, projects } = filter;
  const answers = await answeringFacts(ports, {
    question: query,
    vector,
    at: asOf ?? presentOf(clock, facts.book.latestRecordedAt),
    minScore: input.minScore ?? 0,
    ...(userId === undefined ? {} : { userId }),
    ...(projects === undefined ? {} : { projects }),
  });
  return { hits, relevant, facts: answers };
}

/** Everything that the filter lets through, as far as it may answer, best first. */
async function findByMeaning(
  { store, embedder, frequencies }: MemoryPorts,
  query: string,
  filter: MemoryFilter,
  asked: TimedQuestion | undefined,
  now: number,
): Promise<Found> {
  const topic = asked?.topic ?? query;
  const embedding = await embedder.embedQuestion(topic);
  const { userId } = filter;
  const conditions = Object.keys(filter).length;
  const selection = conditions === 0 ? undefined : store.catalogue.select(filter);
  // Of the named user's memories, whatever else filters: else a score would tell which words somebody else wrote.
  const ofUser =
    userId === undefined ? undefined : conditions === 1 ? selection : store.catalogue.select({ userId });
  const question = readQuestion({
    text: query,
    topic,
    period: asked?.period,
    words: embedding.words,
    weights: termWeights(store.termStatistics(ofUser), frequencies),
    profile: embedder.profile,
  });
  const inPeriod = asked === undefined ? undefined : store.catalogue.select(within(filter, asked.period));
  const { candidates, edges } = await gatherCandidates(store, question, embedding, selection, inPeriod);
  // Those that pass the filter; neither an answer nor a path shows the others.
  const idOf = new Map(
    candidates.filter(({ isSelected }) => isSelected).map(({ ordinal, id }) => [ordinal, id]),
  );
  const found = rank(question, candidates, { now, edges }).filter(({ ordinal }) => idOf.has(ordinal));
  return {
    found,
    countRelevant: (hits) => relevantCount(question, hits, found, candidates, embedder.profile),
    idOf,
    weightOfTerm: new Map(question.terms.map(({ term, weight }) => [term, weight])),
    vector: embedding.vector,
  };
}
