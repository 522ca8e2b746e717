import type { MemoryPorts } from "../memories/memory-ports.ts";
import { dayIn } from "../text/calendar.ts";
import { estimateTokens, quoted, shortId } from "../text/text-size.ts";
import { chooseItems } from "./choose-items.ts";
import type { ContextItem } from "./context-item.ts";
import { type ContextInput, gatherItems } from "./gather-items.ts";
import { ANY_MARK, markedLines, markFor } from "./marked-lines.ts";

/**
 * The context of an agent at the start of a piece of work: standing preferences, decisions that hold, what is true now, what was
 * last worked on and what is open. Nothing superseded, nothing twice, nothing of documents. The same store at the same
 * moment gives the same answer. Counts for nothing as remembered.
 * @returns the items by kind as a text between two lines with a mark that stands nowhere else, empty without items; the items in the
 *   order of the text; and the text's tokens by `estimateTokens`, at most `maxTokens`.
 * @throws {ServiceError} MODEL_UNAVAILABLE, RATE_LIMITED (both with a query only), NOT_READY.
 */
export async function composeContext(ports: MemoryPorts, input: ContextInput) {
  const candidates = await gatherItems(ports, input);
  // The first prompt follows the start of a session, and does not wait long for an answer.
  ports.embedder.wake?.();
  const around = textOf(input, ANY_MARK, []);
  const left = input.maxTokens - estimateTokens(around);
  const lineCost = (line: string) => estimateTokens(line) + 1;
  const chosen = chooseItems(
    candidates,
    left,
    (item) => lineCost(lineOf(input, item, ports.timeZone)),
    (title) => lineCost(`${title}:`),
  );
  if (chosen.length === 0) return { text: "", items: [], tokens: 0 };
  const items = chosen.flatMap((part) =>
    part.items.map(({ value: _value, answer: _answer, isUnsure: _isUnsure, ...item }): ContextItem => item),
  );
  const lines = chosen.flatMap((part) => [
    `${part.title}:`,
    ...part.items.map((item) => lineOf(input, item, ports.timeZone)),
  ]);
  const text = textOf(input, markFor(lines, ports.sha256), lines);
  return { text, items, tokens: estimateTokens(text) };
}

function textOf({ project, userId }: ContextInput, mark: string, lines: readonly string[]): string {
  const where = project === undefined ? "all projects" : `project ${quoted(project)} and no project`;
  const who = userId === undefined ? "" : `, user ${quoted(userId)}`;
  return markedLines(`What memory holds for ${where}${who}`, mark, lines);
}

function lineOf({ project }: ContextInput, item: ContextItem, timeZone: string): string {
  const place = item.project === null || item.project === project ? "" : ` (project ${quoted(item.project)})`;
  return `- ${dayIn(item.at, timeZone)} ${shortId(item.id)}${place} ${item.text}`;
}
