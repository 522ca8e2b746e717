import { parse } from "csv-parse/sync";
import { Parser } from "htmlparser2";
import type { Block, ExtractionLimits } from "../../core/documents/extraction.ts";
import { separatorIn } from "../../files/file-kinds.ts";
import { cleanLine, type ReadDocument, tooMuchText } from "./clean-text.ts";
import { childrenOf, elementsOf, parseXml, textOf } from "./html-tree.ts";
import { officeProperties, relationshipsOf } from "./office-parts.ts";
import { openParts, type ZipParts } from "./zip.ts";

/** Empty cells between two cells stand in the row up to this column. */
const MAX_GAP_COLUMN = 1_000;

/**
 * An Excel workbook: each sheet that is not hidden as a table under its name, the first row as its header. Values are as last
 * calculated, or the formula where none was; dates and times are written as ISO 8601, numbers with the zeros
 * that their format puts before them. Comments follow the rows. Empty rows, charts and pictures are left out.
 * @throws {ServiceError} TOO_LARGE, UNPROCESSABLE
 */
export async function readWorkbook(bytes: Uint8Array, limits: ExtractionLimits): Promise<ReadDocument> {
  const parts = await openParts(bytes, limits);
  const workbook = elementsOf(parsePart(await parts.text("xl/workbook.xml")));
  const links = await relationshipsOf(parts, "xl/workbook.xml");
  const targets = new Map(links.map(({ id, target }) => [id, target]));
  const partOf = (type: string) => links.find((link) => link.type === type)?.target ?? "";
  const is1904 = workbook.some(
    ({ tag, attributes }) => tag === "workbookpr" && /^(?:1|true)$/.test(attributes["date1904"] ?? ""),
  );
  const cells: CellReading = {
    strings: await sharedStrings(parts, partOf("sharedStrings")),
    formats: numberFormats(await parts.text(partOf("styles"))),
    is1904,
  };

  const blocks: Block[] = [];
  let chars = 0;
  const add = (block: Block): void => {
    chars += block.text.length;
    if (chars > limits.maxChars) throw tooMuchText(limits);
    blocks.push(block);
  };
  for (const { tag, attributes } of workbook) {
    const part = targets.get(attributes["r:id"] ?? "");
    if (tag !== "sheet" || part === undefined || /^(?:very)?hidden$/i.test(attributes["state"] ?? ""))
      continue;
    let rows = 0;
    readRows(await parts.text(part), cells, (row) => {
      const name = cleanLine(attributes["name"] ?? "");
      if (rows === 0 && name !== "") add({ type: "heading", text: name, level: 1 });
      add({ type: "table-row", text: row, ...(rows === 0 && { isHeader: true }) });
      rows += 1;
    });
    for (const { type, target } of await relationshipsOf(parts, part))
      if (type === "comments")
        for (const text of commentsIn(await parts.text(target))) add({ type: "paragraph", text });
  }
  return { blocks, ...officeProperties(parseXml(await parts.text("docProps/core.xml"))) };
}

/**
 * The rows of CSV or another table in text, the first one as its header; undefined for a text that is none. Excel writes a line of its
 * own about the separator before it.
 */
export function readTable(text: string): Block[] | undefined {
  const blocks: Block[] = [];
  const [own = "", named] = /^\ufeff?sep=(.)\r?\n/i.exec(text) ?? [];
  const rows = text.slice(own.length);
  const [first = ""] = /^.*/.exec(rows) ?? [];
  const addRow = (cells: readonly string[]): null => {
    const texts = cells.map(cleanLine);
    const row = texts.slice(0, texts.findLastIndex((text) => text !== "") + 1).join(" | ");
    if (row !== "")
      blocks.push({ type: "table-row", text: row, ...(blocks.length === 0 && { isHeader: true }) });
    return null;
  };
  try {
    parse(rows, {
      bom: true,
      delimiter: named ?? separatorIn(first),
      relax_quotes: true,
      relax_column_count: true,
      skip_empty_lines: true,
      on_record: addRow,
    });
  } catch {
    return undefined;
  }
  return blocks[0]?.text.includes(" | ") ? blocks : undefined;
}

