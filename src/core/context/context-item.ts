import type { SeenMemory } from "../memory.ts";
import { sentencesOf, sentenceWorth } from "../text/sentences.ts";
import { type Statement, statementKind } from "../text/statement-words.ts";
import { oneLine, shortened } from "../text/text-size.ts";

/** In the order in which a context tells them. */
export const CONTEXT_KINDS = [
  "preference",
  "correction",
  "decision",
  "fact",
  "summary",
  "done",
  "open",
] as const;
export type ContextKind = (typeof CONTEXT_KINDS)[number];

/** One thing that a context may tell. */
export interface ContextItem {
  readonly kind: ContextKind;
  /** Id of the memory, or of the fact. */
  readonly id: string;
  /** One line. */
  readonly text: string;
  /** When it happened, or since when it is true. */
  readonly at: number;
  readonly project: string | null;
}

/** The kind of a text, as judged; `sureness` in (0, 1]. */
type Judged = { readonly kind: ContextKind; readonly text: string; readonly sureness: number };

/** Length of an item that is no summary. */
export const MAX_CHARS = 260;
const MAX_SUMMARY_CHARS = 480;
const MAX_SENTENCES = 24;
/** The sureness of a note that no rule recognises, if it needs nothing around it: somebody thought it worth keeping. */
const UNKNOWN = 0.5;
/** The share of its sureness that a statement keeps if it cannot stand alone. */
const SCRAP = 0.5;
const SPEAKER = /^[^\S\n]{0,8}[^:\n]{1,40}:\s/u;
/** A turn of a conversation says much in passing. */
const MIN_OF_TURN = 0.75;
const OF_TURN = 0.7;

/** The beginning of the note that an agent writes at the end of its work. */
const SUMMARY = /^session summary\b/i;

/** The kinds that tags say, as agents give them. */
export const KIND_OF_TAG: ReadonlyMap<string, ContextKind> = new Map([
  ["preference", "preference"],
  ["preferences", "preference"],
  ["correction", "correction"],
  ["corrections", "correction"],
  ["decision", "decision"],
  ["decisions", "decision"],
  ["todo", "open"],
  ["todos", "open"],
]);

/**
 * The statement of a memory that is worth telling at the start, and its kind; undefined for questions, turns of a conversation
 * that decide nothing, and empty texts. A kind in its metadata, as captured memories have it, wins over the rules, and so does a tag.
 */
export function judge(
  memory: SeenMemory,
  { asks, isTurn }: { asks: boolean; isTurn: boolean },
): Judged | undefined {
  const told = memory.metadata["kind"];
  const whole = oneLine(memory.content);
  if (whole === "") return undefined;
  const [tagged] = memory.tags.flatMap((tag) => KIND_OF_TAG.get(tag) ?? []);
  const kind = CONTEXT_KINDS.find((name) => name === told) ?? tagged;
  if (kind !== undefined) return { kind, sureness: 1, text: shortened(whole, limitOf(kind)) };
  if (SUMMARY.test(whole)) return { kind: "summary", sureness: 1, text: shortened(whole, MAX_SUMMARY_CHARS) };
  const speaker = isTurn ? (SPEAKER.exec(memory.content)?.[0] ?? "") : "";
  const sentences = memory.content
    .slice(speaker.length)
    .split(/\n+/)
    .flatMap((line) => sentencesOf(line))
    .slice(0, MAX_SENTENCES)
    .map((sentence) => ({ text: oneLine(sentence), statement: statementKind(sentence) }));
  const best = sentences.reduce<Statement | undefined>(
    (found, { statement }) => ((statement?.score ?? 0) > (found?.score ?? 0) ? statement : found),
    undefined,
  );
  // A long one is told by its beginning, which says what it is about.
  const beginning = shortened(whole, MAX_CHARS);
  const ownWorth =
    whole === beginning
      ? sentenceWorth(whole)
      : Math.max(...sentences.map((sentence) => sentenceWorth(sentence.text)));
  if (best === undefined)
    return asks || isTurn ? undefined : { kind: "fact", sureness: UNKNOWN * ownWorth, text: beginning };
  if (isTurn) {
    // Its sentences are read alone, each worth what it says without those around it.
    const worthOf = (sentence: (typeof sentences)[number]) =>
      (sentence.statement?.score ?? 0) * sentenceWorth(sentence.text);
    const { text, statement } = sentences.reduce((a, b) => (worthOf(b) > worthOf(a) ? b : a));
    if (statement === undefined || statement.score < MIN_OF_TURN) return undefined;
    const said = shortened(`${oneLine(speaker)} ${text}`, MAX_CHARS);
    return { kind: statement.kind, sureness: OF_TURN * worthOf({ text, statement }), text: said };
  }
  if (best.kind === "preference" && isPlainStatement(whole))
    return { kind: "fact", sureness: best.score, text: beginning };
  if (best.kind === "fact")
    return { kind: "fact", sureness: best.score * (SCRAP + (1 - SCRAP) * ownWorth), text: beginning };
  const ofKind = sentences.filter(({ statement }) => statement?.kind === best.kind).map(({ text }) => text);
  const text = whole === beginning ? whole : shortened(ofKind.join(" "), MAX_CHARS);
  // Wishes and decisions are told in few words.
  const isWish = best.kind === "preference" || best.kind === "decision" || best.kind === "correction";
  const worth = isWish ? 1 : SCRAP + (1 - SCRAP) * sentenceWorth(text);
  return { kind: best.kind, sureness: best.score * worth, text };
}

/** Wishes, orders and habits of a person. */
const WISH =
  /\b(?:i|me|my|you|your|we|us|user|please|always|never|should|must|shall|prefers?|likes?|wants?|hates?|no longer|don't|instead)\b|^(?:use|keep|do|no|only|avoid|stop|when)\b/i;
const STATES =
  /^(?:the|our|a|an|every|each) |^[\p{L}\d_-]{2,40}(?: [\p{L}\d_-]{1,40}){0,4} (?:is|are|was|were|has|have)\b/iu;

/** "Timestamps are in UTC in all tables" says how things are, in the words of a rule. */
const isPlainStatement = (text: string): boolean => STATES.test(text) && !WISH.test(text);

const limitOf = (kind: ContextKind): number => (kind === "summary" ? MAX_SUMMARY_CHARS : MAX_CHARS);

/** Long enough for what a partly outdated note says besides. */
const MAX_BEFORE_CHARS = 200;

/** A text with what it said before, or where that is a guess, with an earlier one that may still hold. */
export const withBefore = (text: string, earlier: string, isGuess = false): string =>
  `${text} (${isGuess ? "earlier" : "before"}: ${shortened(earlier, MAX_BEFORE_CHARS)})`;
