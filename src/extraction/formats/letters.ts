/** What letters are written in beside Word: OpenDocument texts (ODT) and Rich Text Format (RTF). */
import type { ExtractionLimits } from "../../core/documents/extraction.ts";
import { unprocessable } from "../../core/errors.ts";
import { cleanDate, cleanField, cleanLanguage, plainTextBlocks, type ReadDocument } from "./clean-text.ts";
import { blocksOfHtml } from "./html-blocks.ts";
import { elementsOf, findElement, type HtmlElement, parseXml, textOf } from "./html-tree.ts";
import { openParts } from "./zip.ts";

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

/** A text in OpenDocument (ISO/IEC 26300): headings, paragraphs, lists and tables. @throws {ServiceError} TOO_LARGE, UNPROCESSABLE */
export async function readOpenDocument(bytes: Uint8Array, limits: ExtractionLimits): Promise<ReadDocument> {
  const parts = await openParts(bytes, limits);
  const manifest = parseXml(await parts.text("META-INF/manifest.xml"));
  if (findElement(manifest, ({ tag }) => tag === "manifest:encryption-data") !== undefined)
    throw unprocessable("The document is encrypted. Save it without a password and send that.");
  const content = parseXml(await parts.text("content.xml"));
  const body = findElement(content, ({ tag }) => tag === "office:text");
  const properties = new Map<string, string>();
  for (const element of elementsOf(parseXml(await parts.text("meta.xml"))))
    properties.set(element.tag, textOf(element));
  return {
    blocks: body === undefined ? [] : blocksOfHtml(asHtml(body)),
    title: cleanField(properties.get("dc:title")),
    author: cleanField(properties.get("meta:initial-creator") ?? properties.get("dc:creator")),
    date: cleanDate(properties.get("meta:creation-date")) ?? cleanDate(properties.get("dc:date")),
    language: cleanLanguage(properties.get("dc:language")),
  };
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

/** Groups whose text is no text of the document; so is each that begins with `\*`. */
const DESTINATIONS: ReadonlySet<string> = new Set(
  (
    "fonttbl colortbl stylesheet info pict object header headerl headerr headerf footer footerl footerr footerf listtable " +
    "listoverridetable rsidtbl generator xmlnstbl themedata colorschememapping latentstyles datastore fldinst"
  ).split(" "),
);
const SIGNS: Readonly<Record<string, string>> = {
  par: "\n",
  sect: "\n",
  page: "\n",
  row: "\n",
  line: "\n",
  cell: "\t",
  tab: "\t",
  emdash: "—",
  endash: "–",
  lquote: "‘",
  rquote: "’",
  ldblquote: "“",
  rdblquote: "”",
  bullet: "•",
  emspace: " ",
  enspace: " ",
  "~": "\u00a0",
  _: "-",
};
/** A control word with its number, a byte in hexadecimal, a control sign, a brace, or text. */
const TOKEN = /\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([\da-f]{2})|\\([^a-z])|([{}])|([^\\{}\r\n]+)|[\r\n]+/gi;

/** A text in Rich Text Format 1.9: its paragraphs, with the title and author that it names. Pictures and formats are left out. */
export function readRichText(source: string): ReadDocument {
  const codePage = Number(/\\ansicpg(\d{1,5})/.exec(source)?.[1] ?? 1252);
  /** The code page of each font that has one of its own. */
  const fonts = new Map<number, number>();
  const decoders = new Map<number, ReturnType<typeof decoderOf>>();
  const pageNow = () => fonts.get(state.font) ?? codePage;
  const decoderNow = () => {
    const page = pageNow();
    const decoder = decoders.get(page) ?? decoderOf(page);
    decoders.set(page, decoder);
    return decoder;
  };
  let text = "";
  let bytes: number[] = [];
  const info: { title?: string; author?: string } = {};
  /** Of the group that is open: whether its text is left out, which field of the document it is, and signs that stand for each \u. */
  let state: { isOut: boolean; field?: "title" | "author"; signs: number; font: number } = {
    isOut: false,
    signs: 1,
    font: Number(/\\deff(\d{1,5})/.exec(source)?.[1] ?? -1),
  };
  const outer: (typeof state)[] = [];
  let toSkip = 0;
  let isStart = false;
  const add = (part: string) => {
    if (state.field !== undefined) info[state.field] = (info[state.field] ?? "") + part;
    else if (!state.isOut) text += part;
  };
  const flush = () => {
    if (bytes.length > 0) add(decoderNow().decode(Uint8Array.from(bytes)));
    bytes = [];
  };
  for (const [, word, number, hex, sign, brace, plain] of source.matchAll(TOKEN)) {
    if (hex !== undefined) {
      if (toSkip > 0) toSkip -= 1;
      else bytes.push(Number.parseInt(hex, 16));
      continue;
    }
    // The second byte of a pair may stand there as a sign.
    const second = plain ?? (sign !== undefined && "\\{}".includes(sign) ? sign : undefined);
    const isPair = second !== undefined && PAIRED[pageNow()]?.(bytes) === true;
    if (isPair) bytes.push(second.charCodeAt(0));
    flush();
    if (isPair && plain === undefined) continue;
    const isFirst: boolean = isStart;
    isStart = brace === "{" || (isFirst && sign === "*");
    if (brace === "{") outer.push({ ...state });
    else if (brace === "}") {
      state = outer.pop() ?? state;
      toSkip = 0;
    } else if (sign === "*" && isFirst) state.isOut = true;
    else if (sign !== undefined) add("\\{}".includes(sign) ? sign : (SIGNS[sign] ?? ""));
    else if (plain !== undefined) {
      add(plain.slice(isPair ? 1 : toSkip));
      toSkip = Math.max(0, toSkip - plain.length);
    } else if (word !== undefined) {
      if (word === "f") state.font = Number(number ?? 0);
      else if (word === "fcharset") {
        const page = PAGES_OF_CHARSETS[Number(number)];
        if (page !== undefined) fonts.set(state.font, page);
      } else if (word === "uc") state.signs = Number(number ?? 1);
      else if (word === "u" && number !== undefined) {
        add(String.fromCharCode((Number(number) + 65_536) % 65_536));
        toSkip = state.signs;
      } else if (isFirst && (word === "title" || word === "author")) state.field = word;
      else if (isFirst && DESTINATIONS.has(word)) state.isOut = true;
      else add(SIGNS[word] ?? "");
    }
  }
  flush();
  return {
    blocks: plainTextBlocks(text.replace(/\n/g, "\n\n")),
    title: cleanField(info.title),
    author: cleanField(info.author),
  };
}

/** Code pages by the number that a font's `\fcharset` has for its characters. */
const PAGES_OF_CHARSETS: Readonly<Record<number, number>> = {
  128: 932,
  129: 949,
  134: 936,
  136: 950,
  161: 1253,
  162: 1254,
  163: 1258,
  177: 1255,
  178: 1256,
  186: 1257,
  204: 1251,
  222: 874,
  238: 1250,
};

/** Whether bytes of a code page end with the first of a pair. */
const endsOpen =
  (isLead: (byte: number) => boolean) =>
  (bytes: readonly number[]): boolean => {
    let isOpen = false;
    for (const byte of bytes) isOpen = !isOpen && isLead(byte);
    return isOpen;
  };
const isHigh = (byte: number) => byte >= 0x81 && byte <= 0xfe;
const PAIRED: Readonly<Record<number, (bytes: readonly number[]) => boolean>> = {
  932: endsOpen((byte) => isHigh(byte) && !(byte >= 0xa0 && byte <= 0xdf)),
  936: endsOpen(isHigh),
  949: endsOpen(isHigh),
  950: endsOpen(isHigh),
};

function decoderOf(codePage: number) {
  const names: Readonly<Record<number, string>> = {
    932: "shift_jis",
    936: "gbk",
    949: "euc-kr",
    950: "big5",
    65001: "utf-8",
  };
  try {
    return new TextDecoder(names[codePage] ?? `windows-${codePage}`);
  } catch {
    return new TextDecoder("windows-1252");
  }
}
