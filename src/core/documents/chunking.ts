import type { Block } from "./extraction.ts";
import { sentencesOf } from "../text/sentences.ts";

/** A piece of a document that becomes a memory of its own. */
export interface Chunk {
  readonly content: string;
  /** The headings that the whole of it stands under, outermost first. Not part of `content`. */
  readonly headings: readonly string[];
  /** Where it begins; absent where the document has no pages. */
  readonly page?: number;
}

/**
 * Raised when the same blocks are cut otherwise: a document whose chunks were made by another rule is made anew as a
 * whole when some of them have to be made again.
 */
export const CHUNKING_VERSION = 1;

/**
 * Sizes are in words; see `sizeOf`. About what the embedding model reads in one go, and what a person reads at a glance:
 * a chunk ends at the first place after `FULL_SIZE` would be passed.
 */
export const FULL_SIZE = 200;
/** What is not larger stays whole though it would not fit behind what came before; larger is cut at sentences. */
const MAX_SIZE = 260;
/** A section smaller than this is joined with the next one, its heading in the text. */
const SMALL_SECTION = 40;
/** A document up to this size is one memory. */
const SINGLE_SIZE = 250;
/** A header row up to this size is repeated where its table goes on in another chunk. */
const REPEATED_HEADER = 50;
const MAX_HEADING_CHARS = 160;

/** True for a document that is kept as one memory, as `wholeText`. */
export function isShort(blocks: readonly Block[]): boolean {
  let size = 0;
  for (const { text } of blocks) if ((size += sizeOf(text)) > SINGLE_SIZE) return false;
  return true;
}

/** All of a document's text, headings marked as in Markdown. */
export function wholeText(blocks: readonly Block[]): string {
  const parts = blocks.map(({ type, text, level = 1 }): Part => ({
    type,
    text: type === "heading" ? `${"#".repeat(level)} ${text}` : text,
  }));
  return joinParts(parts);
}

/**
 * Cuts a document where its structure does: at headings, then between paragraphs, list items, table rows and code blocks,
 * and only what is too large for one chunk between sentences or lines of code, between words where a sentence is longer
 * than a chunk, and within a word where that is. Every block's text is in some chunk, or is one of its headings. A table
 * that goes on in another chunk has its header row there again.
 *
 * The same blocks always give the same chunks. Cost: linear in the text.
 */
export function cutIntoChunks(blocks: readonly Block[]): Chunk[] {
  const chunks: Chunk[] = [];
  for (const group of joinSmallSections(sectionsOf(blocks))) chunks.push(...packSections(group));
  return chunks;
}

/** How large a text is: its words; of scripts without spaces two characters are one, and long strings count by length. */
export function sizeOf(text: string): number {
  const words = text.match(/\S+/g)?.length ?? 0;
  const unspaced = text.match(UNSPACED)?.length ?? 0;
  return Math.max(words + unspaced / CHARACTERS_A_WORD, text.length / LONG_WORD);
}

const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu;
const CHARACTERS_A_WORD = 2;
const LONG_WORD = 12;

/** What stands between two headings. */
interface Section {
  readonly headings: readonly string[];
  readonly page: number | undefined;
  readonly blocks: Block[];
  size: number;
}

/** A section without text of its own but with deeper ones below is only a step of their path. */
function sectionsOf(blocks: readonly Block[]): Section[] {
  const sections: Section[] = [];
  const path: { readonly level: number; readonly text: string }[] = [];
  let current: Section = { headings: [], page: blocks[0]?.page, blocks: [], size: 0 };
  let depth = 0;
  const close = (nextLevel: number): void => {
    if (current.blocks.length > 0 || (current.headings.length > 0 && nextLevel <= depth))
      sections.push(current);
  };
  for (const block of blocks) {
    if (block.type !== "heading") {
      current.blocks.push(block);
      current.size += sizeOf(block.text);
      continue;
    }
    const { level = 1 } = block;
    close(level);
    while ((path.at(-1)?.level ?? 0) >= level) path.pop();
    path.push({ level, text: block.text });
    depth = level;
    current = {
      headings: path.map(({ text }) => text),
      page: block.page,
      blocks: [],
      size: sizeOf(block.text),
    };
  }
  close(0);
  return sections;
}

/** Runs of sections that share chunks: each small one goes with those after it, as far as they fit together. */
function* joinSmallSections(sections: readonly Section[]): Generator<readonly Section[]> {
  let group: Section[] = [];
  let size = 0;
  for (const section of sections) {
    const joins = group.length > 0 && size < SMALL_SECTION && size + section.size <= FULL_SIZE;
    if (!joins && group.length > 0) {
      yield group;
      group = [];
      size = 0;
    }
    group.push(section);
    size += section.size;
  }
  if (group.length > 0) yield group;
}

/** A piece of text that is not cut further. */
interface Part {
  readonly type: Block["type"];
  readonly text: string;
  readonly page?: number | undefined;
  /** Goes on with the paragraph or block of code of the part before: what stands between them. */
  readonly glue?: string;
  /** The header rows of the table that the row belongs to. */
  readonly header?: string;
}