/** Comments of a sheet, each with its cell. */
function commentsIn(xml: string): string[] {
  return elementsOf(parsePart(xml), "comment").flatMap((comment) => {
    const parts = childrenOf(comment, "text").flatMap((child) => elementsOf(child, "t"));
    const text = cleanLine(parts.map(textOf).join(""));
    return text === "" ? [] : `Comment on ${cleanLine(comment.attributes["ref"] ?? "a cell")}: ${text}`;
  });
}

interface CellReading {
  readonly strings: readonly string[];
  readonly formats: readonly NumberFormat[];
  readonly is1904: boolean;
}

async function sharedStrings(parts: ZipParts, name: string): Promise<string[]> {
  const strings: string[] = [];
  let isText = false;
  let phonetics = 0;
  walk(await parts.text(name), {
    open(tag) {
      if (tag === "si") strings.push("");
      else if (tag === "rph") phonetics += 1;
      else if (tag === "t") isText = phonetics === 0;
    },
    text(text) {
      if (isText) strings.push(`${strings.pop() ?? ""}${text}`);
    },
    close(tag) {
      if (tag === "rph") phonetics -= 1;
      else if (tag === "t") isText = false;
    },
  });
  return strings.map(cleanLine);
}

/** Calls `onRow` with each row that is not empty, top to bottom. Holds one row at a time. */
function readRows(xml: string, reading: CellReading, onRow: (row: string) => void): void {
  let row: string[] = [];
  let cell:
    | {
        readonly type: string;
        readonly style: number;
        readonly column: number;
        value: string;
        formula: string;
      }
    | undefined;
  let isValue = false;
  let isFormula = false;
  walk(xml, {
    open(tag, { r = "", s = "0", t = "n" }) {
      if (tag === "row") row = [];
      else if (tag === "c") cell = { type: t, style: Number(s), column: columnOf(r), value: "", formula: "" };
      else if (tag === "v" || tag === "t") isValue = cell !== undefined;
      else if (tag === "f") isFormula = true;
    },
    text(text) {
      if (isValue && cell !== undefined) cell.value += text;
      if (isFormula && cell !== undefined) cell.formula += text;
    },
    close(tag) {
      if (tag === "v" || tag === "t") isValue = false;
      else if (tag === "f") isFormula = false;
      else if (tag === "c" && cell !== undefined) {
        while (row.length < Math.min(cell.column, MAX_GAP_COLUMN)) row.push("");
        const shown = shownCell(cell, reading);
        // A program that calculates nothing wrote it.
        row.push(shown === "" && cell.formula !== "" ? cleanLine(`=${cell.formula}`) : shown);
        cell = undefined;
      } else if (tag === "row") {
        const text = row.join(" | ").replace(/(?<![\s|])[\s|]+$/, "");
        if (/[^\s|]/.test(text)) onRow(text.trim());
      }
    },
  });
}

function shownCell(
  { type, style, value }: { readonly type: string; readonly style: number; readonly value: string },
  { strings, formats, is1904 }: CellReading,
): string {
  if (type === "s") return strings[Number(value)] ?? "";
  if (type === "b") return value === "1" ? "TRUE" : "FALSE";
  if (type !== "n" || value === "") return cleanLine(value);
  return shownNumber(Number(value), formats[style] ?? "plain", is1904);
}

/** The column of a reference such as `AB12`, from 0; 0 where there is none, which appends. */
function columnOf(reference: string): number {
  let column = 0;
  for (const letter of /^[A-Z]{1,3}/.exec(reference)?.[0] ?? "")
    column = column * 26 + letter.charCodeAt(0) - 64;
  return Math.max(0, column - 1);
}

/** The tree of a part. A workbook may write its own names with a prefix: `x:row`. */
const parsePart = (xml: string) => parseXml(xml.replace(/<(\/?)\w+:/g, "<$1"));

/** Walks XML without a tree of it, which a large sheet would pass the memory with. */
function walk(
  xml: string,
  handler: {
    open(tag: string, attributes: Readonly<Record<string, string>>): void;
    text(text: string): void;
    close(tag: string): void;
  },
): void {
  const plain = (tag: string) => tag.replace(/^\w+:/, "");
  const parser = new Parser(
    {
      onopentag: (tag, attributes) => handler.open(plain(tag), attributes),
      ontext: (text) => handler.text(text),
      onclosetag: (tag) => handler.close(plain(tag)),
    },
    { decodeEntities: true, lowerCaseTags: true, xmlMode: true },
  );
  parser.end(xml);
}

