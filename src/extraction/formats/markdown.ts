import { lexer, type Token, type Tokens } from "marked";
import type { Block } from "../../core/documents/extraction.ts";
import type { Metadata } from "../../core/memory.ts";
import { readFrontMatter } from "../../files/front-matter.ts";
import {
  cleanField,
  cleanLanguage,
  cleanLine,
  cleanText,
  cleanTime,
  type ReadDocument,
  plainTextBlocks,
  withoutEmptyEnds,
} from "./clean-text.ts";
import { unprocessable } from "../../core/errors.ts";
import { jsonOf } from "../../files/own-files.ts";

/** Quotes and lists nested deeper become text. */
const MAX_DEPTH = 100;

/**
 * Markdown in blocks, each with its inline marks as written. Front matter is read as an import of notes reads it, and is no text;
 * where it is too long or not YAML it stays as code, and fields that are too long for metadata do too.
 * @param name of the file, without its extension.
 */
export function readMarkdown(source: string, name = ""): ReadDocument {
  const text = cleanText(source);
  const note = readFrontMatter(text, name);
  if ("fault" in note) return withHeading(blocksOf(note.body), note.yaml);
  const { author, authors, lang, language, ...others } = note.others;
  const occurredAt = note.date === undefined ? undefined : cleanTime(note.date);
  const metadata = JSON.parse(JSON.stringify(others), cleanValue) as Metadata;
  const isLong = JSON.stringify(metadata).length > MAX_METADATA_CHARS || isDeep(metadata);
  const tags = [note.tags].flat().flatMap((tag) => tagOf(tag) ?? []);
  return {
    ...withHeading(blocksOf(note.body), isLong ? note.yaml : "", cleanField(note.title)),
    author: cleanField([author ?? authors].flat().join(", ")),
    language: cleanLanguage(lang ?? language),
    date: occurredAt,
    occurredAt,
    ...(tags.length > 0 && { tags: tags.slice(0, MAX_TAGS) }),
    ...(!isLong && Object.keys(metadata).length > 0 && { metadata }),
  };
}

/** Larger front matter stays text: metadata is part of every chunk. */
const MAX_METADATA_CHARS = 4_096;
const MAX_METADATA_DEPTH = 32;
const MAX_TAGS = 32;
const MAX_TAG_CHARS = 128;

function cleanValue(key: string, value: unknown): unknown {
  if (key === "__proto__" || cleanText(key) !== key) return undefined;
  return typeof value === "string" ? cleanText(value) : value;
}

function isDeep(value: unknown, depth = 0): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth >= MAX_METADATA_DEPTH || Object.values(value).some((inner) => isDeep(inner, depth + 1));
}

function tagOf(tag: unknown): string | undefined {
  const text = typeof tag === "string" ? cleanLine(tag) : "";
  return text !== "" && text.length <= MAX_TAG_CHARS ? text : undefined;
}

function withHeading(text: readonly Block[], code = "", title?: string) {
  const blocks: Block[] = code === "" ? [...text] : [{ type: "code", text: code.trim() }, ...text];
  const heading = blocks.find((block) => block.type === "heading" && block.level === 1);
  return { blocks, title: title ?? heading?.text };
}

/** Quotes and lists deeper than the parser should recurse: at the end of the stack V8 ends the process where it has to compile a pattern. */
const NESTED_TOO_DEEP = /^[ \t]*(?:>[ \t]*|[*+-][ \t]+|\d{1,9}[.)][ \t]+){500}/m;

function blocksOf(text: string): Block[] {
  if (NESTED_TOO_DEEP.test(text)) return plainTextBlocks(text);
  const blocks: Block[] = [];
  try {
    for (const token of lexer(text)) addBlocks(token, 1, false, blocks);
    return blocks.filter((block) => block.text !== "");
  } catch (error) {
    // Nested beyond the stack in another way: a hostile text.
    if (error instanceof RangeError) return plainTextBlocks(text);
    throw error;
  }
}

