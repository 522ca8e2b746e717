import { unprocessable } from "../core/errors.ts";
import type { Block } from "../core/documents/extraction.ts";
import { cleanText, type ReadDocument } from "./clean-text.ts";
import { readMarkdown } from "./markdown.ts";

/** Longer outputs of a cell are cut: they are tables and logs. */
const MAX_OUTPUT_CHARS = 2_000;
// oxlint-disable-next-line no-control-regex
const TERMINAL_COLOURS = /\u001b\[[0-9;]*m/g;

type Json = Readonly<Record<string, unknown>>;

/**
 * A Jupyter notebook: its notes as Markdown, its code, and of outputs the text, at most 2 000 characters per cell.
 *
 * @throws {ServiceError} UNPROCESSABLE if it is none.
 */
export function readNotebook(text: string): ReadDocument {
  const cells = cellsOf(text);
  if (cells === undefined) {
    throw unprocessable("The file is no Jupyter notebook. Save it again as .ipynb.");
  }
  const blocks = cells.flatMap((cell): Block[] => {
    const source = linesOf(cell["source"] ?? cell["input"]);
    if (cell["cell_type"] === "markdown") return [...readMarkdown(source).blocks];
    if (cell["cell_type"] !== "code") return blockOf("paragraph", source);
    const output = objectsIn(cell["outputs"]).map(outputText).filter(Boolean).join("\n");
    const isCut = output.length > MAX_OUTPUT_CHARS;
    const shown = isCut ? `${output.slice(0, MAX_OUTPUT_CHARS)}…` : output;
    return [...blockOf("code", source), ...blockOf("code", shown)];
  });
  const heading = blocks.find((block) => block.type === "heading" && block.level === 1);
  return { blocks, title: heading?.text };
}

function cellsOf(text: string): Json[] | undefined {
  try {
    const notebook = JSON.parse(text) as Json | null;
    const { cells, worksheets } = notebook ?? {};
    // Before format 4 the cells stood in sheets.
    if (cells === undefined && worksheets === undefined) return undefined;
    return [...objectsIn(cells), ...objectsIn(worksheets).flatMap((sheet) => objectsIn(sheet["cells"]))];
  } catch {
    return undefined;
  }
}

function outputText(output: Json): string {
  const [data = {}] = objectsIn([output["data"]]);
  if (output["output_type"] === "error" || output["output_type"] === "pyerr")
    return `${linesOf(output["ename"])}: ${linesOf(output["evalue"])}`;
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
  const clean = cleanText(text.replace(TERMINAL_COLOURS, "")).replace(/^(?:[ \t]*\n)+|(?<!\s)\s+$/g, "");
  return clean === "" ? [] : [{ type, text: clean }];
}
