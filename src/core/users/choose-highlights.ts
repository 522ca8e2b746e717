import type { Memory } from "../memory.ts";
import { keyPhrases } from "../text/key-phrases.ts";
import { sentencesOf, sentenceWorth } from "../text/sentences.ts";
import { dotOf, termVectors } from "../text/extractive-summary.ts";
import { cosine } from "../embedding.ts";

/** The fields of a memory that a summary uses. */
export interface SummarisedMemory extends Pick<
  Memory,
  "id" | "version" | "content" | "primarySector" | "order"
> {
  /** See `meanWindow`. */
  readonly vector: Float32Array;
  readonly salience: number;
  readonly occurredAt: number;
}

export interface Highlight {
  readonly memoryId: string;
  /** The memory's version when it was read. */
  readonly version: number;
  /** A sentence of the memory, behind the name of its speaker where it has one. */
  readonly text: string;
}

/** A key phrase and a memory that has it. */
export type SourcedPhrase = { readonly text: string; readonly memoryId: string; readonly version: number };

export interface Highlights {
  /** In the order of time. */
  readonly highlights: readonly Highlight[];
  readonly phrases: readonly SourcedPhrase[];
}

const MAX_HIGHLIGHTS = 8;
const MAX_CHARS = 1_400;
const MAX_SENTENCE_CHARS = 280;
const MAX_PHRASES = 10;
/** Maximum number of texts in which phrases are counted, evenly chosen. */
const MAX_PHRASED = 1_500;
/** Maximum number of sentences that are compared, the best by form, age and salience, with so many memories. */
const MAX_CONSIDERED = 400;
const MAX_COVERED = 400;
const ROWS_PER_STEP = 50;
/** Sentences of less worth are chosen only where there are no better ones. */
const MIN_WORTH = 0.25;
/** From this number of worthy sentences on no others are candidates. */
const ENOUGH = 3;
/** Sentences above either cosine, of terms or of memories' vectors, count as repeats. */
const SAME_TERMS = 0.45;
const SAME_DIRECTION = 0.82;
/** Bonus of the newest memory over the oldest, and of the most salient over the least. */
const RECENCY_WEIGHT = 0.25;
const SALIENCE_WEIGHT = 0.5;
/** Factor for a sentence of a sector that no chosen one has. */
const NEW_SECTOR_FACTOR = 1.2;
/** Sentences of one memory that are candidates, which bounds the cost of a long text. */
const MAX_SENTENCES = 12;
const MEMORIES_PER_STEP = 250;