function packSections(sections: readonly Section[]): Chunk[] {
  const shared = sharedPath(sections.map(({ headings }) => headings));
  const isAlone = sections.length === 1;
  const parts = sections.flatMap(({ headings, page, blocks }) => {
    // A heading with nothing below it is all the text there is.
    const own =
      isAlone && blocks.length > 0 ? [] : headings.slice(Math.min(shared.length, headings.length - 1));
    const lines = own.filter((text) => !shared.includes(text) || blocks.length === 0);
    return [...lines.map((text): Part => ({ type: "heading", text, page })), ...partsOf(blocks)];
  });
  const headings = shared.map((text) =>
    text.length > MAX_HEADING_CHARS
      ? `${text
          .slice(0, MAX_HEADING_CHARS)
          .replace(/[\uD800-\uDBFF]$/, "")
          .trimEnd()}…`
      : text,
  );
  return pack(parts).map((packed) => {
    const { page } = packed[0] ?? {};
    return { content: joinParts(packed), headings, ...(page !== undefined && { page }) };
  });
}

function sharedPath(paths: readonly (readonly string[])[]): readonly string[] {
  const [first = [], ...others] = paths;
  const length = first.findIndex((text, i) => others.some((other) => other[i] !== text));
  return length < 0 ? first : first.slice(0, length);
}

/** Fills chunks one after the other; one that would be nearly empty at the end shares with the one before. */
function pack(parts: readonly Part[]): Part[][] {
  const chunks: Part[][] = [];
  let current: Part[] = [];
  let size = 0;
  for (const part of parts) {
    const own = sizeOf(part.text);
    // A heading in the text does not part from what follows it.
    const isAfterHeading = current.at(-1)?.type === "heading" && size < SMALL_SECTION;
    const isFull = current.length > 0 && size + own > FULL_SIZE && !isAfterHeading;
    if (isFull) {
      chunks.push(current);
      current = [];
      size = 0;
      if (part.header !== undefined) {
        current.push({ type: "table-row", text: part.header, page: part.page });
        size = sizeOf(part.header);
      }
    }
    current.push(part);
    size += own;
  }
  const last = chunks.at(-1);
  if (last !== undefined && size + last.reduce((sum, { text }) => sum + sizeOf(text), 0) <= MAX_SIZE) {
    const repeated = current[1]?.header !== undefined && current[0]?.text === current[1].header;
    last.push(...current.slice(repeated ? 1 : 0));
  } else if (current.length > 0) chunks.push(current);
  return chunks;
}

function partsOf(blocks: readonly Block[]): Part[] {
  const parts: Part[] = [];
  let header: string[] = [];
  let previous: Block["type"] | undefined;
  for (const { type, text, page, isHeader } of blocks) {
    if (type !== "table-row" || (isHeader === true && previous !== "table-row")) header = [];
    if (isHeader === true) header.push(text);
    previous = type;
    const joined = header.join("\n");
    const isBelowHeader =
      type === "table-row" && isHeader !== true && joined !== "" && sizeOf(joined) <= REPEATED_HEADER;
    if (sizeOf(text) <= MAX_SIZE) parts.push({ type, text, page, ...(isBelowHeader && { header: joined }) });
    else parts.push(...cutBlock(type, text, page));
  }
  return parts;
}

/** Cuts what is too large for a chunk; the pieces but for the space between them are the text. */
function cutBlock(type: Block["type"], text: string, page: number | undefined): Part[] {
  const isCode = type === "code";
  const units = isCode ? text.split("\n") : sentencesOf(text);
  const glue = isCode ? "\n" : " ";
  const parts = units.flatMap((unit): Part[] => {
    const trimmed = isCode ? unit : unit.trim();
    if (sizeOf(trimmed) <= MAX_SIZE)
      return trimmed === "" && !isCode ? [] : [{ type, text: trimmed, page, glue }];
    return cutWords(trimmed).map((words, i) => ({ type, text: words, page, glue: i === 0 ? glue : " " }));
  });
  return parts.map((part, i) => (i === 0 ? { type, text: part.text, page } : part));
}

/** Cuts between words, and within those that are larger than a chunk; every piece is at most `FULL_SIZE`. */
export function cutWords(text: string): string[] {
  const pieces: string[] = [];
  let start = 0;
  let size = 0;
  let end = 0;
  const flush = (): void => {
    if (end > start) pieces.push(text.slice(start, end));
    start = end;
    size = 0;
  };
  for (const { 0: word, index } of text.matchAll(/\S+/g)) {
    const own = sizeOf(word);
    if (size > 0 && size + own > FULL_SIZE) flush();
    if (size === 0) start = index;
    if (own <= FULL_SIZE) {
      end = index + word.length;
      size += own;
      continue;
    }
    // A script without spaces, or no words at all.
    let piece = "";
    let pieceSize = 0;
    for (const character of word) {
      piece += character;
      pieceSize +=
        character.length === 1 && character.charCodeAt(0) < FIRST_UNSPACED
          ? 1 / LONG_WORD
          : 1 / CHARACTERS_A_WORD;
      if (pieceSize < FULL_SIZE) continue;
      pieces.push(piece);
      piece = "";
      pieceSize = 0;
    }
    if (piece !== "") pieces.push(piece);
    start = end = index + word.length;
  }
  flush();
  return pieces;
}

/** Thai, the first of the scripts that are written without spaces. */
const FIRST_UNSPACED = 0x0e00;

/** Rows, items and lines follow on each other; everything else stands apart. */
function joinParts(parts: readonly Part[]): string {
  let text = "";
  let previous: Part | undefined;
  for (const part of parts) {
    if (previous !== undefined) text += separator(previous, part);
    text += part.text;
    previous = part;
  }
  return text;
}

function separator(before: Part, part: Part): string {
  if (part.glue !== undefined) return part.glue;
  const isRun = before.type === part.type && (part.type === "table-row" || part.type === "list-item");
  return isRun ? "\n" : "\n\n";
}
