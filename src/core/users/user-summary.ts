import type { Fact } from "../facts/fact.ts";
import type { Highlight, Highlights } from "./choose-highlights.ts";
import { figuresOf, type UserFigures, type UserState } from "./user-state.ts";

export interface UserSummary extends UserFigures {
  readonly userId: string;
  /** The highlights and what is true now as one text, or what a language model made of them. */
  readonly text: string;
  readonly method: "extractive" | "language-model";
  readonly highlights: readonly Pick<Highlight, "memoryId" | "text">[];
  readonly keyPhrases: readonly string[];
  /** Valid now; at most 20. */
  readonly facts: readonly Fact[];
  readonly factCount: number;
  readonly updatedAt: number;
  /** Memories or facts changed since the sentences were chosen; figures and facts are always as of now. */
  readonly isStale: boolean;
}

/** What was chosen from a user's memories, and what it rests on. */
export interface MadeSummary extends Highlights {
  /** Of a language model, with the facts it was told. */
  readonly written: { readonly text: string; readonly facts: readonly Fact[] } | undefined;
  /** Of the state it was made from. */
  readonly mark: string;
  /** Memories there were. */
  readonly memories: number;
  readonly madeAt: number;
}

/** What is answered now of a summary made before. */
export function summaryNow(userId: string, made: MadeSummary, state: UserState): UserSummary {
  const { highlights, phrases, written } = made;
  return {
    userId,
    text: written?.text ?? textOf(highlights, state.facts),
    method: written === undefined ? "extractive" : "language-model",
    highlights: highlights.map(({ memoryId, text }) => ({ memoryId, text })),
    keyPhrases: phrases.map(({ text }) => text),
    facts: state.facts,
    factCount: state.factCount,
    ...figuresOf(state),
    updatedAt: made.madeAt,
    isStale: made.mark !== state.mark,
  };
}

const SPEAKS = /^[^.!?\n]{1,41}: /u;

/** Sentences in a row, or a line each where people speak; and what is true now as a paragraph of its own. */
function textOf(highlights: readonly Highlight[], facts: readonly Fact[]): string {
  const isTalk = highlights.some(({ text }) => SPEAKS.test(text));
  const sentences = highlights.map(({ text }) => text).join(isTalk ? "\n" : " ");
  const statements = facts.map(({ subject, predicate, object }) => `${subject} ${predicate} ${object}`);
  const known = statements.length === 0 ? "" : `Now: ${statements.join("; ")}.`;
  return [sentences, known].filter((part) => part !== "").join("\n\n");
}
