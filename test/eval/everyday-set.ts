import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { AddMemoryInput } from "../../src/core/memories/memory-ports.ts";
import { type Conversation, UNANSWERABLE } from "./locomo.ts";

/** A memory with the name that questions expect it by. */
export interface SetMemory extends AddMemoryInput {
  readonly name: string;
  readonly userId: string;
}

export interface SetQuestion {
  readonly kind: string;
  readonly userId: string;
  readonly text: string;
  /** Names of the memories that answer it; none: nothing does. */
  readonly expect: readonly string[];
  /** Names of memories that do not hold any more. */
  readonly stale: readonly string[];
}

export interface EverydaySet {
  readonly name: string;
  /** In the order of adding. */
  readonly memories: readonly SetMemory[];
  readonly questions: readonly SetQuestion[];
  /** The moment at which the questions are asked. */
  readonly now: number;
}

interface Note {
  readonly id: string;
  readonly user: string;
  readonly content: string;
  readonly on?: string;
  readonly days_ago?: number;
  readonly last_week_day?: number;
  readonly project?: string;
  readonly tags?: readonly string[];
  readonly session?: string;
}

interface Question {
  readonly kind: string;
  readonly user: string;
  readonly query: string;
  readonly expect?: readonly string[];
  readonly window?: string;
  readonly stale?: readonly string[];
}

const DAY_MS = 86_400_000;

/**
 * Notes and questions of a folder (`notes.json`, `questions.json`), dated relative to `now`: a note is written `on` a
 * day, `days_ago`, or on a day of last week; a question expects the notes it names and all those of its `window`.
 */
export function readEverydaySet(folder: string, name: string, today = Date.now()): EverydaySet {
  const read = (file: string): unknown => JSON.parse(readFileSync(join(folder, file), "utf8"));
  const notes = read("notes.json") as Note[];
  const ten = new Date(today).setUTCHours(10, 0, 0, 0);
  const monday = ten - (((new Date(ten).getUTCDay() + 6) % 7) + 7) * DAY_MS;
  const whenOf = ({ on, days_ago = 0, last_week_day }: Note) => {
    if (on !== undefined) return Date.parse(`${on}T10:00:00Z`);
    return last_week_day === undefined ? ten - days_ago * DAY_MS : monday + last_week_day * DAY_MS;
  };
  const isInside = (window: string, time: number) => {
    const midnight = Math.floor(monday / DAY_MS) * DAY_MS;
    const [from = 0, to = 0] =
      window === "last-week"
        ? [midnight, midnight + 7 * DAY_MS]
        : window.startsWith("days:")
          ? [ten - Number(window.slice(5)) * DAY_MS, ten + DAY_MS]
          : window.split("/").map((day) => Date.parse(`${day}T00:00:00Z`));
    return time >= from && time < to;
  };
  return {
    name,
    now: today,
    memories: notes
      .map((note) => ({ note, when: whenOf(note) }))
      .sort((a, b) => a.when - b.when)
      .map(({ note, when }) => ({
        name: note.id,
        content: note.content,
        userId: note.user,
        tags: note.tags ?? [],
        occurredAt: when,
        ...(note.project === undefined ? {} : { project: note.project }),
        ...(note.session === undefined ? {} : { sessionId: note.session }),
      })),
    questions: (read("questions.json") as Question[]).map(
      ({ kind, user, query, expect = [], window, stale = [] }) => ({
        kind,
        userId: user,
        text: query,
        stale,
        expect: [
          ...new Set([
            ...expect,
            ...notes
              .filter((note) => window !== undefined && note.user === user && isInside(window, whenOf(note)))
              .map(({ id }) => id),
          ]),
        ],
      }),
    ),
  };
}

/**
 * Pairs of notes, months apart, from a text file, each of a user of its own: a line is `earlier | later | question | L`, where the
 * later note takes the place of the earlier one, or `E`, where it tells another thing of the same subject.
 */
export function readPairs(file: string, name: string, today = Date.now()): EverydaySet {
  const pairs = readFileSync(file, "utf8")
    .trim()
    .split(/\r?\n/)
    .map((line, i) => ({ userId: `pair ${i}`, parts: line.split(" | ") }));
  return {
    name,
    now: today,
    memories: pairs.flatMap(({ userId, parts: [earlier = "", later = ""] }) => [
      { name: `${userId} E`, userId, content: earlier, tags: [], occurredAt: today - 200 * DAY_MS },
      { name: `${userId} L`, userId, content: later, tags: [], occurredAt: today - 110 * DAY_MS },
    ]),
    questions: pairs.map(({ userId, parts: [, , text = "", answer = ""] }) => ({
      kind: answer === "L" ? "replaced" : "another thing",
      userId,
      text,
      expect: [`${userId} ${answer}`],
      stale: answer === "L" ? [`${userId} E`] : [],
    })),
  };
}

