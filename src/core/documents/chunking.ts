import type { Block, Chunk } from "./extraction.ts";
import { eachSentence } from "../text/sentences.ts";
import { cutWords, shortened, sizeOf } from "../text/text-size.ts";

/** Raise it when the same blocks are cut differently: documents of other versions are remade whole. */
export const CHUNKING_VERSION = 3;

/** In words, see `sizeOf`: about one window of the embedding model. */
export const FULL_SIZE = 200;
/** A larger block is cut at sentences; a smaller one stays whole and begins a new chunk where it does not fit. */
const MAX_SIZE = 260;
/** A smaller section is joined with the next one, its heading in the text. */
const SMALL_SECTION = 40;
/** A document up to this size is one memory. */
const SINGLE_SIZE = 250;
/** A header row up to this size is repeated where its table goes on in another chunk. */
const REPEATED_HEADER = 50;
const MAX_HEADING_CHARS = 160;
/** Text of more pages has none: the first one would be cited for what stands on another. */
const MAX_PAGES = 2;

/** True for a document that is kept as one memory, with the text that `wholeText` gives. */
export function isShort(blocks: readonly Block[]): boolean {
  let size = 0;
  for (const { text } of blocks) if ((size += sizeOf(text)) > SINGLE_SIZE) return false;
  return true;
}

/** All of a document's text, headings marked as in Markdown. */
export function wholeText(blocks: readonly Block[]): string {
  const parts = blocks.map((block) => ({
    type: block.type,
    text: block.type === "heading" ? `${"#".repeat(block.level ?? 1)} ${block.text}` : indented(block),
  }));
  return joinParts(parts);
}

const MAX_INDENTED = 8;

/** The text of a block; that of a nested item stands further in. */
function indented({ type, text, level = 1 }: Block): string {
  if (type !== "list-item" || level === 1) return text;
  const indent = "  ".repeat(Math.min(MAX_INDENTED, level) - 1);
  return indent + text.replaceAll("\n", `\n${indent}`);
}

/**
 * Cuts a document where its structure does: at headings, then between paragraphs, list items, table rows and code blocks,
 * and only what is too large for one chunk between sentences or lines of code, between lines where a sentence is longer
 * than a chunk, between words where a line is, and within a word where that is. Every block's text is in some chunk, or is one of its headings. A table
 * that goes on in another chunk has its header row there again.
 *
 * The same blocks always give the same chunks. Cost: linear in the text, each block measured once; beside the chunks
 * only a section's list of blocks is kept.
 */
export const cutIntoChunks = (blocks: readonly Block[]): Chunk[] =>
  Array.from(joinSmallSections(sectionsOf(blocks)), (group) => [...packSections(group)]).flat();

/** The blocks between two headings. */
interface Section {
  readonly headings: readonly string[];
  readonly page: number | undefined;
  readonly blocks: SizedBlock[];
  size: number;
}

type SizedBlock = { readonly block: Block; readonly size: number };

