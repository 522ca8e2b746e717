import { cutIntoChunks, FULL_SIZE, isShort, pageOf, wholeText } from "./chunking.ts";
import type { Block, CutDocument, ExtractedDocument } from "./extraction.ts";
import { sentencesOf } from "../text/sentences.ts";
import { cutWords, sizeOf } from "../text/text-size.ts";
import { digestOf } from "../text/extractive-summary.ts";

/** A listener has to find the cited words in the chunk. */
const MAX_CHUNK_MS = 60_000;
const MAX_SENTENCES = 3;
/** Pause between two thoughts: a chunk ends there, whatever its length. */
const LONG_PAUSE_MS = 1_200;
/** Pause of a breath: a chunk of `ENOUGH_SENTENCES` ends there. */
const SHORT_PAUSE_MS = 400;
/** Sentences after which a breath is enough. */
const ENOUGH_SENTENCES = 2;
/** Words after which speech without full stops is cut. */
const MAX_SENTENCE_SIZE = 60;

const ENDS_SENTENCE = /[.!?…。！？｡]["'”’»)\]」』）]*$/u;
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u3000-\u303f\uff00-\uffef]/u;

/**
 * Cuts speech into chunks of one to three sentences, at pauses where there are any. Where a sentence
 * ends inside a segment, its time is estimated from its share of the segment's text.
 *
 * The same blocks always give the same chunks, in the order of time. Cost: linear in the text.
 * @returns what becomes a memory each, with milliseconds from the start, at most `MAX_CHUNK_MS` from one to the other.
 */
export function cutSpeech(blocks: readonly Block[]) {
  const chunks = joinRuns(joinRuns(blocks.flatMap(piecesOf), isOneSentence), fits);
  return chunks.map(({ text, startMs, endMs }) => ({ content: text, startMs, endMs }));
}

interface Stretch {
  readonly text: string;
  readonly size: number;
  readonly startMs: number;
  readonly endMs: number;
}

function fits(chunk: Stretch, sentence: Stretch, sentences: number): boolean {
  const pause = sentence.startMs - chunk.endMs;
  const longest = sentences < ENOUGH_SENTENCES ? LONG_PAUSE_MS : SHORT_PAUSE_MS;
  return sentences < MAX_SENTENCES && pause < longest && isWithin(chunk, sentence, FULL_SIZE);
}

/** Whether a piece goes on with a sentence: without a full stop a pause or the length ends it. */
const isOneSentence = (sentence: Stretch, piece: Stretch): boolean =>
  !ENDS_SENTENCE.test(sentence.text) &&
  piece.startMs - sentence.endMs < LONG_PAUSE_MS &&
  isWithin(sentence, piece, MAX_SENTENCE_SIZE);

/** Joins each stretch to the run before it where it goes on with that. @param goesOn is told the number of stretches in the run. */
function joinRuns(
  stretches: readonly Stretch[],
  goesOn: (run: Stretch, next: Stretch, count: number) => boolean,
): Stretch[] {
  const runs: Stretch[] = [];
  let count = 0;
  for (const next of stretches) {
    const run = runs.at(-1);
    const isSame = run !== undefined && goesOn(run, next, count);
    count = isSame ? count + 1 : 1;
    if (isSame) runs[runs.length - 1] = joined(run, next);
    else runs.push(next);
  }
  return runs;
}

const isWithin = (a: Stretch, b: Stretch, maxSize: number): boolean =>
  a.size + b.size <= maxSize && Math.max(a.endMs, b.endMs) - a.startMs <= MAX_CHUNK_MS;

function joined(a: Stretch, b: Stretch): Stretch {
  const isUnspaced = UNSPACED.test(a.text.slice(-1)) && UNSPACED.test(b.text.slice(0, 1));
  return {
    text: `${a.text}${isUnspaced ? "" : " "}${b.text}`,
    size: a.size + b.size,
    startMs: a.startMs,
    endMs: Math.max(a.endMs, b.endMs),
  };
}

/** A block's sentences; those that are too large or too long in parts. */
function piecesOf({ text, startMs = 0, endMs = startMs }: Block): Stretch[] {
  const parts = sentencesOf(text)
    .map((sentence) => sentence.replaceAll(/\s+/g, " ").trim())
    .filter((sentence) => sentence !== "")
    .flatMap((sentence) => (sizeOf(sentence) <= FULL_SIZE ? [sentence] : cutWords(sentence, FULL_SIZE)));
  return withTimes(parts, startMs, endMs).flatMap((piece) => {
    const count = Math.ceil((piece.endMs - piece.startMs) / MAX_CHUNK_MS);
    if (count <= 1) return [piece];
    const words = piece.text.split(" ");
    const each = Math.ceil(words.length / count);
    const groups = Array.from({ length: Math.ceil(words.length / each) }, (_, i) =>
      words.slice(i * each, (i + 1) * each).join(" "),
    );
    // A subtitle may be shown for longer than a chunk may last.
    return withTimes(groups, piece.startMs, piece.endMs).map((part) => ({
      ...part,
      endMs: Math.min(part.endMs, part.startMs + MAX_CHUNK_MS),
    }));
  });
}

/** Divides the time among the texts by their lengths. */
function withTimes(texts: readonly string[], startMs: number, endMs: number): Stretch[] {
  const total = texts.reduce((sum, { length }) => sum + length, 0);
  let before = 0;
  const timeAt = (chars: number) => Math.round(startMs + ((endMs - startMs) * chars) / total);
  return texts.map((text) => {
    const start = timeAt(before);
    before += text.length;
    return { text, size: sizeOf(text), startMs: start, endMs: timeAt(before) };
  });
}

/** Cuts a document into chunks, always alike. Over a second for the largest: never in the main thread. */
export function cutDocument({ blocks, ...document }: ExtractedDocument): CutDocument {
  const title = document.title ?? titleIn(blocks);
  const titled = { ...document, ...(title !== undefined && { title }) };
  if (blocks[0]?.startMs !== undefined) return { ...titled, ...cutRecording(blocks) };
  const chunks = cutIntoChunks(blocks);
  if (isShort(blocks) || chunks.length === 1) {
    return { ...titled, chunks: [{ content: wholeText(blocks), headings: [], ...pageOf(blocks) }] };
  }
  return { ...titled, chunks, digest: digestOf(blocks, title ?? "") };
}

/** Even short speech is kept as chunks, so that it is cited to the second. */
function cutRecording(blocks: readonly Block[]): Pick<CutDocument, "chunks" | "digest"> {
  const chunks = cutSpeech(blocks).map((chunk) => ({ ...chunk, headings: [] }));
  if (chunks.length === 1) return { chunks };
  // Sentences of speech may begin in one block and end in another.
  const running = chunks.map(({ content }) => ({ type: "paragraph", text: content }) as const);
  return { chunks, digest: digestOf(running, "") };
}

/** The first heading, where all other headings are below it. */
function titleIn(blocks: readonly Block[]): string | undefined {
  const [first] = blocks;
  if (first?.type !== "heading") return undefined;
  const { level = 1 } = first;
  const isAlone = blocks.every(
    (block, i) => i === 0 || block.type !== "heading" || (block.level ?? 1) > level,
  );
  return isAlone ? first.text : undefined;
}
