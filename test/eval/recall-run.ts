import { addMemory } from "../../src/core/memories/add-memories.ts";
import { FollowUps } from "../../src/core/memories/follow-ups.ts";
import type { MemoryPorts } from "../../src/core/memories/memory-ports.ts";
import { queryMemory, type MemoryHit } from "../../src/core/recall/query-memory.ts";
import type { Embedder } from "../../src/core/ports.ts";
import { createInMemoryStore } from "../support/in-memory-store.ts";
import { createMemoryWorld } from "../support/memory-world.ts";
import type { EverydaySet, SetQuestion } from "./everyday-set.ts";

export interface Asked {
  readonly question: SetQuestion;
  /** Names of what was found, best first, at most ten. */
  readonly found: readonly string[];
  readonly scores: readonly number[];
  /** How many leading hits answer, as the answer says. */
  readonly relevant: number;
  /** How many leading hits are worth reading, as the answer says. */
  readonly plausible: number;
  readonly hits: readonly MemoryHit[];
}

/** A store with the set's memories, which answers its questions as the daemon does. */
export async function openSet(set: EverydaySet, embedder: Embedder) {
  const clock = { now: () => set.now };
  const { store } = createInMemoryStore(clock, embedder.stamp);
  const followUps = new FollowUps(store, {
    onPending: () => {},
    isBusy: () => false,
    nextTurn: async () => {},
  });
  const ports: MemoryPorts = {
    ...createMemoryWorld().ports,
    store,
    clock,
    embedder,
    followUps,
  };
  const nameOf = new Map<string, string>();
  for (const { name, ...memory } of set.memories) {
    const { memory: added } = await addMemory(ports, memory);
    nameOf.set(added.id, name);
  }
  await followUps.flush();
  return {
    ports,
    /** By the ids of memories. */
    nameOf: nameOf as ReadonlyMap<string, string>,
    async ask(question: SetQuestion, explain = false): Promise<Asked> {
      const { hits, relevant, plausible } = await queryMemory(ports, {
        query: question.text,
        limit: 10,
        filter: { userId: question.userId },
        explain,
      });
      return {
        question,
        hits,
        relevant,
        plausible,
        found: hits.map(({ memory }) => nameOf.get(memory.id) ?? ""),
        scores: hits.map(({ score }) => score),
      };
    },
  };
}

export interface KindFigures {
  readonly n: number;
  readonly top1: number;
  readonly top3: number;
  readonly recall10: number;
  readonly all10: number;
  /** Mean share of the evidence that is first: 1 / evidence where the first answers. */
  readonly recall1: number;
  readonly stale: number;
}

const mean = <T>(list: readonly T[], value: (item: T) => number) =>
  list.length === 0 ? 0 : list.reduce((sum, item) => sum + value(item), 0) / list.length;

export function figuresOf(asked: readonly Asked[]): KindFigures {
  const rank = ({ question, found }: Asked) => found.findIndex((name) => question.expect.includes(name)) + 1;
  const share = ({ question, found }: Asked) =>
    found.filter((name) => question.expect.includes(name)).length / question.expect.length;
  return {
    n: asked.length,
    top1: mean(asked, (one) => (rank(one) === 1 ? 1 : 0)),
    top3: mean(asked, (one) => (rank(one) > 0 && rank(one) <= 3 ? 1 : 0)),
    recall10: mean(asked, (one) =>
      Math.min(1, (share(one) * one.question.expect.length) / Math.min(10, one.question.expect.length)),
    ),
    all10: mean(asked, (one) => (share(one) === 1 ? 1 : 0)),
    recall1: mean(asked, (one) => (rank(one) === 1 ? 1 / one.question.expect.length : 0)),
    stale: mean(asked, ({ question, found: [first = ""] }) => (question.stale.includes(first) ? 1 : 0)),
  };
}

/** The chance that an answerable question's right first answer scores above the best for one that nothing answers. */
export function toldApart(asked: readonly Asked[]): number {
  const [answerable, not] = [
    asked.filter(({ question }) => question.expect.length > 0),
    asked.filter(({ question }) => question.expect.length === 0),
  ];
  return mean(answerable, (a) =>
    mean(not, (u) => {
      const x = a.question.expect.includes(a.found[0] ?? "") ? (a.scores[0] ?? 0) : 0;
      const y = u.scores[0] ?? 0;
      return x > y ? 1 : x === y ? 0.5 : 0;
    }),
  );
}

/**
 * Of the answerable questions, the share whose first answer is right and counted as one; of the others by kind, the share
 * that nothing is said to answer.
 */
export function relevanceOf(asked: readonly Asked[]): Readonly<Record<string, number>> {
  const isAnswerable = ({ question }: Asked) => question.expect.length > 0;
  const others = asked.filter((one) => !isAnswerable(one));
  const kinds = [...new Set(others.map(({ question }) => question.kind))].sort();
  return {
    "right and relevant": mean(asked.filter(isAnswerable), ({ question, found: [first = ""], relevant }) =>
      relevant > 0 && question.expect.includes(first) ? 1 : 0,
    ),
    ...Object.fromEntries(
      kinds.map((kind) => [
        kind,
        mean(
          others.filter(({ question }) => question.kind === kind),
          ({ relevant }) => (relevant === 0 ? 1 : 0),
        ),
      ]),
    ),
  };
}
