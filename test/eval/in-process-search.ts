import { memoryTerms } from "../../src/core/text/analyser.ts";
import { bm25Weight, termWeights } from "../../src/core/recall/bm25.ts";
import { INITIAL_SALIENCE } from "../../src/core/memory.ts";
import { containsPhrase, readQuestion, timedQuestion } from "../../src/core/recall/question.ts";
import { rank } from "../../src/core/recall/ranking.ts";
import type { RankingCandidate } from "../../src/core/recall/ranking-candidate.ts";
import { matchTokens } from "../../src/core/recall/gather-candidates.ts";
import { nearness } from "../../src/core/text/near-words.ts";
import { traitsOf } from "../../src/core/recall/traits.ts";
import type { DataSet, EvalMemory } from "./data-sets.ts";
import { WORD_FREQUENCIES } from "../support/memory-world.ts";
import type { Embedded } from "./embedding-cache.ts";
import type { EvalQuestion, Retriever, Scored } from "./metrics.ts";

/**
 * The ranking over every memory of a user, without store or daemon: what it would answer if candidates cost nothing.
 * Memories are indexed store-wide, as the service does.
 */
export interface InProcessSearch {
  /** Best first. `userId` instead of the question's own asks somebody else's memories. */
  search(question: EvalQuestion, options?: { readonly userId?: string }): Scored[];
  byWords: Retriever;
  byVectors: Retriever;
}

const PLACES_AROUND = [-2, -1, 1, 2];

export function inProcessSearch({ memories }: DataSet, embedded: Embedded): InProcessSearch {
  const indexed = memories.map((memory, ordinal) => ({ ...memory, ordinal, ...indexedText(memory) }));
  const frequencies = new Map<string, number>();
  for (const term of indexed.flatMap(({ counts }) => [...counts.keys()])) {
    frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
  }
  const weights = termWeights(
    {
      memories: indexed.length,
      totalLength: indexed.reduce((sum, { length }) => sum + length, 0),
      memoriesWith: (term) => frequencies.get(term) ?? 0,
      termsNear: (word) =>
        [...frequencies.keys()].flatMap((term) => {
          const weight = nearness(word, term);
          return weight > 0 ? [{ term, weight }] : [];
        }),
    },
    WORD_FREQUENCIES,
  );
  const sessions = groupBy(indexed, ({ sessionId, id }) => sessionId ?? id);
  const around = new Map(
    [...sessions.values()].flatMap((session) =>
      session.map(
        ({ id }, place) => [id, PLACES_AROUND.map((distance) => session[place + distance]?.ordinal)] as const,
      ),
    ),
  );
  const users = groupBy(indexed, ({ userId }) => userId);
  const prepared = new Map<string, ReturnType<typeof prepare>>();

  function prepare(question: EvalQuestion, userId: string) {
    const embedding = embedded.question(question.text);
    const now = Math.max(...memories.map(({ occurredAt }) => occurredAt));
    const read = readQuestion({
      text: question.text,
      topic: question.text,
      period: timedQuestion(question.text, now, "UTC")?.period,
      words: embedding.words,
      weights,
      profile: embedded.profile,
    });
    const asked = users.get(userId) ?? [];
    const matches = matchTokens(
      embedding.tokens.vectors,
      asked.map(({ content }) => embedded.document(content).tokens.vectors),
    );
    const candidates = asked.map((memory, i): RankingCandidate => {
      const { windows } = embedded.document(memory.content);
      return {
        ordinal: memory.ordinal,
        words: read.terms.reduce((sum, { term, weight }) => {
          const count = memory.counts.get(term);
          return count === undefined
            ? sum
            : sum + weight * bm25Weight(count, memory.length, weights.averageLength);
        }, 0),
        cosine: Math.max(...windows.map((window) => dot(window, embedding.vector))),
        matches: matches[i] ?? new Float32Array(),
        around: around.get(memory.id) ?? [],
        sessionId: memory.sessionId,
        traits: memory.traits,
        occurredAt: memory.occurredAt,
        salience: INITIAL_SALIENCE,
        quoted:
          read.phrases.filter((phrase) => containsPhrase(memory.content, phrase)).length /
          Math.max(1, read.phrases.length),
      };
    });
    return { read, candidates, now };
  }

  function preparedFor(question: EvalQuestion, userId = question.userId) {
    const key = `${question.id} ${userId}`;
    const known = prepared.get(key) ?? prepare(question, userId);
    prepared.set(key, known);
    return known;
  }

  const idOf = (ordinal: number) => memories[ordinal]?.id ?? "";
  const by =
    (value: (candidate: RankingCandidate) => number): Retriever =>
    async (question) =>
      preparedFor(question)
        .candidates.toSorted((a, b) => value(b) - value(a))
        .map(({ ordinal }) => idOf(ordinal));

  return {
    search: (question, { userId } = {}) => {
      const { read, candidates, now } = preparedFor(question, userId);
      return rank(read, candidates, { now }).map(({ ordinal, score }) => ({ id: idOf(ordinal), score }));
    },
    byWords: by(({ words }) => words),
    byVectors: by(({ cosine }) => cosine),
  };
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

function indexedText(memory: EvalMemory) {
  const terms = memoryTerms({ ...memory, tags: [], project: null, createdAt: memory.occurredAt });
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return { counts, length: terms.length, traits: traitsOf(memory.content) };
}

function dot(a: Float32Array | Int8Array, b: Float32Array | Int8Array, at = 0): number {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += (a[i] ?? 0) * (b[at + i] ?? 0);
  return sum;
}