interface LaterNote {
  readonly earlier: string;
  readonly later: string;
  /** What holds since the later one: that alone, the rest of the earlier one too, or both. */
  readonly holds: "later" | "part" | "both";
  readonly ask: readonly (readonly [text: string, first: "earlier" | "later" | "both"])[];
}

/** Pairs in one user's notes. */
const PAIRS_OF_A_USER = 60;

/** Pairs of notes, a line each in JSON: the later one replaces the earlier one, changes a part of it, or tells another thing. */
export function readLaterNotes(file: string, name: string, today = Date.now()): EverydaySet {
  const pairs = readFileSync(file, "utf8").trim().split(/\r?\n/);
  const memories: SetMemory[] = [];
  const questions: SetQuestion[] = [];
  for (const [i, line] of pairs.entries()) {
    const { earlier, later, holds, ask } = JSON.parse(line) as LaterNote;
    const userId = `user ${Math.floor(i / PAIRS_OF_A_USER)}`;
    const [before, after] = [`${i} earlier`, `${i} later`];
    const daysAgo = 60 + ((i * 37) % 400);
    const days = 5 + ((i * 53) % 50);
    const at = (ago: number) => ({ userId, tags: [], occurredAt: today - ago * DAY_MS });
    memories.push({ name: before, content: earlier, ...at(daysAgo) });
    memories.push({ name: after, content: later, ...at(daysAgo - days) });
    for (const [text, first] of ask) {
      const expect = first === "both" ? [before, after] : [`${i} ${first}`];
      const kind = first === "both" ? "either" : `${first} of ${holds}`;
      questions.push({ kind, userId, text, expect, stale: kind === "later of later" ? [before] : [] });
    }
  }
  memories.sort((a, b) => (a.occurredAt ?? 0) - (b.occurredAt ?? 0));
  return { name, now: today, memories, questions };
}

/**
 * Notes of people with a question in other words each, from a text file: `# person`; a line a note, `note | tag | question in
 * other words | question in the note's words`, the last one or none; `? question` that is near a note and `! question` that is far
 * from all, which nothing answers. Notes are a week apart.
 */
export function readParaphrases(file: string, name: string, today = Date.now()): EverydaySet {
  const memories: SetMemory[] = [];
  const questions: SetQuestion[] = [];
  let userId = "";
  const ask = (kind: string, text: string, expect: readonly string[]) =>
    questions.push({ kind, userId, text, expect, stale: [] });
  for (const line of readFileSync(file, "utf8").split("\n").filter(Boolean)) {
    const rest = line.slice(2);
    if (line.startsWith("# ")) userId = rest;
    else if (line.startsWith("? ")) ask("unanswerable-near", rest, []);
    else if (line.startsWith("! ")) ask("unanswerable-far", rest, []);
    else {
      const [content = "", tag = "", otherWords = "", sameWords = ""] = line
        .split("|")
        .map((part) => part.trim());
      const own = memories.filter((memory) => memory.userId === userId).length;
      const occurredAt = today - (400 - 7 * own) * DAY_MS;
      memories.push({ name: `${userId} ${own}`, content, userId, tags: tag === "" ? [] : [tag], occurredAt });
      ask("paraphrase", otherWords, [`${userId} ${own}`]);
      if (sameWords !== "") ask("direct", sameWords, [`${userId} ${own}`]);
    }
  }
  memories.sort((a, b) => Number(a.occurredAt) - Number(b.occurredAt));
  return { name, now: today, memories, questions };
}

/** Conversations in the layout of LoCoMo: a user a conversation, a memory a turn; asked right after the last turn. */
export function readConversations(file: string, name: string): EverydaySet {
  const conversations = JSON.parse(readFileSync(file, "utf8")) as Conversation[];
  const timeOf = (date: string) => Date.parse(date.includes("T") ? `${date}Z` : `${date}T10:00:00Z`);
  const memories = conversations.flatMap(({ id, turns }) =>
    turns.map((turn) => ({
      name: `${id}/${turn.id}`,
      content: turn.text,
      userId: id,
      sessionId: `${id}/${turn.session}`,
      occurredAt: timeOf(turn.date),
    })),
  );
  return {
    name,
    now: Math.max(...memories.map(({ occurredAt }) => occurredAt)) + DAY_MS,
    memories,
    questions: conversations.flatMap(({ id, questions }) =>
      questions
        .filter(({ category }) => category !== UNANSWERABLE)
        .map((question) => ({
          kind: String(question.category),
          userId: id,
          text: question.q,
          stale: [],
          expect: question.evidence.map((turn) => `${id}/${turn}`),
        })),
    ),
  };
}
