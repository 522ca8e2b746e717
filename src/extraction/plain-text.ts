import type { Block } from "../core/documents/extraction.ts";
import { cleanText } from "./clean-text.ts";

/** Lines this much shorter than the longest were ended on purpose. */
const WRAPPED_SHARE = 0.6;
const MIN_WRAP_WIDTH = 50;
const MAX_WRAP_WIDTH = 120;

const LIST_MARK = /^[ \t]*(?:[-*•‣▪◦–]|\d{1,3}[.)])[ \t]+\S/;

/** Plain text in paragraphs, which empty lines part; lines wrapped at a width are joined, all others stay lines. */
export function plainTextBlocks(text: string): Block[] {
  return cleanText(text)
    .split(/\n[ \t]*(?:\n[ \t]*)+/)
    .flatMap((paragraph) => {
      const lines = paragraph.split("\n").map((line) => line.trimEnd());
      const joined = (isWrapped(lines) ? joinLines(lines) : lines.join("\n")).trim();
      return joined === "" ? [] : [{ type: "paragraph", text: joined } satisfies Block];
    });
}

function isWrapped(lines: readonly string[]): boolean {
  if (lines.length < 2) return false;
  const widths = lines.map((line) => line.length);
  const width = Math.max(...widths);
  if (width < MIN_WRAP_WIDTH || width > MAX_WRAP_WIDTH) return false;
  if (
    lines.some(
      (line, n) =>
        LIST_MARK.test(line) || (n > 0 && /^[ \t]/.test(line)) || /\S[ \t]{2,}\S|\t/.test(line.trim()),
    )
  )
    return false;
  return widths.slice(0, -1).every((length) => length > width * WRAPPED_SHARE);
}

function joinLines(lines: readonly string[]): string {
  return lines.map((line) => line.trim()).join(" ");
}
