import type { Memory } from "../memory.ts";
import { keyPhrases } from "../text/key-phrases.ts";
import { sentencesOf } from "../text/sentences.ts";
import { dotOf, type TermVector, termVectors } from "../text/term-vectors.ts";
import { sentenceWorth } from "../text/sentence-worth.ts";
import { cosine } from "../embedding.ts";
import { cluster, evenly } from "./cluster.ts";

/** The fields of a memory that a summary uses. */
export interface SummarisedMemory extends Pick<
  Memory,
  "id" | "version" | "content" | "primarySector" | "order"
> {
  /** Of unit length. */
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
export interface SourcedPhrase {
  readonly text: string;
  readonly memoryId: string;
  readonly version: number;
}

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
/** Sentences per cluster whose words are compared: the best by form, nearness, age and salience. */
const COMPARED_PER_CLUSTER = 60;
/** The number of clusters is the root of memories divided by this: 8 for 500. */
const MEMORIES_PER_CLUSTER = 8;
const MAX_CLUSTERS = 8;
/** Sentences of less worth are chosen only where there are no better ones. */
const MIN_WORTH = 0.25;
/** From this number of worthy sentences on no others are candidates. */
const ENOUGH = 3;
/** Sentences above either cosine, of terms or of memories' vectors, count as repeats. */
const SAME_TERMS = 0.45;
const SAME_DIRECTION = 0.82;
/** Shares of the score: how near to what its cluster is about, by meaning and by words. */
const MEANING_WEIGHT = 0.6;
const WORDS_WEIGHT = 0.4;
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
 * Chooses sentences that represent a user's memories: the best of each cluster, larger clusters first; near the cluster's
 * centre, able to stand alone, recent, salient, of every sector, without repeats. The same memories in the same order
 * give the same sentences.
 *
 * @param rest lets other requests in; called every few milliseconds.
 * @see Carbonell & Goldstein, "The use of MMR", SIGIR 1998; Radev et al., "Centroid-based summarization", 2004.
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

function bodyOf(content: string): string {
  return content.replace(SPEAKER, "").replace(BRACKETED, "\n");
}

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

async function choose(
  candidates: readonly Candidate[],
  memories: readonly SummarisedMemory[],
  rest: () => Promise<void>,
): Promise<Candidate[]> {
  const vectors = candidates.map(({ memory }) => memory.vector);
  const count = Math.max(
    1,
    Math.min(MAX_CLUSTERS, Math.round(Math.sqrt(candidates.length / MEMORIES_PER_CLUSTER))),
  );
  const groups = await cluster(vectors, count, rest);
  await rest();
  const newest = Math.max(1, memories.length - 1);
  const places = new Map(memories.map(({ id }, place) => [id, place]));
  const byForm = groups.map(({ members, centre }) =>
    members
      .map((i) => {
        const { memory, worth } = candidates[i] as Candidate;
        const meaning = Math.max(0, cosine(memory.vector, centre));
        const recency = 1 + RECENCY_WEIGHT * ((places.get(memory.id) ?? 0) / newest);
        const salience = 1 + SALIENCE_WEIGHT * (memory.salience - 0.5);
        return { i, meaning, factor: worth * recency * salience };
      })
      .sort((a, b) => b.factor * b.meaning - a.factor * a.meaning || a.i - b.i)
      .slice(0, COMPARED_PER_CLUSTER),
  );
  await rest();
  const compared = byForm.flat().map(({ i }) => i);
  const vectorsOfTerms = termVectors(compared.map((i) => candidates[i]?.text ?? ""));
  const terms = new Map(compared.map((i, place) => [i, vectorsOfTerms[place] ?? new Map<string, number>()]));
  const termsOf = (i: number): TermVector => terms.get(i) ?? new Map<string, number>();
  await rest();
  const queues = byForm.map((group) => {
    const about = new Map<string, number>();
    for (const { i } of group)
      for (const [term, weight] of termsOf(i)) about.set(term, (about.get(term) ?? 0) + weight);
    const length = Math.hypot(...about.values()) || 1;
    const words = group.map(({ i }) => dotOf(termsOf(i), about) / length);
    const mostWords = Math.max(...words) || 1;
    return group.map(({ i, meaning, factor }, place) => ({
      i,
      score: factor * (MEANING_WEIGHT * meaning + WORDS_WEIGHT * ((words[place] ?? 0) / mostWords)),
    }));
  });

  const chosen: number[] = [];
  let chars = 0;
  const says = (i: number) => candidates[i] as Candidate;
  const isRepeat = (i: number) =>
    chosen.some(
      (known) =>
        dotOf(termsOf(known), termsOf(i)) > SAME_TERMS ||
        cosine(says(known).memory.vector, says(i).memory.vector) > SAME_DIRECTION,
    );
  for (let isMore = true; isMore && chosen.length < MAX_HIGHLIGHTS;) {
    isMore = false;
    for (const queue of queues) {
      if (chosen.length === MAX_HIGHLIGHTS) break;
      const sectors = new Set(chosen.map((i) => says(i).memory.primarySector));
      const worthOf = ({ i, score }: { i: number; score: number }) =>
        sectors.has(says(i).memory.primarySector) ? score : score * NEW_SECTOR_FACTOR;
      const ranked = queue
        .filter(({ i }) => !chosen.includes(i))
        .sort((a, b) => worthOf(b) - worthOf(a) || a.i - b.i);
      const found = ranked.find(({ i }) => chars + says(i).text.length <= MAX_CHARS && !isRepeat(i));
      if (found === undefined) continue;
      chosen.push(found.i);
      chars += says(found.i).text.length;
      isMore = true;
    }
  }
  return chosen.map(says);
}