/** A section without text of its own but with deeper ones below is only a step of their path. */
function* sectionsOf(blocks: readonly Block[]): Generator<Section> {
  const path: { readonly level: number; readonly text: string }[] = [];
  let current: Section = { headings: [], page: blocks[0]?.page, blocks: [], size: 0 };
  let depth = 0;
  const isDone = (nextLevel: number): boolean =>
    current.blocks.length > 0 || (current.headings.length > 0 && nextLevel <= depth);
  for (const block of blocks) {
    if (block.type !== "heading") {
      const size = sizeOf(block.text);
      current.blocks.push({ block, size });
      current.size += size;
      continue;
    }
    const { level = 1 } = block;
    if (isDone(level)) yield current;
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
  if (isDone(0)) yield current;
}

/** Runs of sections that share chunks: each small one goes with those after it, as far as they fit together. */
function* joinSmallSections(sections: Iterable<Section>): Generator<readonly Section[]> {
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
  /** See `sizeOf`. */
  readonly size: number;
  readonly page?: number | undefined;
  /** Set where the part continues the block of the part before: the text between the two. */
  readonly glue?: string;
  /** The header rows of the table that the row belongs to. */
  readonly header?: TableHeader;
}

type TableHeader = { readonly text: string; readonly size: number };

function* packSections(sections: readonly Section[]): Generator<Chunk> {
  const shared = sharedPath(sections.map(({ headings }) => headings));
  const headings = shared.map((text) => shortened(text, MAX_HEADING_CHARS));
  for (const packed of pack(partsOfSections(sections, shared)))
    yield { content: joinParts(packed), headings, ...pageOf(packed) };
}

/** The page that a text is cited by: the one where it begins; none for text of more than `MAX_PAGES`. */
export function pageOf(parts: readonly { readonly page?: number | undefined }[]): Pick<Chunk, "page"> {
  const pages = new Set(parts.map(({ page }) => page));
  const [page] = pages;
  return page === undefined || pages.size > MAX_PAGES ? {} : { page };
}

function* partsOfSections(sections: readonly Section[], shared: readonly string[]): Generator<Part> {
  const isAlone = sections.length === 1;
  for (const { headings, page, blocks } of sections) {
    // A heading with nothing below it is the section's only text.
    const own =
      isAlone && blocks.length > 0 ? [] : headings.slice(Math.min(shared.length, headings.length - 1));
    for (const text of own) {
      if (!shared.includes(text) || blocks.length === 0)
        yield { type: "heading", text, size: sizeOf(text), page };
    }
    yield* partsOf(blocks);
  }
}

function sharedPath(paths: readonly (readonly string[])[]): readonly string[] {
  const [first = [], ...others] = paths;
  const length = first.findIndex((text, i) => others.some((other) => other[i] !== text));
  return length < 0 ? first : first.slice(0, length);
}

/** Fills chunks one after the other; a nearly empty last one is joined to the one before. */
function* pack(parts: Iterable<Part>): Generator<Part[]> {
  let previous: { readonly parts: Part[]; readonly size: number } | undefined;
  let current: Part[] = [];
  let size = 0;
  for (const part of parts) {
    // A heading in the text stays with the part after it.
    const isAfterHeading = current.at(-1)?.type === "heading" && size < SMALL_SECTION;
    const isFull = current.length > 0 && size + part.size > FULL_SIZE && !isAfterHeading;
    if (isFull) {
      if (previous !== undefined) yield previous.parts;
      previous = { parts: current, size };
      const { header } = part;
      current = header === undefined ? [] : [{ type: "table-row", ...header, page: part.page }];
      size = header?.size ?? 0;
    }
    current.push(part);
    size += part.size;
  }
  if (previous !== undefined && size + previous.size <= MAX_SIZE) {
    const repeated = current[1]?.header !== undefined && current[0]?.text === current[1].header.text;
    previous.parts.push(...current.slice(repeated ? 1 : 0));
    current = [];
  }
  if (previous !== undefined) yield previous.parts;
  if (current.length > 0) yield current;
}

function* partsOf(blocks: readonly SizedBlock[]): Generator<Part> {
  let header: TableHeader | undefined;
  let previous: Block["type"] | undefined;
  for (const { block, size } of blocks) {
    const { type, page, isHeader } = block;
    const text = indented(block);
    if (type !== "table-row" || (isHeader === true && previous !== "table-row")) header = undefined;
    // A header too large to be repeated stops growing: a table may have header rows only.
    if (isHeader === true && (header === undefined || header.size <= REPEATED_HEADER)) {
      const lines = header === undefined ? text : `${header.text}\n${text}`;
      header = { text: lines, size: sizeOf(lines) };
    }
    previous = type;
    const isBelow = type === "table-row" && isHeader !== true;
    const repeated = isBelow && header !== undefined && header.size <= REPEATED_HEADER ? { header } : {};
    if (size > MAX_SIZE) yield* cutBlock({ ...block, text });
    else yield { type, text, size, page, ...repeated };
  }
}

/** Cuts a block that is too large for a chunk; the pieces, but for the space between them, are the text. */
function* cutBlock({ type, text, page }: Block): Generator<Part> {
  const isCode = type === "code";
  let glue: string | undefined;
  for (const unit of isCode ? text.split("\n") : eachSentence(text)) {
    // Lines of data that no full stop ends are one sentence.
    const isLong = !isCode && sizeOf(unit) > MAX_SIZE;
    for (const line of isLong ? unit.split("\n") : [unit]) {
      const trimmed = isCode ? line : line.trim();
      if (trimmed === "" && !isCode) continue;
      const size = sizeOf(trimmed);
      for (const piece of size <= MAX_SIZE ? [trimmed] : cutWords(trimmed, FULL_SIZE)) {
        yield { type, text: piece, size: sizeOf(piece), page, ...(glue !== undefined && { glue }) };
        glue = " ";
      }
      glue = isCode || isLong ? "\n" : " ";
    }
  }
}

type JoinedPart = Pick<Part, "type" | "text" | "glue">;

/** Rows and items are joined by a line break, other parts by an empty line. */
function joinParts(parts: readonly JoinedPart[]): string {
  let text = "";
  let previous: JoinedPart | undefined;
  for (const part of parts) {
    if (previous !== undefined) text += separator(previous, part);
    text += part.text;
    previous = part;
  }
  return text;
}

function separator(before: JoinedPart, part: JoinedPart): string {
  if (part.glue !== undefined) return part.glue;
  const isRun = before.type === part.type && (part.type === "table-row" || part.type === "list-item");
  return isRun ? "\n" : "\n\n";
}
