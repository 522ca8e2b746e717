import { notFound } from "../errors.ts";
import type { Fact } from "../facts/fact.ts";
import { presentOf } from "../facts/fact-store.ts";
import { findFacts } from "../facts/find-facts.ts";
import { visitFacts } from "../facts/visit-facts.ts";
import type { MemoryPorts } from "../memories/memory-ports.ts";
import { type Sector, SECTORS } from "../memory.ts";
import type { CatalogueEntry } from "../ports.ts";
import type { Highlight, Highlights } from "./choose-highlights.ts";

/** A user's records at a moment, without texts. */
export interface UserState {
  /** Oldest first. */
  readonly entries: readonly CatalogueEntry[];
  /** Facts of all times, without replaced ones. */
  readonly factCount: number;
  /** Facts valid now, in list order; at most 20. */
  readonly facts: readonly Fact[];
  /** Differs after any change of a memory or fact of the user. */
  readonly mark: string;
}

interface UserFigures {
  readonly memories: number;
  /** By primary sector. */
  readonly sectors: Readonly<Record<Sector, number>>;
  /** The most frequent ones, at most 10. */
  readonly topTags: readonly { readonly tag: string; readonly count: number }[];
  /** When the earliest and the latest memory happened; null without a memory. */
  readonly firstMemoryAt: number | null;
  readonly lastMemoryAt: number | null;
}

type StatePorts = Pick<MemoryPorts, "store" | "facts" | "clock">;

const MAX_FACTS = 20;
const MAX_TAGS = 10;

/** @throws {ServiceError} NOT_FOUND for a user with nothing stored. */
export function stateOf({ store, facts, clock }: StatePorts, userId: string): UserState {
  const { catalogue } = store;
  const ordinals = catalogue.select({ userId }).list();
  const entries = ordinals.flatMap((ordinal) => catalogue.at(ordinal) ?? []);
  let factCount = 0;
  let factsUpdatedAt = 0;
  visitFacts(facts.book, { userId }, (fact) => {
    factCount += 1;
    factsUpdatedAt = Math.max(factsUpdatedAt, fact.updatedAt);
  });
  if (entries.length === 0 && factCount === 0 && catalogue.documents.documentsOf(userId).length === 0)
    throw notFound("There is nothing stored of a user with this id.");
  const updatedAt = entries.reduce((latest, entry) => Math.max(latest, entry.updatedAt), 0);
  const at = presentOf(clock, facts.book.latestRecordedAt);
  return {
    entries,
    factCount,
    facts: findFacts({ facts, clock }, { userId, at, limit: MAX_FACTS }).facts,
    mark: [entries.length, entries.at(-1)?.id, updatedAt, factCount, factsUpdatedAt].join(" "),
  };
}

function figuresOf({ entries }: Pick<UserState, "entries">): UserFigures {
  const sectors = Object.fromEntries(SECTORS.map((sector) => [sector, 0])) as Record<Sector, number>;
  const tags = new Map<string, number>();
  let firstMemoryAt: number | null = null;
  let lastMemoryAt: number | null = null;
  for (const { primarySector, occurredAt, tags: own } of entries) {
    sectors[primarySector] += 1;
    for (const tag of new Set(own)) tags.set(tag, (tags.get(tag) ?? 0) + 1);
    firstMemoryAt = Math.min(firstMemoryAt ?? occurredAt, occurredAt);
    lastMemoryAt = Math.max(lastMemoryAt ?? occurredAt, occurredAt);
  }
  const topTags = Array.from(tags, ([tag, count]) => ({ tag, count }))
    .sort((a, b) => b.count - a.count || (a.tag < b.tag ? -1 : 1))
    .slice(0, MAX_TAGS);
  return { memories: entries.length, sectors, topTags, firstMemoryAt, lastMemoryAt };
}

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

/** A made summary, and the state it was made from. */
export interface MadeSummary extends Highlights {
  /** A language model's text, with the facts it was given. */
  readonly written: { readonly text: string; readonly facts: readonly Fact[] } | undefined;
  /** `UserState.mark` of that state. */
  readonly mark: string;
  /** Number of memories in that state. */
  readonly memories: number;
  readonly madeAt: number;
}

/** The answer for a summary that was made before. */
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

/** Sentences in a row, or one per line in conversations; then the current facts as a paragraph. */
function textOf(highlights: readonly Highlight[], facts: readonly Fact[]): string {
  const isTalk = highlights.some(({ text }) => SPEAKS.test(text));
  const sentences = highlights.map(({ text }) => text).join(isTalk ? "\n" : " ");
  const statements = facts.map(({ subject, predicate, object }) => `${subject} ${predicate} ${object}`);
  const known = statements.length === 0 ? "" : `Now: ${statements.join("; ")}.`;
  return [sentences, known].filter((part) => part !== "").join("\n\n");
}

/** Writes a summary in words of its own: a language model that the operator chose. */
export interface SummaryWriter {
  /** The text; undefined whatever went wrong. Never rejects. */
  write(material: Highlights & { readonly facts: readonly Fact[] }): Promise<string | undefined>;
}
