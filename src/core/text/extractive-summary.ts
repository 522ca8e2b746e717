import { analyse } from "./analyser.ts";
import type { Block, DocumentDigest } from "../documents/extraction.ts";
import { eachSentence } from "./sentences.ts";
import { shortened } from "./text-size.ts";

/** Sentences compared with the whole: taken evenly from a longer document, so that the cost is bounded. */
const MAX_CANDIDATES = 600;
const SUMMARY_SENTENCES = 5;
const SUMMARY_CHARS = 1_200;
const MIN_TERMS = 5;
const MAX_SENTENCE_CHARS = 400;
/** Sentences more alike than this count as repeats. */
const REPEATS = 0.5;
/** Bonus of the first sentence, falling to 0 over the document: beginnings name the subject. */
const LEAD_WEIGHT = 0.15;
const OUTLINE_HEADINGS = 40;
const HEADING_CHARS = 100;

/**
 * Describes a document by its own sentences: those nearest to the centre of all its sentences (cosine of tf-idf
 * vectors), no two alike. The same document always gives the same text. Cost: linear in the text.
 * @see Radev et al., "Centroid-based summarization of multiple documents", 2004; Carbonell & Goldstein, "MMR", SIGIR 1998.
 */
export function digestOf(blocks: readonly Block[], title: string): DocumentDigest {
  return { summary: summaryOf(blocks), outline: outlineOf(blocks, title) };
}

/** The digest as the text of a memory. */
export function digestText(title: string, { summary, outline }: DocumentDigest): string {
  return [title, summary, outline === "" ? "" : `Contents:\n${outline}`]
    .filter((part) => part !== "")
    .join("\n\n");
}

function outlineOf(blocks: readonly Block[], title: string): string {
  const headings = blocks.filter(({ type, text }) => type === "heading" && text !== title);
  // A long outline is cut to its upper levels.
  let deepest = 6;
  const within = () => headings.filter(({ level = 1 }) => level <= deepest);
  while (deepest > 1 && within().length > OUTLINE_HEADINGS) deepest -= 1;
  const shown = within();
  const lines = shown.slice(0, OUTLINE_HEADINGS).map(({ text, level = 1 }) => {
    return `${"  ".repeat(level - 1)}- ${shortened(text.replaceAll(/\s+/g, " "), HEADING_CHARS)}`;
  });
  if (shown.length > OUTLINE_HEADINGS) lines.push("- …");
  return lines.join("\n");
}

type Candidate = { readonly text: string; readonly place: number; readonly vector: TermVector };

function summaryOf(blocks: readonly Block[]): string {
  const candidates = weigh(pickCandidates(blocks));
  const centre = new Map<string, number>();
  for (const { vector } of candidates) {
    for (const [term, weight] of vector) centre.set(term, (centre.get(term) ?? 0) + weight);
  }
  const length = Math.hypot(...centre.values()) || 1;
  const scores = candidates.map(
    ({ vector }, i) => dotOf(vector, centre) / length + LEAD_WEIGHT * (1 - i / candidates.length) ** 2,
  );
  const byScore = [...candidates.keys()].sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);

  const chosen: Candidate[] = [];
  let chars = 0;
  for (const index of byScore) {
    const candidate = candidates[index];
    if (candidate === undefined || chosen.length === SUMMARY_SENTENCES) break;
    if (chars + candidate.text.length > SUMMARY_CHARS) continue;
    if (chosen.some(({ vector }) => dotOf(vector, candidate.vector) > REPEATS)) continue;
    chosen.push(candidate);
    chars += candidate.text.length;
  }
  return chosen
    .sort((a, b) => a.place - b.place)
    .map(({ text }) => text)
    .join(" ");
}

/** Whole sentences of running text, else any lines. Two passes without a list: there may be millions. */
function pickCandidates(blocks: readonly Block[]): { readonly text: string; readonly place: number }[] {
  let all = 0;
  let whole = 0;
  for (const { isWhole } of linesOf(blocks)) {
    all += 1;
    if (isWhole) whole += 1;
  }
  const areWhole = whole >= SUMMARY_SENTENCES;
  const usable = areWhole ? whole : all;
  const step = Math.max(1, usable / MAX_CANDIDATES);
  const picked: { text: string; place: number }[] = [];
  let index = 0;
  for (const { text, place, isWhole } of linesOf(blocks)) {
    if (areWhole && !isWhole) continue;
    if (index === Math.floor(picked.length * step)) picked.push({ text, place });
    index += 1;
    if (picked.length === MAX_CANDIDATES) break;
  }
  return picked;
}

interface SentenceLine {
  readonly text: string;
  readonly place: number;
  /** True if it ends with a mark that ends sentences. */
  readonly isWhole: boolean;
}

/** Each sentence in one line, without those that are too long. */
function* linesOf(blocks: readonly Block[]): Generator<SentenceLine> {
  const running = blocks.filter(({ type }) => type === "paragraph" || type === "quote");
  const sources =
    running.length > 0 ? running : blocks.filter(({ type }) => type !== "code" && type !== "heading");
  let place = 0;
  for (const block of sources) {
    for (const sentence of eachSentence(block.text)) {
      place += 1;
      // Spaces are a small part of a sentence.
      if (sentence.length > 2 * MAX_SENTENCE_CHARS) continue;
      const text = sentence.replaceAll(/\s+/g, " ").trim();
      if (text.length === 0 || text.length > MAX_SENTENCE_CHARS) continue;
      yield { text, place, isWhole: /[.!?…。！？]["'”’»)\]]*$/u.test(text) };
    }
  }
}

/** Sentences with their tf-idf vectors, without those of few terms unless all are. */
function weigh(sentences: readonly { readonly text: string; readonly place: number }[]): Candidate[] {
  const rich = sentences.filter(({ text }) => analyse(text).length >= MIN_TERMS);
  const kept = rich.length > 0 ? rich : sentences;
  const vectors = termVectors(kept.map(({ text }) => text));
  return kept.map((sentence, i) => ({ ...sentence, vector: vectors[i] ?? new Map<string, number>() }));
}

type TermVector = ReadonlyMap<string, number>;

/** The tf-idf vector of each text among the others, of unit length; empty for a text without terms. */
export function termVectors(texts: readonly string[]): TermVector[] {
  const analysed = texts.map(analyse);
  const frequency = new Map<string, number>();
  for (const terms of analysed) {
    for (const term of new Set(terms)) frequency.set(term, (frequency.get(term) ?? 0) + 1);
  }
  return analysed.map((terms) => {
    const vector = new Map<string, number>();
    for (const term of terms) {
      const idf = Math.log(1 + texts.length / (frequency.get(term) ?? 1));
      vector.set(term, (vector.get(term) ?? 0) + idf);
    }
    const length = Math.hypot(...vector.values()) || 1;
    for (const [term, weight] of vector) vector.set(term, weight / length);
    return vector;
  });
}

/** The dot product: the cosine of two texts where both are of unit length. */
export function dotOf(a: TermVector, b: TermVector): number {
  let sum = 0;
  for (const [term, weight] of a) sum += weight * (b.get(term) ?? 0);
  return sum;
}
