import { lexer, type Token, type Tokens } from "marked";
import type { Block } from "../core/documents/extraction.ts";
import { cleanDate, cleanField, cleanLanguage, cleanText, type ReadDocument } from "./clean-text.ts";
import { plainTextBlocks } from "./plain-text.ts";

/** Quotes and lists nested deeper become text. */
const MAX_DEPTH = 100;

/** Markdown in blocks, each with its inline marks as written. Front matter with unknown fields also stays as code. */
export function readMarkdown(source: string): ReadDocument {
  const text = cleanText(source);
  const { fields, rest, kept } = takeFrontMatter(text);
  const blocks = [...kept, ...blocksOf(rest)];
  const heading = blocks.find((block) => block.type === "heading" && block.level === 1);
  return {
    blocks,
    title: cleanField(fields.get("title")) ?? heading?.text,
    author: cleanField(fields.get("author") ?? fields.get("authors")),
    date: cleanDate(fields.get("date")),
    language: cleanLanguage(fields.get("lang") ?? fields.get("language")),
  };
}

const KNOWN_FIELDS = new Set(["title", "author", "authors", "date", "lang", "language"]);

function takeFrontMatter(text: string) {
  const match = /^---[ \t]*\n([\s\S]{0,65536}?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)/.exec(text);
  const fields = new Map<string, string>();
  if (match === null) return { fields, rest: text, kept: [] };
  const lines = (match[1] ?? "").split("\n");
  // A rule, some text and another rule are no front matter.
  if (!lines.some((line) => /^[\w-]+:(\s|$)/.test(line))) return { fields, rest: text, kept: [] };
  for (const line of lines) {
    const field = /^([\w-]+):\s+(\S.*)$/.exec(line);
    if (field?.[1] !== undefined)
      fields.set(field[1].toLowerCase(), (field[2] ?? "").replace(/^(["'])(.*)\1$/, "$2"));
  }
  const isAllRead = lines.every((line) =>
    KNOWN_FIELDS.has(/^([\w-]+):\s+\S/.exec(line)?.[1]?.toLowerCase() ?? ""),
  );
  const kept: Block[] = isAllRead ? [] : [{ type: "code", text: lines.join("\n").trim() }];
  return { fields, rest: text.slice(match[0].length), kept };
}

function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  try {
    for (const token of lexer(text)) addBlocks(token, 1, false, blocks);
    return blocks.filter((block) => block.text !== "");
  } catch (error) {
    // Nested beyond the stack: a hostile text.
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
      blocks.push({
        type: "code",
        text: (token as Tokens.Code).text.replace(/^(?:[ \t]*\n)+|(?<!\s)\s+$/g, ""),
      });
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