/** How a workbook shows its numbers: dates are numbers with a format; a number is the least count of digits before the point. */
export type NumberFormat = "plain" | "percent" | "date" | "elapsed" | number;
/** Digits of a format, at most. */
const MAX_DIGITS = 30;

const MS_PER_DAY = 86_400_000;
/** Day 0 of the two ways to count. Excel takes 1900 for a leap year: days before March 1900 are one later. */
const EPOCH_1900 = Date.UTC(1899, 11, 30);
const EPOCH_1904 = Date.UTC(1904, 0, 1);
const FIRST_MARCH_1900 = 61;
/** 9999-12-31. */
const LAST_DAY = 2_958_466;

/** The formats of a workbook's styles, by the number of the style (ECMA-376, 18.8.30). */
export function numberFormats(stylesXml: string): NumberFormat[] {
  const codes = new Map<number, string>();
  const formats: NumberFormat[] = [];
  for (const list of elementsOf(parsePart(stylesXml))) {
    const own = list.children.filter((child) => typeof child !== "string");
    for (const { tag, attributes } of own) {
      const id = Number(attributes["numFmtId"] ?? 0);
      if (tag === "numfmt") codes.set(id, attributes["formatCode"] ?? "");
      else if (list.tag === "cellxfs" && tag === "xf") formats.push(formatOf(id, codes.get(id)));
    }
  }
  return formats;
}

function formatOf(id: number, code: string | undefined): NumberFormat {
  if (code === undefined) {
    if (id === 9 || id === 10) return "percent";
    if (id === 46) return "elapsed";
    const isDate =
      (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 58 && id !== 48 && id !== 49);
    return isDate ? "date" : "plain";
  }
  if (/\[[hms]+\]/i.test(code)) return "elapsed";
  const marks = code.replace(/"[^"]*"|\\.|\[[^[\]]*\]|_./g, "");
  if (/general/i.test(marks)) return "plain";
  if (/[ymdhs]/i.test(marks)) return "date";
  const [zeros] = /^0{2,}(?=$|[;.])/.exec(marks) ?? [];
  if (zeros !== undefined) return Math.min(MAX_DIGITS, zeros.length);
  return marks.includes("%") ? "percent" : "plain";
}

/** A number as a reader takes it: `2026-11-21`, `2026-11-21 10:15`, `10:15`, `27:30`, `25.6%`, `0.3`. */
export function shownNumber(value: number, format: NumberFormat, is1904: boolean): string {
  if (!Number.isFinite(value)) return "";
  if (format === "percent") return `${exact(value * 100)}%`;
  if (typeof format === "number")
    return exact(value).replace(/\d+/, (digits) => digits.padStart(format, "0"));
  if (format === "elapsed") return clock(Math.round(value * 86_400));
  if (format !== "date" || value < 0 || value >= LAST_DAY) return exact(value);
  if (value < 1) return clock(Math.round(value * 86_400));
  const epoch = is1904 ? EPOCH_1904 : EPOCH_1900 + (value < FIRST_MARCH_1900 - 1 ? MS_PER_DAY : 0);
  const time = new Date(Math.round((epoch + value * MS_PER_DAY) / 1_000) * 1_000).toISOString();
  const seconds = time.slice(16, 19) === ":00" ? "" : time.slice(16, 19);
  return Number.isInteger(value) ? time.slice(0, 10) : `${time.slice(0, 10)} ${time.slice(11, 16)}${seconds}`;
}

/** Hours may pass 24. */
function clock(seconds: number): string {
  const two = (part: number) => String(part).padStart(2, "0");
  const rest = Math.abs(seconds) % 60;
  const minutes = Math.floor(Math.abs(seconds) / 60);
  const sign = seconds < 0 ? "-" : "";
  return `${sign}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}${rest === 0 ? "" : `:${two(rest)}`}`;
}

/** Without the last digits of binary fractions. */
const exact = (value: number) => String(Number(value.toPrecision(15)));