function addBlocks(token: Token, depth: number, isQuoted: boolean, blocks: Block[]): void {
  const paragraph = isQuoted ? "quote" : "paragraph";
  const raw = token.raw.trim();
  if (depth > MAX_DEPTH) {
    blocks.push({ type: paragraph, text: raw });
    return;
  }
  switch (token.type) {
    case "space":
    case "hr":
      return;
    case "heading": {
      const { depth: level, text } = token as Tokens.Heading;
      blocks.push({ type: "heading", text: text.trim(), level });
      return;
    }
    case "code":
      blocks.push({ type: "code", text: withoutEmptyEnds((token as Tokens.Code).text) });
      return;
    case "blockquote":
      for (const inner of (token as Tokens.Blockquote).tokens) addBlocks(inner, depth + 1, true, blocks);
      return;
    case "list":
      addItems(token as Tokens.List, depth, isQuoted, blocks);
      return;
    case "table":
      addRows(token as Tokens.Table, blocks);
      return;
    case "html":
      // Comments are the writer's notes to himself.
      blocks.push({ type: paragraph, text: raw.replace(/<!--(?:(?!<!--|-->)[\s\S])*-->/g, "").trim() });
      return;
    default:
      blocks.push({ type: paragraph, text: raw });
  }
}

function addItems(list: Tokens.List, depth: number, isQuoted: boolean, blocks: Block[]): void {
  const first = list.start === "" ? 1 : list.start;
  for (const [n, item] of list.items.entries()) {
    const mark = list.ordered ? `${first + n}. ` : "- ";
    const box = item.task ? (item.checked === true ? "[x] " : "[ ] ") : "";
    const isOwn = (token: Token) => token.type === "text" || token.type === "paragraph";
    const own = item.tokens
      .filter(isOwn)
      .map((token) => token.raw.trim())
      .join("\n");
    // A task's box is taken off by the lexer in some places and left in others.
    blocks.push({
      type: "list-item",
      text: (mark + box + own.replace(/^\[[ xX]\]\s+/, "")).trim(),
      level: depth,
    });
    for (const token of item.tokens) {
      if (!isOwn(token) && token.type !== "checkbox") addBlocks(token, depth + 1, isQuoted, blocks);
    }
  }
}

function addRows(table: Tokens.Table, blocks: Block[]): void {
  const rowOf = (cells: readonly Tokens.TableCell[]) =>
    cells
      .map((cell) => cell.text.trim())
      .join(" | ")
      .trim();
  blocks.push({ type: "table-row", text: rowOf(table.header), isHeader: true });
  for (const row of table.rows) blocks.push({ type: "table-row", text: rowOf(row) });
}

/** Longer outputs of a cell are cut: they are tables and logs. */
const MAX_OUTPUT_CHARS = 2_000;

type Json = Readonly<Record<string, unknown>>;

/**
 * A Jupyter notebook: its notes as Markdown, its code, and of outputs the text, at most 2 000 characters per cell.
 * @throws {ServiceError} UNPROCESSABLE if it is none.
 */
export function readNotebook(text: string): ReadDocument {
  const { cells } = Object(jsonOf(text)) as Json;
  if (cells === undefined) throw unprocessable("The file is no Jupyter notebook. Save it again as .ipynb.");
  const blocks = objectsIn(cells).flatMap((cell): Block[] => {
    const source = linesOf(cell["source"]);
    if (cell["cell_type"] === "markdown") return [...readMarkdown(source).blocks];
    if (cell["cell_type"] !== "code") return blockOf("paragraph", source);
    const output = objectsIn(cell["outputs"]).map(outputText).filter(Boolean).join("\n");
    const isCut = output.length > MAX_OUTPUT_CHARS;
    const shown = isCut ? `${output.slice(0, MAX_OUTPUT_CHARS)}…` : output;
    return [...blockOf("code", source), ...blockOf("code", shown)];
  });
  return withHeading(blocks);
}

function outputText(output: Json): string {
  const [data = {}] = objectsIn([output["data"]]);
  if (output["output_type"] === "error") return `${linesOf(output["ename"])}: ${linesOf(output["evalue"])}`;
  return linesOf(data["text/plain"] ?? output["text"]);
}

function objectsIn(value: unknown): Json[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  return list.filter((each): each is Json => typeof each === "object" && each !== null);
}

/** Text is one string or a list of lines. */
function linesOf(value: unknown): string {
  return [value]
    .flat()
    .filter((line) => typeof line === "string")
    .join("");
}

function blockOf(type: "code" | "paragraph", text: string): Block[] {
  const clean = withoutEmptyEnds(cleanText(text));
  return clean === "" ? [] : [{ type, text: clean }];
}
