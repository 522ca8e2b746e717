import { HEADING_RATIO, headingKey, longestOf, usualSize } from "./pdf-blocks.ts";
import type { Row } from "./pdf-lines.ts";

/** Lines at the top and at the bottom of a page that may repeat on others. */
const EDGE_ROWS = 2;
/** How far a repeated line may stand from where it stood on other pages, in points. */
const SAME_PLACE = 4;
/** From fewer pages only the numbers are removed: three equal lines prove little. */
const MIN_PAGES = 4;
/** Share of the pages with a repeated line; left and right pages may differ. */
const MIN_SHARE = 0.4;
const MIN_NUMBER_SHARE = 0.1;
/** Repeated lines with more than this share of the text are the content of sparse pages (slides, forms). */
const MAX_TEXT_SHARE = 0.03;
/** Share of a running header's numbers that count with the pages; single ones may be misprinted. */
const MIN_COUNTING_SHARE = 0.9;
/** Part of the text's size; no heading is smaller. */
const SMALL_PRINT = 0.95;

const NUMBER = /\d+|\b[ivxlc]{1,7}\b/gi;
/** A number by itself, "Page 3", "- 3 -", "3 of 20", "iv". */
const PAGE_NUMBER =
  /^[^\p{L}\p{N}]*(?:(?:page|pages|pg|seite|página|pagina|pág|pag|p|s)\b\.?\s*)?(\d{1,5}|[ivxlc]{1,7})(?:\s*(?:\/|\||-|–|of|von|de|di|sur|van|av)\s*\d{1,5})?[^\p{L}\p{N}]*$/iu;
/** Stands before a page number. */
const PAGE_WORD = /(?:page|pg\.?|seite|página|pagina|pág\.?|pag\.?|\bp\.|\bs\.)\s*$/iu;

interface EdgeRow {
  /** From 0. */
  readonly page: number;
  readonly row: Row;
  readonly text: string;
}

/**
 * The pages without their numbers and without the headers and footers that repeat on them, the first of each kept.
 *
 * Possible headings stay: a line in a heading's size, one that the document's outline lists, and one whose number
 * tells it from the others ("Chapter 7"), unless the number is the page's: set apart, in small print or after a word such as "page".
 */
export function withoutFurniture(
  pages: readonly (readonly Row[])[],
  outline: ReadonlyMap<string, number>,
): (readonly Row[])[] {
  const edges = pages.flatMap((rows, page) =>
    edgeRows(rows).map((row) => ({ page, row, text: textOf(row) })),
  );
  const furniture = pageNumbers(edges, pages.length);
  if (pages.length >= MIN_PAGES) {
    const bodySize = usualSize(pages.flat(2));
    const rest = edges.filter(
      ({ row, text }) =>
        !furniture.has(row) &&
        longestOf(row).size < bodySize * HEADING_RATIO &&
        !outline.has(headingKey(text)),
    );
    const repeated = repeatedRows(rest, pages.length, bodySize);
    const total = pages.flat().reduce((sum, row) => sum + textOf(row).length, 0);
    const chars = repeated.reduce((sum, row) => sum + textOf(row).length, 0);
    if (chars <= total * MAX_TEXT_SHARE) for (const row of repeated) furniture.add(row);
  }
  return pages.map((rows) => rows.filter((row) => !furniture.has(row)));
}

/** Page numbers anywhere at an edge, recognised by counting with the pages. */
function pageNumbers(edges: readonly EdgeRow[], pageCount: number): Set<Row> {
  const byOffset = new Map<number, EdgeRow[]>();
  for (const edge of edges) {
    const number = PAGE_NUMBER.exec(edge.text)?.[1];
    if (number === undefined) continue;
    const offset = valueOf(number) - edge.page;
    byOffset.set(offset, [...(byOffset.get(offset) ?? []), edge]);
  }
  const least = Math.max(pageCount < MIN_PAGES ? 2 : 3, pageCount * MIN_NUMBER_SHARE);
  const counting = Array.from(byOffset.values()).filter((rows) => pagesOf(rows) >= least);
  return new Set(counting.flat().map(({ row }) => row));
}

function repeatedRows(edges: readonly EdgeRow[], pageCount: number, bodySize: number): Row[] {
  const places = new Map<string, EdgeRow[]>();
  for (const edge of edges) {
    const key = keyNear(places, edge.text.replace(NUMBER, "#"), edge.row[0]?.baseline ?? 0);
    places.set(key, [...(places.get(key) ?? []), edge]);
  }
  return Array.from(places.values())
    .filter((found) => pagesOf(found) >= Math.max(3, pageCount * MIN_SHARE))
    .flatMap((found) => {
      if (isNumberedByPage(found, bodySize)) return found.slice(1).map(({ row }) => row);
      const seen = new Set<string>();
      return found.filter(({ text }) => seen.has(text) || !seen.add(text)).map(({ row }) => row);
    });
}

/** True where one of the numbers in lines alike is that of the page, and not that of a chapter. */
function isNumberedByPage(found: readonly EdgeRow[], bodySize: number): boolean {
  const [first] = found;
  const positions = first === undefined ? [] : Array.from(first.text.matchAll(NUMBER));
  return positions.some((match, position) => {
    const offsets = new Map<number, number>();
    for (const { page, text } of found) {
      const number = Array.from(text.matchAll(NUMBER))[position]?.[0];
      if (number === undefined) continue;
      const offset = valueOf(number) - page;
      offsets.set(offset, (offsets.get(offset) ?? 0) + 1);
    }
    if (Math.max(...offsets.values()) < found.length * MIN_COUNTING_SHARE) return false;
    return (
      PAGE_WORD.test(first?.text.slice(0, match.index) ?? "") ||
      found.every(
        ({ row }) =>
          longestOf(row).size < bodySize * SMALL_PRINT ||
          row.some(({ text }) => PAGE_NUMBER.test(text.trim())),
      )
    );
  });
}

const edgeRows = (rows: readonly Row[]): readonly Row[] =>
  rows.length <= 2 * EDGE_ROWS ? rows : [...rows.slice(0, EDGE_ROWS), ...rows.slice(-EDGE_ROWS)];

function keyNear(places: ReadonlyMap<string, unknown>, text: string, baseline: number): string {
  const place = Math.round(baseline / SAME_PLACE);
  const near = [place, place - 1, place + 1].map((at) => `${text}@${at}`);
  return near.find((key) => places.has(key)) ?? `${text}@${place}`;
}

const pagesOf = (edges: readonly EdgeRow[]) => new Set(edges.map(({ page }) => page)).size;

const ROMAN: Readonly<Record<string, number>> = { i: 1, v: 5, x: 10, l: 50, c: 100 };

function valueOf(number: string): number {
  if (/^\d/.test(number)) return Number(number);
  const digits = Array.from(number.toLowerCase(), (letter) => ROMAN[letter] ?? 0);
  return digits.reduce((sum, digit, n) => sum + (digit < (digits[n + 1] ?? 0) ? -digit : digit), 0);
}

const textOf = (row: Row) =>
  row
    .map((segment) => segment.text)
    .join(" ")
    .trim();
