import { readFileSync } from "node:fs";
import type { EvalQuestion } from "./metrics.ts";
import { type Conversation, UNANSWERABLE } from "./locomo.ts";

/** A memory to add before the questions are asked. */
export interface EvalMemory {
  /** Unique in the data set. */
  readonly id: string;
  readonly content: string;
  readonly userId: string;
  readonly sessionId: string | null;
  readonly occurredAt: number;
}

export interface DataSet {
  readonly name: string;
  /** In the order of adding. */
  readonly memories: readonly EvalMemory[];
  readonly questions: readonly EvalQuestion[];
  /** Questions that the memories do not answer; their evidence is empty. */
  readonly unanswerable: readonly EvalQuestion[];
}

/** Conversations in the layout of `locomo-dev.json`: a user a conversation, a memory a turn. */
export function readLocomo(path: string): DataSet {
  const conversations = JSON.parse(readFileSync(path, "utf8")) as Conversation[];
  const questions = conversations.flatMap(({ id, questions }) =>
    questions.map((question) => ({
      id: question.id,
      text: question.q,
      userId: id,
      category: String(question.category),
      evidence: question.evidence.map((turn) => `${id}/${turn}`),
    })),
  );
  const isAnswerable = ({ category }: EvalQuestion) => Number(category) !== UNANSWERABLE;
  return {
    name: "locomo",
    memories: conversations.flatMap(({ id, turns }) =>
      turns.map((turn) => ({
        id: `${id}/${turn.id}`,
        content: turn.text,
        userId: id,
        sessionId: `${id}/${turn.session}`,
        occurredAt: Date.parse(`${turn.date}Z`),
      })),
    ),
    questions: questions.filter(isAnswerable),
    unanswerable: questions.filter((question) => !isAnswerable(question)),
  };
}

/**
 * The same conversations as long memories: runs of `count` turns of a session are one memory, which is evidence
 * where any of its turns is. What works only on short chat does not work here.
 */
export function joinTurns(set: DataSet, count: number): DataSet {
  const memories: EvalMemory[] = [];
  const memoryOf = new Map<string, string>();
  let size = 0;
  for (const turn of set.memories) {
    const last = memories.at(-1);
    if (last !== undefined && last.sessionId === turn.sessionId && size < count) {
      memories[memories.length - 1] = { ...last, content: `${last.content}\n${turn.content}` };
      memoryOf.set(turn.id, last.id);
      size += 1;
    } else {
      memories.push(turn);
      memoryOf.set(turn.id, turn.id);
      size = 1;
    }
  }
  return {
    name: `${set.name}, ${count} turns a memory`,
    memories,
    questions: set.questions.map((question) => ({
      ...question,
      evidence: [...new Set(question.evidence.map((id) => memoryOf.get(id) ?? id))],
    })),
    unanswerable: set.unanswerable,
  };
}
