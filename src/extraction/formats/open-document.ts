import type { Block, ExtractionLimits } from "../../core/documents/extraction.ts";
import { unprocessable } from "../../core/errors.ts";
import { cleanLine, type ReadDocument } from "./clean-text.ts";
import { blocksOfHtml } from "./html-blocks.ts";
import { childrenOf, elementsOf, type HtmlElement, parseXml } from "./html-tree.ts";
import { officeProperties } from "./office-parts.ts";
import { openParts, type ZipParts } from "./zip.ts";

/** Elements of OpenDocument as those of HTML; all others stand for what is in them. */
const HTML_TAGS: Readonly<Record<string, string>> = {
  "text:p": "p",
  "text:list": "ul",
  "text:list-item": "li",
  "text:list-header": "li",
  "text:line-break": "br",
  "table:table": "table",
  "table:table-header-rows": "thead",
  "table:table-rows": "tbody",
  "table:table-row-group": "tbody",
  "table:table-row": "tr",
  "table:table-cell": "td",
};
/** Deleted text that is kept for tracking, comments, what is made from the text itself, and cells that are below one that spans them. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  "text:tracked-changes",
  "office:annotation",
  "text:table-of-content",
  "text:alphabetical-index",
  "office:forms",
  "table:covered-table-cell",
]);
/** Blanks in a row, at most. */
const MAX_BLANKS = 100;

/** Of rows and cells that are repeated and not empty. */
const MAX_REPEATED = 1_000;

/**
 * A text, spreadsheet or presentation in OpenDocument (ISO/IEC 26300): headings, paragraphs, lists and tables, then comments. Of a
 * spreadsheet as `readWorkbook` reads one, of a presentation as `readSlides` does.
 * @throws {ServiceError} TOO_LARGE, UNPROCESSABLE
 */
export async function readOpenDocument(bytes: Uint8Array, limits: ExtractionLimits): Promise<ReadDocument> {
  const parts = await openParts(bytes, limits);
  const manifest = parseXml(await parts.text("META-INF/manifest.xml"));
  if (elementsOf(manifest, "manifest:encryption-data")[0] !== undefined)
    throw unprocessable("The document is encrypted. Save it without a password and send that.");
  const content = parseXml(await parts.text("content.xml"));
  const bodyOf = (name: string) => elementsOf(content, name)[0];
  const [text, spreadsheet, slides] = ["office:text", "office:spreadsheet", "office:presentation"].map(
    bodyOf,
  );
  const pages = slides === undefined ? [] : childrenOf(slides, "draw:page");
  return {
    blocks: [
      ...(text === undefined ? [] : [...blocksOfHtml(asHtml(text)), ...commentsIn(text)]),
      ...(spreadsheet === undefined ? [] : sheetBlocks(spreadsheet, hiddenStyles(content))),
      ...(await Promise.all(pages.map((page, i) => slideBlocks(page, i + 1, parts)))).flat(),
    ],
    ...officeProperties(parseXml(await parts.text("meta.xml"))),
    ...(pages.length > 0 && { pages: pages.length }),
  };
}

/** What is in an element, in one line. */
const lineOf = (element: HtmlElement): string =>
  cleanLine(
    blocksOfHtml(asHtml(element))
      .map(({ text }) => text)
      .join(" "),
  );

function commentsIn(element: HtmlElement, place = ""): Block[] {
  return elementsOf(element, "office:annotation").flatMap((each) => {
    const text = childrenOf(each, "text:p").map(lineOf).join(" ");
    return text === "" ? [] : [{ type: "paragraph", text: `Comment${place}: ${text}` } as const];
  });
}

/** Styles of sheets that are hidden. */
function hiddenStyles(content: HtmlElement): ReadonlySet<string> {
  const hidden = elementsOf(content, "style:style").filter((style) =>
    childrenOf(style, "style:table-properties").some(
      ({ attributes }) => attributes["table:display"] === "false",
    ),
  );
  return new Set(hidden.map(({ attributes }) => attributes["style:name"] ?? ""));
}

