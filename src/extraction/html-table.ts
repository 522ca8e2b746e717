import { elementsOf, type HtmlElement, textOf } from "./html-tree.ts";

/** Rows of a table, each with all its columns. */
export interface TableRow {
  /** One that spans rows or columns stands in each of them. */
  readonly cells: readonly HtmlElement[];
  /** It names the columns. */
  readonly isHeader: boolean;
}

/** Elements in a cell that mark a layout table, or a table within a table. */
const STRUCTURE = new Set([
  "table",
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
  "pre",
  "blockquote",
  "article",
  "section",
]);
/** A longer cell marks a layout table, too. */
const MAX_CELL_CHARS = 1_000;
/** Share of such cells that a table of data may have: a list in a cell, a table in a table. */
const MAX_ODD_SHARE = 0.25;
/** Share of the text that one of them may have. */
const MAX_ODD_TEXT_SHARE = 0.5;
/** In columns or rows; larger ones are mistakes or hostile. */
const MAX_SPAN = 100;
const MAX_COLUMNS = 1_000;

/** True for a table of data, false for one that lays out a page. */
export function isDataTable(table: HtmlElement): boolean {
  if (table.attributes["role"] === "presentation") return false;
  const rows = rowsOf(table).map(cellsOf);
  if (!rows.some((cells) => cells.length > 1)) return false;
  const cells = rows.flat();
  const odd = cells.filter((cell) => !isDatum(cell));
  if (odd.length === 0) return true;
  if (rows.length < 2 || odd.length > cells.length * MAX_ODD_SHARE) return false;
  const total = textOf(table).length;
  return odd.every((cell) => textOf(cell).length <= total * MAX_ODD_TEXT_SHARE);
}

/** The rows of a table, top to bottom. The first is also a header if all its text is bold and the others are not. */
export function tableRows(table: HtmlElement): TableRow[] {
  const rows = withSpans(rowsOf(table));
  const isMarked = (cells: readonly HtmlElement[]) =>
    cells.length > 0 && cells.every((cell) => cell.tag === "th");
  const hasMarked = rows.some(isMarked);
  const hasBoldHead = !hasMarked && rows.length > 1 && isBold(rows[0] ?? []) && !rows.slice(1).every(isBold);
  return rows.map((cells, n) => ({ cells, isHeader: isMarked(cells) || (n === 0 && hasBoldHead) }));
}

function withSpans(rows: readonly HtmlElement[]): HtmlElement[][] {
  /** By column: cells of rows above that reach down, and for how many rows. */
  let above = new Map<number, { readonly cell: HtmlElement; readonly rows: number }>();
  return rows.map((row) => {
    const cells: HtmlElement[] = [];
    const below: typeof above = new Map();
    const put = (cell: HtmlElement, rowsLeft: number) => {
      if (rowsLeft > 1) below.set(cells.length, { cell, rows: rowsLeft - 1 });
      cells.push(cell);
    };
    const putAbove = () => {
      for (let found = above.get(cells.length); found !== undefined; found = above.get(cells.length))
        put(found.cell, found.rows);
    };
    const own = cellsOf(row);
    for (const cell of own) {
      putAbove();
      // A single cell over all columns is a title, and stands once.
      const columns = own.length === 1 ? 1 : spanOf(cell, "colspan");
      for (let n = 0; n < columns && cells.length < MAX_COLUMNS; n += 1) put(cell, spanOf(cell, "rowspan"));
    }
    putAbove();
    above = below;
    return cells;
  });
}

function spanOf(cell: HtmlElement, name: "colspan" | "rowspan"): number {
  const span = Number(cell.attributes[name] ?? 1);
  return Number.isInteger(span) && span >= 1 ? Math.min(span, MAX_SPAN) : 1;
}

/** True if the cells have text and all of it is bold. */
function isBold(cells: readonly HtmlElement[]): boolean {
  const plain = (element: HtmlElement): string =>
    element.children
      .map((child) => {
        if (typeof child === "string") return child;
        return child.tag === "strong" || child.tag === "b" ? "" : plain(child);
      })
      .join("");
  return cells.every((cell) => plain(cell).trim() === "") && cells.some((cell) => textOf(cell).trim() !== "");
}

function rowsOf(table: HtmlElement): HtmlElement[] {
  const rows: HtmlElement[] = [];
  for (const child of table.children) {
    if (typeof child === "string") continue;
    if (child.tag === "tr") rows.push(child);
    else if (/^t(?:head|body|foot)$/.test(child.tag)) rows.push(...rowsOf(child));
  }
  return rows;
}

function cellsOf(row: HtmlElement): HtmlElement[] {
  return row.children.filter(
    (child): child is HtmlElement => typeof child !== "string" && (child.tag === "td" || child.tag === "th"),
  );
}

function isDatum(cell: HtmlElement): boolean {
  for (const element of elementsOf(cell)) if (STRUCTURE.has(element.tag)) return false;
  return textOf(cell).trim().length <= MAX_CELL_CHARS;
}
