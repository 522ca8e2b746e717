import type { Block, BlockType } from "../../core/documents/extraction.ts";
import { cleanText, withoutEmptyEnds } from "./clean-text.ts";
import { type HtmlElement, elementsOf, textOf } from "./html-tree.ts";

/** Never text of the document. */
const SKIPPED = new Set(
  (
    "script style template noscript svg canvas iframe object embed audio video map head title " +
    "button select option textarea input datalist progress meter dialog rp"
  ).split(" "),
);

/** Elements that begin and end a block; all others run on within a line. */
const BLOCK_TAGS = new Set(
  (
    "html body main article section header footer nav aside div p address figure figcaption details summary fieldset legend " +
    "form hgroup search center dl dt dd ul ol menu li table caption thead tbody tfoot tr td th h1 h2 h3 h4 h5 h6 " +
    "blockquote pre hr"
  ).split(" "),
);

interface WalkOptions {
  /** Links whose address stands behind their text: `[text](https://…)`; never in headings. */
  readonly keepsLink?: (address: string) => boolean;
  /** Leaves an element out with all below it. */
  readonly skips?: (element: HtmlElement) => boolean;
}

type Context = { readonly type: BlockType; readonly level?: number };

const PARAGRAPH: Context = { type: "paragraph" };

/** The blocks of a tree, in document order. */
export const blocksOfHtml = (root: HtmlElement, options: WalkOptions = {}): Block[] =>
  new BlockWalk(options).run(root);

class BlockWalk {
  readonly #options: WalkOptions;
  readonly #blocks: Block[] = [];
  #line = "";
  /** The mark of a list item, for its next text. */
  #mark = "";
  #listDepth = 0;

  constructor(options: WalkOptions) {
    this.#options = options;
  }

  run(root: HtmlElement): Block[] {
    this.#walkChildren(root, PARAGRAPH);
    this.#flush(PARAGRAPH);
    return this.#blocks;
  }

  #walkChildren(element: HtmlElement, context: Context): void {
    for (const child of element.children) {
      if (typeof child === "string") this.#line += child.replace(/[\s\u200b]+/g, " ");
      else if (!isHidden(child) && this.#options.skips?.(child) !== true) this.#walk(child, context);
    }
  }