const SPEAKER = /^[^\S\n]{0,8}(\p{L}[\p{L}\p{M}\p{N}.'’ -]{0,39}):\s/u;
/** Notes in brackets, such as "[shared photo: …]", and marks of lists and headings. */
const BRACKETED = /(?<!\s)\s*\[[^[\]]{0,300}\]\s*/g;
const LIST_MARK = /^\s*(?:[-*•–]|#{1,6}|\d{1,3}[.)])\s+/;

interface Candidate {
  readonly memory: SummarisedMemory;
  readonly speaker: string | null;
  readonly text: string;
  readonly worth: number;
}

/**
 * Chooses sentences that represent a user's memories: together near to as many memories as possible, able to stand
 * alone, recent, salient, of every sector, without repeats. The same memories in the same order give the same sentences.
 * @param rest lets other requests in; called every few milliseconds.
 * @see Lin & Bilmes, "A class of submodular functions for document summarization", ACL 2011.
 */
export async function chooseHighlights(
  memories: readonly SummarisedMemory[],
  rest: () => Promise<void>,
): Promise<Highlights> {
  const best: Candidate[] = [];
  const speakers = new Set<string>();
  const bodies: string[] = [];
  for (const [i, memory] of memories.entries()) {
    if (i % MEMORIES_PER_STEP === MEMORIES_PER_STEP - 1) await rest();
    const speaker = SPEAKER.exec(memory.content)?.[1]?.trim() ?? null;
    if (speaker !== null) speakers.add(speaker);
    bodies.push(bodyOf(memory.content));
    const candidate = bestSentence(memory, speaker, bodies[i] ?? "");
    if (candidate !== undefined) best.push(candidate);
  }
  const worthy = best.filter(({ worth }) => worth >= MIN_WORTH);
  const candidates = worthy.length >= ENOUGH ? worthy : best;
  await rest();
  const chosen = await choose(candidates, memories, rest);
  await rest();
  const phrased = evenly(
    memories.map((memory, i) => ({ memory, body: bodies[i] ?? "" })),
    MAX_PHRASED,
  );
  const found = await keyPhrases(
    phrased.map(({ body }) => body),
    MAX_PHRASES,
    { ignored: [...speakers], rest },
  );
  return {
    highlights: chosen
      .sort((a, b) => a.memory.occurredAt - b.memory.occurredAt || a.memory.order - b.memory.order)
      .map(({ memory, speaker, text }) => ({
        memoryId: memory.id,
        version: memory.version,
        text: speaker === null ? text : `${speaker}: ${text}`,
      })),
    phrases: found.flatMap(({ text, place }) => {
      const memory = phrased[place]?.memory;
      return memory === undefined ? [] : [{ text, memoryId: memory.id, version: memory.version }];
    }),
  };
}

const bodyOf = (content: string): string => content.replace(SPEAKER, "").replace(BRACKETED, "\n");

function bestSentence(memory: SummarisedMemory, speaker: string | null, body: string): Candidate | undefined {
  let best: Candidate | undefined;
  const sentences = body.split(/\n+/).flatMap((line) => sentencesOf(line.replace(LIST_MARK, "")));
  for (const sentence of sentences.slice(0, MAX_SENTENCES)) {
    const text = sentence.replaceAll(/\s+/g, " ").trim();
    if (text.length < 2 || text.length > MAX_SENTENCE_CHARS) continue;
    const worth = sentenceWorth(text);
    if (best === undefined || worth > best.worth) best = { memory, speaker, text, worth };
  }
  return best;
}

/** Greedily adds the sentence that covers most of what the ones before leave. */
async function choose(
  candidates: readonly Candidate[],
  memories: readonly SummarisedMemory[],
  rest: () => Promise<void>,
): Promise<Candidate[]> {
  const newest = Math.max(1, memories.length - 1);
  const places = new Map(memories.map(({ id }, place) => [id, place]));
  const considered = candidates
    .map((candidate) => {
      const { memory, worth } = candidate;
      const recency = 1 + RECENCY_WEIGHT * ((places.get(memory.id) ?? 0) / newest);
      return { ...candidate, factor: worth * recency * (1 + SALIENCE_WEIGHT * (memory.salience - 0.5)) };
    })
    .sort((a, b) => b.factor - a.factor)
    .slice(0, MAX_CONSIDERED);
  const covering: Float32Array[] = [];
  const covered = new Float32Array(Math.min(memories.length, MAX_COVERED));
  const sample = evenly(memories, MAX_COVERED);
  for (const [i, { memory }] of considered.entries()) {
    if (i % ROWS_PER_STEP === 0) await rest();
    covering.push(Float32Array.from(sample, (other) => Math.max(0, cosine(memory.vector, other.vector))));
  }
  const terms = termVectors(considered.map(({ text }) => text));
  const rows = considered.map((candidate, i) => ({
    ...candidate,
    covers: covering[i] ?? new Float32Array(),
    terms: terms[i] ?? new Map<string, number>(),
  }));

  const chosen: typeof rows = [];
  let left = MAX_CHARS;
  const isRepeat = (row: (typeof rows)[number]) =>
    chosen.some(
      (known) =>
        dotOf(known.terms, row.terms) > SAME_TERMS ||
        cosine(known.memory.vector, row.memory.vector) > SAME_DIRECTION,
    );
  while (chosen.length < MAX_HIGHLIGHTS) {
    const sectors = new Set(chosen.map(({ memory }) => memory.primarySector));
    const gainOf = ({ covers, factor, memory }: (typeof rows)[number]) =>
      factor *
      (sectors.has(memory.primarySector) ? 1 : NEW_SECTOR_FACTOR) *
      covers.reduce((sum, value, j) => sum + Math.max(0, value - (covered[j] ?? 0)), 0);
    const best = rows
      .map((row) => ({ row, gain: gainOf(row) }))
      .sort((a, b) => b.gain - a.gain)
      .find(({ row }) => row.text.length <= left && !isRepeat(row))?.row;
    if (best === undefined) break;
    chosen.push(best);
    left -= best.text.length;
    best.covers.forEach((value, j) => (covered[j] = Math.max(covered[j] ?? 0, value)));
  }
  return chosen;
}

/** At most `limit` items, evenly chosen, in their order. */
export function evenly<T>(items: readonly T[], limit: number): readonly T[] {
  if (items.length <= limit) return items;
  return Array.from({ length: limit }, (_, i) => items[Math.floor((i * items.length) / limit)] as T);
}
