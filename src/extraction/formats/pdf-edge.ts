/** Text that runs over the edge of its page, which pdf.js cuts within the word: the rest is in the page's operators. */
import type { TextRun } from "./pdf-lines.ts";

/** Operators of a page with their arguments, by pdf.js's numbers. */
export interface PageOperators {
  readonly fnArray: readonly number[];
  readonly argsArray: readonly unknown[];
}

/** A space between glyphs in thousandths of the font's size, from which on it parts words. */
const WORD_SPACE = 200;
/** A shorter run may stand anywhere in the operators. */
const MIN_RUN_CHARS = 4;

/** Whether a run ends at the edge, as one that goes on behind it does. */
export const isAtEdge = ({ transform: [a = 1, b = 0, , , x = 0], width }: TextRun, edge: number): boolean =>
  b === 0 && a > 0 && x < edge && x + width > edge - a;

/**
 * The runs, those at the right edge with the rest of their lines. Lines that begin behind the edge stay left out. Runs come in the
 * order of the operators, so each is looked for behind the one before.
 */
export function withTextBehindEdge<Run extends TextRun>(
  runs: readonly Run[],
  edge: number,
  operators: PageOperators,
  names: Readonly<Record<string, number>>,
): Run[] {
  const written = linesIn(operators, names).join("\n");
  // What is no space, and where it stands.
  const solid = written.replace(/\s+/g, "");
  const places = Array.from(written.matchAll(/\S/g), ({ index }) => index);
  let end = 0;
  const found = runs.map(({ str }) => {
    const text = str.replace(/\s+/g, "");
    const start = text === "" ? -1 : solid.indexOf(text, end);
    const isSure = start === end || text.length >= MIN_RUN_CHARS;
    if (start >= 0) end = start + text.length;
    return { start, end: start >= 0 && isSure ? end : -1 };
  });
  return runs.map((run, i) => {
    const after = found[i]?.end ?? -1;
    if (after < 0 || !isAtEdge(run, edge)) return run;
    const next = found.slice(i + 1).find(({ start }) => start >= 0)?.start ?? places.length;
    const rest = written.slice((places[after - 1] ?? 0) + 1, places[next] ?? written.length);
    return { ...run, str: run.str + (rest.split("\n", 1)[0] ?? "").trimEnd() };
  });
}

/** The lines of text that a page's operators write. */
function linesIn({ fnArray, argsArray }: PageOperators, names: Readonly<Record<string, number>>): string[] {
  const lines = [""];
  const breaks = new Set([names["setTextMatrix"], names["nextLine"], names["beginText"]]);
  const moves = new Set([names["moveText"], names["setLeadingMoveText"]]);
  for (const [i, operator] of fnArray.entries()) {
    const args = argsArray[i] as readonly unknown[] | null;
    if (breaks.has(operator) || (moves.has(operator) && args?.[1] !== 0)) lines.push("");
    else if (operator === names["showText"]) lines.push((lines.pop() ?? "") + textOf(args?.[0]));
  }
  return lines;
}

function textOf(glyphs: unknown): string {
  if (!Array.isArray(glyphs)) return "";
  return glyphs
    .map((glyph: unknown) => {
      if (typeof glyph === "number") return glyph < -WORD_SPACE ? " " : "";
      const { unicode } = (glyph ?? {}) as { unicode?: unknown };
      return typeof unicode === "string" ? unicode : "";
    })
    .join("");
}
