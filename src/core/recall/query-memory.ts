import type { Fact } from "../facts/fact.ts";
import { gatherCandidates } from "./gather-candidates.ts";
import type { SeenMemory } from "../memory.ts";
import type { MemoryPorts } from "../memories/memory-ports.ts";
import { namedFacts } from "../facts/named-facts.ts";
import type { MemoryFilter } from "../ports.ts";
import { readQuestion } from "./question.ts";
import { rank } from "./ranking.ts";
import { snippetOf } from "./snippet.ts";

export interface QueryMemoryInput {
  readonly query: string;
  /** 1 … 200. */
  readonly limit: number;
  readonly filter: MemoryFilter;
  /** In [0, 1]. */
  readonly minScore?: number;
  /** Longest snippet wanted, in characters; absent: none. */
  readonly snippetChars?: number;
  readonly explain?: boolean;
  /** Also answer the facts that the question names. */
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
  /**
   * Of the same user and projects: those valid now whose subject or object the question names, at most 100.
   * Only where they were asked for.
   */
  readonly facts?: readonly Fact[];
}

const MAX_FACTS = 100;

/**
 * Finds the memories that answer a question, best first.
 *
 * @throws {ServiceError} MODEL_UNAVAILABLE, RATE_LIMITED, NOT_READY.
 */
export async function queryMemory(
  { store, facts, embedder, clock, followUps }: MemoryPorts,
  input: QueryMemoryInput,
): Promise<QueryMemoryResult> {
  const { query, limit, filter, minScore = 0, snippetChars, explain = false } = input;
  const embedding = await embedder.embedQuestion(query);
  const now = clock.now();
  const question = readQuestion({
    text: query,
    now,
    words: embedding.words,
    inverseDocumentFrequency: (term) => store.inverseDocumentFrequency(term),
  });
  const selection = Object.keys(filter).length === 0 ? undefined : store.catalogue.select(filter);
  const { candidates, edges } = await gatherCandidates(store, question, embedding, selection);
  // Those that pass the filter; neither an answer nor a path shows the others.
  const idOf = new Map(
    candidates.filter(({ isSelected }) => isSelected).map(({ ordinal, id }) => [ordinal, id]),
  );
  const ranked = rank(question, candidates, { now, edges })
    .filter(({ ordinal, score }) => score >= minScore && idOf.has(ordinal))
    .slice(0, limit);
  const memories = await store.readMemories(ranked.flatMap(({ ordinal }) => idOf.get(ordinal) ?? []));
  const hits = ranked.flatMap(({ ordinal, score, shares, path }): MemoryHit[] => {
    const memory = memories.get(idOf.get(ordinal) ?? "");
    // Deleted while the question was answered.
    if (memory === undefined) return [];
    return [
      {
        memory,
        score,
        path: path.flatMap((step) => idOf.get(step) ?? []),
        ...(snippetChars === undefined
          ? {}
          : { snippet: snippetOf(memory.content, snippetChars, question.termWeights) }),
        ...(explain ? { explain: shares } : {}),
      },
    ];
  });
  if (input.leavesNoTrace !== true) followUps.recalled(hits.map(({ memory }) => memory.id));
  if (input.includeFacts !== true) return { hits };
  const { userId, projects } = filter;
  const named = namedFacts(
    { facts, clock },
    {
      question: query,
      limit: MAX_FACTS,
      ...(userId === undefined ? {} : { userId }),
      ...(projects === undefined ? {} : { projects }),
    },
  );
  return { hits, facts: named.facts };
}