  #walk(element: HtmlElement, context: Context): void {
    const { tag } = element;
    if (tag === "br") this.#line += "\n";
    else if (tag === "a") this.#walkLink(element, context);
    else if (!BLOCK_TAGS.has(tag)) this.#walkChildren(element, context);
    else {
      this.#flush(context);
      this.#walkBlock(element, context);
    }
  }

  #walkBlock(element: HtmlElement, context: Context): void {
    const heading = /^h([1-6])$/.exec(element.tag);
    if (heading !== null) {
      this.#within(element, { type: "heading", level: Number(heading[1]) });
      return;
    }
    switch (element.tag) {
      case "pre":
        this.#add("code", withoutEmptyEnds(cleanText(preformatted(element))));
        return;
      case "blockquote":
        this.#within(element, context.type === "list-item" ? context : { type: "quote" });
        return;
      case "ul":
      case "ol":
      case "menu":
        this.#walkList(element);
        return;
      case "table":
        this.#walkTable(element, context);
        return;
      default:
        this.#within(element, context);
    }
  }

  #within(element: HtmlElement, context: Context): void {
    this.#walkChildren(element, context);
    this.#flush(context);
  }

  #walkList(list: HtmlElement): void {
    this.#listDepth += 1;
    const level = this.#listDepth;
    let number = Number(list.attributes["start"] ?? 1);
    for (const child of list.children) {
      if (typeof child === "string" || isHidden(child) || this.#options.skips?.(child) === true) continue;
      if (child.tag === "li") {
        this.#mark = list.tag === "ol" ? `${number}. ` : "- ";
        number += 1;
        this.#within(child, { type: "list-item", level });
        this.#mark = "";
      } else this.#walk(child, { type: "list-item", level });
    }
    this.#listDepth -= 1;
  }

  #walkTable(table: HtmlElement, context: Context): void {
    if (!isDataTable(table)) {
      this.#within(table, context);
      return;
    }
    const caption = elementsOf(table, "caption")[0];
    if (caption !== undefined) this.#within(caption, PARAGRAPH);
    for (const { cells, isHeader } of tableRows(table)) {
      const texts = new Map(cells.map((cell) => [cell, this.#cellText(cell)]));
      const text = cells.map((cell) => texts.get(cell)).join(" | ");
      if (text.replace(/[\s|]/g, "") === "") continue;
      this.#blocks.push({ type: "table-row", text: text.trim(), ...(isHeader ? { isHeader } : {}) });
    }
  }

  #cellText(cell: HtmlElement): string {
    const blocks = new BlockWalk(this.#options).run(cell);
    // A table within a cell becomes a list: its cells do not belong to this row.
    return blocks
      .map(({ type, text }) => (type === "table-row" ? `${text.replaceAll(" | ", ", ")};` : text))
      .map((text) => text.replace(/(?<!\s)\s*\n\s*/g, " "))
      .join(" ")
      .replace(/;$/, "");
  }

  #walkLink(link: HtmlElement, context: Context): void {
    const before = this.#line.length;
    const blocksBefore = this.#blocks.length;
    this.#walkChildren(link, context);
    const address = (link.attributes["href"] ?? "").trim();
    if (context.type === "heading" || !isAddress(address) || this.#options.keepsLink?.(address) !== true)
      return;
    const text = this.#line.slice(before).trim();
    if (this.#blocks.length > blocksBefore || text === "" || text === address) return;
    this.#line = `${this.#line.slice(0, before)}${/^\s/.test(this.#line.slice(before)) ? " " : ""}[${text}](${address})`;
  }

  #flush({ type, level }: Context): void {
    const text = cleanText(this.#line)
      .replace(/[ \t]+/g, " ")
      .replace(/ ?\n ?/g, "\n")
      .replace(/\n{3,}/g, "\n\n")
      .trim();
    this.#line = "";
    if (text === "") return;
    if (type !== "list-item" || this.#mark !== "") {
      this.#add(type, type === "heading" ? text.replaceAll("\n", " ") : this.#mark + text, level);
    } else this.#continueItem(text, level);
    this.#mark = "";
  }

  /** A further paragraph of an item belongs to it, unless another block came between. */
  #continueItem(text: string, level: number | undefined): void {
    const last = this.#blocks.at(-1);
    if (last?.type === "list-item" && last.level === level) {
      this.#blocks[this.#blocks.length - 1] = { ...last, text: `${last.text}\n${text}` };
    } else this.#add("paragraph", text);
  }

  #add(type: BlockType, text: string, level?: number): void {
    if (text.trim() !== "") this.#blocks.push({ type, text, ...(level === undefined ? {} : { level }) });
  }
}

export function isHidden({ tag, attributes }: HtmlElement): boolean {
  return (
    SKIPPED.has(tag) ||
    attributes["hidden"] !== undefined ||
    attributes["aria-hidden"] === "true" ||
    /display\s*:\s*none|visibility\s*:\s*hidden/i.test(attributes["style"] ?? "")
  );
}

/** Longer addresses are for programs. */
const MAX_ADDRESS_CHARS = 2_000;

function isAddress(address: string): boolean {
  return address.length <= MAX_ADDRESS_CHARS && /^(?:https?|mailto):[^\s()]+$/i.test(address);
}

function preformatted(element: HtmlElement): string {
  return element.children
    .map((child) =>
      typeof child === "string"
        ? child
        : child.tag === "br"
          ? "\n"
          : isHidden(child)
            ? ""
            : preformatted(child),
    )
    .join("");
}

/** Rows of a table, each with all its columns. */
export interface TableRow {
  /** One that spans rows or columns stands in each of them. */
  readonly cells: readonly HtmlElement[];
  /** It names the columns. */
  readonly isHeader: boolean;
}

/** Elements in a cell that mark a layout table, or a table within a table. */
const STRUCTURE = new Set("table h1 h2 h3 h4 h5 h6 pre blockquote article section".split(" "));
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

const isDatum = (cell: HtmlElement): boolean =>
  !elementsOf(cell).some(({ tag }) => STRUCTURE.has(tag)) && textOf(cell).trim().length <= MAX_CELL_CHARS;
