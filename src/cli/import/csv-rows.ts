import { finished } from "node:stream/promises";
import { CsvError, parse, type Parser } from "csv-parse";
import { separatorIn } from "../../files/file-kinds.ts";
import { type Line, MAX_LINE_BYTES } from "./text-lines.ts";

export type CsvRow =
  | { readonly line: number; readonly cells: readonly string[] }
  | { readonly line: number; readonly fault: string };

const PART_CHARS = 64 * 1_024;
const FAULTS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: "has a quote that is not closed",
  CSV_MAX_RECORD_SIZE: `is longer than ${MAX_LINE_BYTES} characters`,
};

/** The first line of a table that Excel wrote for readers of other languages. */
const SEPARATOR = /^sep=.$/i;

/**
 * The rows of a CSV text (RFC 4180), each with the line it begins on; empty lines are skipped. A quote opens a cell only
 * at its beginning, elsewhere it is a character. The separator is the first line's: a comma, a semicolon, a tab or a bar. After
 * a row without an end nothing more is read.
 */
export async function* csvRows(lines: AsyncIterable<Line>): AsyncGenerator<CsvRow> {
  let parser: Parser | undefined;
  let lastLine = 0;
  let waiting = "";
  /** Read after each part, so that an error loses no row before it. */
  function* parsed(): Generator<CsvRow> {
    if (waiting !== "") parser?.write(waiting);
    waiting = "";
    for (let row = parser?.read() as Parsed | null; row; row = parser?.read() as Parsed | null) {
      const { record: cells, info } = row;
      const breaks = cells.reduce((count, cell) => count + cell.split("\n").length - 1, 0);
      lastLine = info.lines;
      yield { line: info.lines - breaks, cells };
    }
  }
  let error: Error | undefined;
  let named: string | undefined;
  for await (const line of lines) {
    let text = "text" in line ? line.text : "";
    if ("fault" in line) yield { line: line.number, fault: line.fault };
    if (parser === undefined && SEPARATOR.test(text)) [named, text] = [text.at(4), ""];
    parser ??= parse({
      delimiter: named ?? separatorIn(text),
      relax_quotes: true,
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: MAX_LINE_BYTES,
      info: true,
    }).on("error", (cause) => (error = cause));
    waiting += `${text}\n`;
    if (waiting.length >= PART_CHARS) yield* parsed();
    if (parser.errored !== null) break;
  }
  if (parser === undefined) return;
  if (parser.errored === null) yield* parsed();
  parser.end();
  yield* parsed();
  await finished(parser.resume()).catch(() => undefined);
  if (error === undefined) return;
  const fault = error instanceof CsvError ? FAULTS[error.code] : undefined;
  if (fault === undefined) throw error;
  yield { line: lastLine + 1, fault: `${fault}; nothing after it was read` };
}

type Parsed = { readonly record: readonly string[]; readonly info: { readonly lines: number } };
