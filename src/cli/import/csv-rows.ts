import type { Line } from "./text-lines.ts";

export type CsvRow =
  | { readonly line: number; readonly cells: readonly string[] }
  | { readonly line: number; readonly fault: string };

const MAX_ROW_CHARS = 16 * 1_024 * 1_024;

/**
 * The rows of a CSV text (RFC 4180), each with the line it begins on. Cells may be quoted and then hold commas, line
 * ends and doubled quotes. The separator is what the first line has: a comma, a semicolon or a tab.
 */
export async function* csvRows(lines: AsyncIterable<Line>): AsyncGenerator<CsvRow> {
  let separator: string | undefined;
  let row: { readonly line: number; readonly parts: string[]; chars: number; isOpen: boolean } | undefined;
  for await (const line of lines) {
    if ("fault" in line) {
      yield { line: row?.line ?? line.number, fault: line.fault };
      row = undefined;
      continue;
    }
    row ??= { line: line.number, parts: [], chars: 0, isOpen: false };
    row.chars += line.text.length;
    if (row.chars <= MAX_ROW_CHARS) row.parts.push(line.text);
    if (countQuotes(line.text) % 2 === 1) row.isOpen = !row.isOpen;
    if (row.isOpen) continue;

    const text = row.parts.join("\n");
    if (row.chars > MAX_ROW_CHARS)
      yield { line: row.line, fault: `is longer than ${MAX_ROW_CHARS} characters` };
    else if (text !== "") {
      separator ??= separatorIn(text);
      yield { line: row.line, cells: cellsOf(text, separator) };
    }
    row = undefined;
  }
  if (row !== undefined) yield { line: row.line, fault: "has a quote that is not closed" };
}

function countQuotes(text: string): number {
  let count = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) count += 1;
  return count;
}

function separatorIn(header: string): string {
  const counts = [",", ";", "\t"].map((sign) => [sign, header.split(sign).length] as const);
  return counts.reduce((best, next) => (next[1] > best[1] ? next : best))[0];
}

/** Of a row whose quotes are closed. */
function cellsOf(row: string, separator: string): string[] {
  const cells: string[] = [];
  for (let at = 0; at <= row.length;) {
    if (row[at] === '"') {
      let end = row.indexOf('"', at + 1);
      while (end >= 0 && row[end + 1] === '"') end = row.indexOf('"', end + 2);
      const close = end < 0 ? row.length : end;
      cells.push(row.slice(at + 1, close).replaceAll('""', '"'));
      const next = row.indexOf(separator, close);
      at = next < 0 ? row.length + 1 : next + 1;
    } else {
      const next = row.indexOf(separator, at);
      cells.push(row.slice(at, next < 0 ? undefined : next));
      at = next < 0 ? row.length + 1 : next + 1;
    }
  }
  return cells;
}
