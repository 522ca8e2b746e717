import { arrayOf, type Formed, integer, nullable, number, optional, record, string } from "../json-form.ts";
import { CliFailure, EXIT } from "./cli-failure.ts";
import { clockTime } from "../core/text/clock-time.ts";
import { connect } from "./daemon-client.ts";
import { oneLine, paint, print, printJson } from "./output.ts";

export interface QueryOptions {
  readonly k?: number;
  readonly user?: string;
  readonly project?: string;
  readonly session?: string;
  readonly tag?: readonly string[];
  readonly sector?: string;
  readonly from?: string;
  readonly to?: string;
  readonly minScore?: number;
  readonly json?: boolean;
}

/** Enough to recognise a memory by, and a few lines of a terminal. */
const SNIPPET_CHARS = 240;

const Match = record({
  id: string,
  content: string,
  snippet: optional(string),
  score: number,
  primary_sector: string,
  occurred_at: string,
  tags: arrayOf(string),
  source: optional(
    nullable(
      record({
        filename: optional(nullable(string)),
        chunk_index: integer,
        page: optional(integer),
        start_ms: optional(integer),
        url: optional(string),
      }),
    ),
  ),
});
const Answer = record({ matches: arrayOf(Match) });

/** Prints the memories that answer the words best, the best first. */
export async function query(dataDir: string, words: readonly string[], options: QueryOptions): Promise<void> {
  const text = words.join(" ");
  if (text.trim() === "") {
    throw new CliFailure("There is nothing to look for; give the question as arguments.", {
      exitCode: EXIT.usage,
    });
  }

  const daemon = await connect(dataDir);
  const answer = await daemon.call(Answer, "POST", "/memory/query", {
    query: text,
    k: options.k,
    user_id: options.user,
    snippet: options.json === true ? undefined : SNIPPET_CHARS,
    filters: {
      project: options.project,
      session_id: options.session,
      tags: options.tag,
      sector: options.sector,
      from: options.from,
      to: options.to,
      min_score: options.minScore,
    },
  });
  if (options.json === true) printJson(answer);
  else if (answer.matches.length === 0) print("Nothing found.");
  else answer.matches.forEach((match, index) => printMatch(match, index + 1));
}

function printMatch(match: Formed<typeof Match>, rank: number): void {
  const place = `${rank}.`.padStart(3);
  const day = match.occurred_at.slice(0, "YYYY-MM-DD".length);
  const tags = match.tags.map((tag) => ` #${oneLine(tag)}`).join("");
  const score = paint("strong", match.score.toFixed(2));
  print(`${place} ${score}  ${oneLine(match.snippet ?? match.content)}`);
  print(paint("faint", `          ${day} · ${match.primary_sector}${tags}${placeOf(match)} · ${match.id}`));
}

/** Where it stands in a document: "talk.mp4 12:31", "report.pdf p. 4". */
function placeOf({ source }: Formed<typeof Match>): string {
  if (source === undefined || source === null) return "";
  const { filename, url, chunk_index: index, page, start_ms: startMs } = source;
  const time = startMs === undefined ? undefined : clockTime(startMs);
  // The root stands for the whole.
  const where = index < 0 ? undefined : (time ?? (page === undefined ? undefined : `p. ${page}`));
  const words = [oneLine(filename ?? url ?? ""), where].filter((word) => word !== undefined && word !== "");
  return words.length === 0 ? "" : ` · ${words.join(" ")}`;
}
