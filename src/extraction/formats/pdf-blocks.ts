import type { Block } from "../../core/documents/extraction.ts";
import { cleanLine } from "./clean-text.ts";
import type { Region, Row, Segment } from "./pdf-lines.ts";

export interface PdfPage {
  /** From 1. */
  readonly page: number;
  readonly regions: readonly Region[];
}

interface Line extends Omit<Segment, "isRtl"> {
  readonly cells: readonly string[];
  readonly page: number;
  readonly region: Region;
}

/** A heading's font against the text's. */
export const HEADING_RATIO = 1.15;
const MAX_HEADING_CHARS = 200;
/** A gap of this multiple of the usual one separates paragraphs. */
const PARAGRAPH_GAP = 1.35;
/** A first line with this indentation begins a paragraph; in multiples of the font's size. */
const INDENT = 0.9;
const MAX_INDENT = 5;
/** A last line is shorter than this share of the width. */
const SHORT_LINE = 0.8;
/** Rows with equal numbers of cells that make a table. */
const MIN_TABLE_ROWS = 3;

const LIST_MARK = /^(?:[•‣▪◦●○■□–—*·-]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+\S/;
const SENTENCE_END = /[.!?:;。！？][)"'”’»]?$/;
const CJK_END = /[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]$/;
const CJK_START = /^[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]/;
/** The dots that lead to a page number. */
const LEADERS = /(?<!\s)\s*(?:(?:\. ?){4,}|…{2,})\s*/g;
const LISTED_PAGE = / … [\divxlc]+$/i;
const BROKEN_WORD = /(?<!\p{L})(\p{L}+)[-\u2010]$/u;

/** The blocks of a document's pages. `outline` holds the level of each heading that the document itself lists. */
export function blocksOfPdf(pages: readonly PdfPage[], outline: ReadonlyMap<string, number>): Block[] {
  const lines = pages.flatMap(linesOf);
  if (lines.length === 0) return [];
  return new BlockBuilder(lines, outline).run();
}

/** The form in which headings are compared: letters and digits only. */
export const headingKey = (text: string) => text.replace(/[^\p{L}\p{N}]+/gu, "").toLowerCase();

function linesOf({ page, regions }: PdfPage): Line[] {
  return regions.flatMap((region) =>
    region.rows.flatMap((row) => {
      const cells = row.map((segment) => cleanLine(segment.text)).filter((cell) => cell !== "");
      return cells.length === 0 ? [] : [lineOf(row, cells, page, region)];
    }),
  );
}

/** The segment with most text. */
export const longestOf = (row: Row) =>
  row.reduce((longest, segment) => (segment.text.length > longest.text.length ? segment : longest));

function lineOf(row: Row, cells: readonly string[], page: number, region: Region): Line {
  const main = longestOf(row);
  return {
    text: cells.join(" ").replace(LEADERS, " … "),
    cells,
    left: Math.min(...row.map((segment) => segment.left)),
    right: Math.max(...row.map((segment) => segment.right)),
    baseline: main.baseline,
    size: main.size,
    isMono: row.every((segment) => segment.isMono),
    page,
    region,
  };
}

class BlockBuilder {
  readonly #lines: readonly Line[];
  readonly #outline: ReadonlyMap<string, number>;
  readonly #bodySize: number;
  readonly #headingSizes: readonly number[];
  readonly #leading: number;
  readonly #words: ReadonlySet<string>;
  readonly #inTable: ReadonlySet<Line>;
  readonly #blocks: Block[] = [];
  #open: Line[] = [];

  constructor(lines: readonly Line[], outline: ReadonlyMap<string, number>) {
    this.#lines = lines;
    this.#outline = outline;
    this.#bodySize = usualSize(lines);
    this.#headingSizes = headingSizes(lines, this.#bodySize);
    this.#leading = usualLeading(lines);
    this.#words = wordsOf(lines);
    this.#inTable = tableLines(lines);
  }

  run(): Block[] {
    for (const line of this.#lines) {
      const last = this.#open.at(-1);
      if (this.#inTable.has(line)) {
        this.#close();
        this.#blocks.push({ type: "table-row", text: line.cells.join(" | "), page: line.page });
        continue;
      }
      if (last !== undefined && !this.#continues(last, line)) this.#close();
      this.#open.push(line);
    }
    this.#close();
    return this.#blocks;
  }

  #continues(last: Line, line: Line): boolean {
    const level = this.#levelOf(line);
    if (level !== this.#levelOf(last) || isCode(line) !== isCode(last) || LISTED_PAGE.test(last.text))
      return false;
    if (Math.abs(line.size - last.size) > last.size * 0.12) return this.#isBrokenOff(last, line);
    if (last.page !== line.page || last.region !== line.region)
      return level === undefined && this.#isBrokenOff(last, line);
    const gap = last.baseline - line.baseline;
    if (isCode(line)) return gap < line.size * 3;
    if (level !== undefined) return gap < line.size * 1.8 && !this.#outline.has(headingKey(last.text));
    if (gap > Math.max(this.#leading, line.size) * PARAGRAPH_GAP) return false;
    if (LIST_MARK.test(line.text)) return false;
    const first = this.#open[0] ?? last;
    if (LIST_MARK.test(first.text)) return line.left >= first.left - 1;
    return !isNewParagraph(last, line);
  }

  /** A sentence or a word that goes on in the next column or on the next page. */
  #isBrokenOff(last: Line, line: Line): boolean {
    if (this.#levelOf(last) !== undefined || this.#levelOf(line) !== undefined || LIST_MARK.test(line.text))
      return false;
    if (Math.abs(line.size - last.size) > last.size * 0.05) return false;
    return BROKEN_WORD.test(last.text) || (!SENTENCE_END.test(last.text) && /^[\p{Ll}(]/u.test(line.text));
  }

  #levelOf(line: Line): number | undefined {
    if (line.text.length > MAX_HEADING_CHARS || LISTED_PAGE.test(line.text)) return undefined;
    const listed = this.#outline.get(headingKey(line.text));
    if (listed !== undefined) return listed;
    if (!/\p{L}/u.test(line.text) || isCode(line)) return undefined;
    const rank = this.#headingSizes.indexOf(roundSize(line.size));
    return rank === -1 ? undefined : Math.min(rank + 1, 6);
  }

  #close(): void {
    const [first] = this.#open;
    if (first === undefined) return;
    if (isCode(first)) {
      this.#blocks.push({ type: "code", text: codeText(this.#open), page: first.page });
      this.#open = [];
      return;
    }
    let text = "";
    for (const line of this.#open) text = this.#join(text, line.text);
    const level = this.#levelOf(first);
    this.#open = [];
    const { page } = first;
    if (level !== undefined) this.#blocks.push({ type: "heading", text, level, page });
    else if (LIST_MARK.test(text)) this.#blocks.push({ type: "list-item", text, level: 1, page });
    else this.#blocks.push({ type: "paragraph", text, page });
  }

  #join(text: string, next: string): string {
    if (text === "") return next;
    if (CJK_END.test(text) && CJK_START.test(next)) return text + next;
    const head = BROKEN_WORD.exec(text)?.[1];
    const tail = /^\p{Ll}+/u.exec(next)?.[0];
    if (head === undefined || tail === undefined)
      return BROKEN_WORD.test(text) ? text + next : `${text} ${next}`;
    // A word that the document writes elsewhere with a hyphen keeps it.
    const isCompound =
      this.#words.has(`${head}-${tail}`.toLowerCase()) && !this.#words.has((head + tail).toLowerCase());
    return isCompound ? text + next : text.slice(0, -1) + next;
  }
}

function isNewParagraph(last: Line, line: Line): boolean {
  const { left, right } = line.region;
  const indent = line.left - left;
  const isIndented =
    indent > line.size * INDENT &&
    indent < line.size * MAX_INDENT &&
    Math.abs(last.left - line.left) > line.size * 0.5;
  const lastIsShort = last.right - left < (right - left) * SHORT_LINE;
  return (isIndented && last.left < line.left) || (lastIsShort && SENTENCE_END.test(last.text));
}

/** A list may be set in any font. */
const isCode = (line: Line) => line.isMono && !LIST_MARK.test(line.text);

/** Lines with their indentation, counted in their letters. */
function codeText(lines: readonly Line[]): string {
  const left = Math.min(...lines.map((line) => line.left));
  return lines
    .map((line) => {
      const letter = (line.right - line.left) / line.text.length;
      return " ".repeat(Math.min(40, Math.round((line.left - left) / letter))) + line.text;
    })
    .join("\n")
    .trim();
}

const roundSize = (size: number) => Math.round(size * 2) / 2;

/** The size that most of the text is set in, rounded to half a point; 0 without text. */
export function usualSize(parts: readonly { readonly size: number; readonly text: string }[]): number {
  return Array.from(charsBySize(parts)).reduce(
    (most, entry) => (entry[1] > most[1] ? entry : most),
    [0, 0],
  )[0];
}

function charsBySize(parts: readonly { readonly size: number; readonly text: string }[]) {
  const chars = new Map<number, number>();
  for (const { size, text } of parts) {
    const rounded = roundSize(size);
    chars.set(rounded, (chars.get(rounded) ?? 0) + text.length);
  }
  return chars;
}

/** Largest first. A size that much of the document is set in is no heading's. */
function headingSizes(lines: readonly Line[], bodySize: number): number[] {
  const total = lines.reduce((sum, { text }) => sum + text.length, 0);
  const large = charsBySize(lines.filter(({ size }) => size >= bodySize * HEADING_RATIO));
  const sizes = Array.from(large).flatMap(([size, chars]) => (chars < total * 0.3 ? [size] : []));
  return sizes.sort((a, b) => b - a);
}

function usualLeading(lines: readonly Line[]): number {
  const gaps: number[] = [];
  for (const [n, line] of lines.entries()) {
    const next = lines[n + 1];
    if (next?.region !== line.region || roundSize(next.size) !== roundSize(line.size)) continue;
    const gap = line.baseline - next.baseline;
    if (gap > 0 && gap < line.size * 3) gaps.push(gap);
  }
  // The lower third, since gaps between paragraphs are among them.
  return gaps.sort((a, b) => a - b)[Math.floor(gaps.length / 3)] ?? 0;
}

function wordsOf(lines: readonly Line[]): Set<string> {
  const words = new Set<string>();
  for (const line of lines) {
    for (const [word] of line.text.matchAll(/\p{L}+(?:-\p{L}+)*/gu)) words.add(word.toLowerCase());
  }
  return words;
}

function tableLines(lines: readonly Line[]): Set<Line> {
  const found = new Set<Line>();
  let run: Line[] = [];
  const close = () => {
    if (run.length >= MIN_TABLE_ROWS) for (const line of run) found.add(line);
    run = [];
  };
  for (const line of lines) {
    const previous = run.at(-1);
    const isListed = LISTED_PAGE.test(line.text) || line.isMono;
    const isMark = line.cells.length === 2 && LIST_MARK.test(`${line.cells[0] ?? ""} x`);
    if (line.cells.length < 2 || isMark || isListed) close();
    else {
      if (
        previous !== undefined &&
        (previous.cells.length !== line.cells.length || previous.region !== line.region)
      )
        close();
      run.push(line);
    }
  }
  close();
  return found;
}
