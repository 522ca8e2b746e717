import type { Row } from "./pdf-lines.ts";

/** Lines at the top and at the bottom of a page that may repeat on others. */
const EDGE_ROWS = 2;
/** How far a repeated line may stand from where it stood on other pages, in points. */
const SAME_PLACE = 4;
const MIN_PAGES = 4;
/** On how many of the pages; left and right pages may differ. */
const MIN_SHARE = 0.4;
const MIN_NUMBER_SHARE = 0.1;
/** More than this share of the text is no furniture but what sparse pages (slides, forms) have to say. */
const MAX_TEXT_SHARE = 0.03;

/** The pages without the headers and footers that repeat on them, page numbers too; the first of each kind is kept. */
export function withoutFurniture(pages: readonly (readonly Row[])[]): (readonly Row[])[] {
  if (pages.length < MIN_PAGES) return [...pages];
  const places = new Map<string, { readonly page: number; readonly row: Row }[]>();
  for (const [page, rows] of pages.entries()) {
    for (const row of edgeRows(rows)) {
      const text = textOf(row)
        .replace(/\d+/g, "#")
        .replace(/\b[ivxlc]{1,7}\b/gi, "#")
        .trim();
      const baseline = row[0]?.baseline ?? 0;
      const key = keyNear(places, text, baseline);
      const found = places.get(key) ?? [];
      found.push({ page, row });
      places.set(key, found);
    }
  }

  const repeated = new Set<Row>();
  let chars = 0;
  for (const [key, found] of places) {
    // A bare page number says nothing even once, and stands left on one page and lower on another.
    const isNumber = key.startsWith("#@");
    const share = isNumber ? MIN_NUMBER_SHARE : MIN_SHARE;
    if (new Set(found.map(({ page }) => page)).size < Math.max(3, pages.length * share)) continue;
    for (const { row } of isNumber ? found : found.slice(1)) {
      repeated.add(row);
      chars += textOf(row).length;
    }
  }
  const total = pages.flat().reduce((sum, row) => sum + textOf(row).length, 0);
  if (chars > total * MAX_TEXT_SHARE) return [...pages];
  return pages.map((rows) => rows.filter((row) => !repeated.has(row)));
}

function edgeRows(rows: readonly Row[]): readonly Row[] {
  return rows.length <= 2 * EDGE_ROWS ? rows : [...rows.slice(0, EDGE_ROWS), ...rows.slice(-EDGE_ROWS)];
}

function keyNear(places: ReadonlyMap<string, unknown>, text: string, baseline: number): string {
  const place = Math.round(baseline / SAME_PLACE);
  const near = [place, place - 1, place + 1].map((at) => `${text}@${at}`);
  return near.find((key) => places.has(key)) ?? `${text}@${place}`;
}

const textOf = (row: Row) => row.map((segment) => segment.text).join(" ");