function sheetBlocks(spreadsheet: HtmlElement, hidden: ReadonlySet<string>): Block[] {
  const blocks: Block[] = [];
  for (const sheet of childrenOf(spreadsheet, "table:table")) {
    if (hidden.has(sheet.attributes["table:style-name"] ?? "")) continue;
    const comments: Block[] = [];
    const rows: string[] = [];
    let number = 0;
    for (const row of elementsOf(sheet, "table:table-row")) {
      const cells: string[] = [];
      for (const cell of row.children) {
        if (typeof cell === "string" || !/^table:(?:covered-)?table-cell$/.test(cell.tag)) continue;
        comments.push(...commentsIn(cell, ` on ${columnName(cells.length)}${number + 1}`));
        const text = cell.tag === "table:table-cell" ? cellText(cell) : "";
        const repeated = Math.min(MAX_REPEATED, numberIn(cell.attributes, "columns-repeated"));
        cells.push(...Array<string>(repeated).fill(text));
      }
      const repeated = numberIn(row.attributes, "rows-repeated");
      number += repeated;
      const text = cells
        .join(" | ")
        .replace(/(?<![\s|])[\s|]+$/, "")
        .trim();
      if (/[^\s|]/.test(text)) rows.push(...Array<string>(Math.min(MAX_REPEATED, repeated)).fill(text));
    }
    const name = cleanLine(sheet.attributes["table:name"] ?? "");
    if (rows.length > 0 && name !== "") blocks.push({ type: "heading", text: name, level: 1 });
    blocks.push(
      ...rows.map((text, i): Block => ({ type: "table-row", text, ...(i === 0 && { isHeader: true }) })),
      ...comments,
    );
  }
  return blocks;
}

/** `A`, `B` … `Z`, `AA` … */
const columnName = (column: number): string =>
  (column < 26 ? "" : columnName(Math.trunc(column / 26) - 1)) + String.fromCharCode(65 + (column % 26));

/** A day as ISO 8601 writes it, a number without rounding, unless zeros before it are meant; all else as it is shown. */
function cellText(cell: HtmlElement): string {
  const shown = childrenOf(cell, "text:p").map(lineOf).join(" ");
  const day = cell.attributes["office:date-value"];
  if (day !== undefined) return day.replace("T", " ").replace(/(?<= \d\d:\d\d):00(?:\.0+)?$/, "");
  const isNumber = /^(?:float|currency)$/.test(cell.attributes["office:value-type"] ?? "");
  const value = cell.attributes["office:value"] ?? "";
  return isNumber && value !== "" && !/^\D{0,4}0\d/.test(shown) ? value : shown;
}

/** A slide: its title as a heading, its texts, lists, tables and charts, and its notes. */
async function slideBlocks(slide: HtmlElement, page: number, parts: ZipParts): Promise<Block[]> {
  const blocks: Block[] = [];
  let notes = "";
  for (const part of slide.children) {
    if (typeof part === "string") continue;
    if (part.tag === "presentation:notes")
      notes = elementsOf(part)
        .filter(({ attributes }) => attributes["presentation:class"] === "notes")
        .map(lineOf)
        .join("\n");
    else if (part.attributes["presentation:class"] === "title")
      blocks.push({ type: "heading", text: lineOf(part), level: 1 });
    else blocks.push(...blocksOfHtml(asHtml({ ...part, tag: "office:text" })));
    for (const { attributes } of elementsOf(part, "draw:object")) {
      const name = (attributes["xlink:href"] ?? "").replace(/^\.\//, "");
      if (name === "") continue;
      const chart = parseXml(await parts.text(`${name}/content.xml`));
      const table = elementsOf(chart, "table:table")[0];
      blocks.push(
        ...elementsOf(chart, "chart:title").map((title): Block => ({
          type: "paragraph",
          text: lineOf(title),
        })),
        ...(table === undefined
          ? []
          : blocksOfHtml(asHtml({ tag: "office:text", attributes: {}, children: [table] }))),
      );
    }
  }
  if (notes !== "") blocks.push({ type: "paragraph", text: `Notes: ${notes}` });
  return blocks.filter(({ text }) => text !== "").map((block) => ({ ...block, page }));
}

/** Of columns or rows; 1 where none is given. */
const numberIn = (attributes: HtmlElement["attributes"], name: string): number =>
  Math.max(1, Math.trunc(Number(attributes[`table:number-${name}`])) || 1);

function asHtml({ tag, attributes, children }: HtmlElement, isHead = false): HtmlElement {
  if (tag === "text:s") {
    const count = Math.min(MAX_BLANKS, Number(attributes["text:c"] ?? 1) || 1);
    return { tag: "span", attributes: {}, children: [" ".repeat(count)] };
  }
  if (tag === "text:tab") return { tag: "span", attributes: {}, children: ["\t"] };
  const spans = {
    colspan: String(numberIn(attributes, "columns-spanned") * numberIn(attributes, "columns-repeated")),
    rowspan: String(numberIn(attributes, "rows-spanned")),
  };
  const level = Math.min(6, Math.max(1, Number(attributes["text:outline-level"] ?? 1) || 1));
  const isCell = tag === "table:table-cell";
  const isInHead = (isHead && !isCell) || tag === "table:table-header-rows";
  return {
    tag:
      isCell && isHead
        ? "th"
        : tag === "text:h"
          ? `h${level}`
          : (HTML_TAGS[tag] ?? (tag === "office:text" ? "div" : "span")),
    attributes: isCell ? spans : {},
    children: children.flatMap((child) =>
      typeof child === "string" ? child : LEFT_OUT.has(child.tag) ? [] : asHtml(child, isInHead),
    ),
  };
}
