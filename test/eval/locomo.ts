import { readFileSync } from "node:fs";

/** A conversation in the layout of LoCoMo (CC BY-NC 4.0: for evaluation only, never shipped). */
export interface Conversation {
  readonly id: string;
  readonly turns: readonly {
    readonly id: string;
    readonly text: string;
    readonly session: string;
    readonly date: string;
  }[];
  readonly questions: readonly {
    readonly id: string;
    readonly q: string;
    /** Ids of the turns that the answer rests on. */
    readonly evidence: readonly string[];
    readonly category: number | string;
  }[];
}

/** LoCoMo's category of questions that the conversation does not answer. */
export const UNANSWERABLE = 5;

/** The conversations of a file, without the questions that nothing answers (category 5, or no evidence). */
export function readLocomo(path: string): Conversation[] {
  const conversations = JSON.parse(readFileSync(path, "utf8")) as Conversation[];
  return conversations.map((conversation) => ({
    ...conversation,
    questions: conversation.questions.filter((q) => q.category !== UNANSWERABLE && q.evidence.length > 0),
  }));
}

/** Mean recall at 10, share of questions with all evidence among the first 10, mean recall at 1. */
export class RecallSum {
  #questions = 0;
  #at10 = 0;
  #all10 = 0;
  #at1 = 0;

  add(ranked: readonly string[], evidence: readonly string[]) {
    const wanted = new Set(evidence);
    const share = (k: number) => ranked.slice(0, k).filter((id) => wanted.has(id)).length / wanted.size;
    this.#questions += 1;
    this.#at10 += share(10);
    this.#all10 += share(10) === 1 ? 1 : 0;
    this.#at1 += share(1);
  }

  toString(): string {
    const mean = (sum: number) => (sum / this.#questions).toFixed(3);
    return `R@10 ${mean(this.#at10)}  all@10 ${mean(this.#all10)}  R@1 ${mean(this.#at1)}  (${this.#questions} questions)`;
  }
}
