import { invalidRequest } from "../core/errors.ts";
import { type AgentToolInput, DEFAULT_ANSWER_TOKENS } from "../schemas/agent-tools.ts";
import { formatTime } from "../schemas/wire.ts";
import type { AgentContext } from "./agent-context.ts";
import { factLine } from "./fact-tools.ts";
import { fitting, notesPreface, quoted } from "./notes.ts";

/** The summary of the connection's user, each highlight with the id of its note. */
export async function summarise(
  context: AgentContext,
  input: AgentToolInput<"memory_summary">,
): Promise<string> {
  const { operations, userId } = context;
  if (userId === undefined) {
    throw invalidRequest(
      "A summary is of one user, and this connection names none; use memory_search, or connect with a user.",
    );
  }
  const summary = await operations.userSummary({ userId });
  const { memories, firstMemoryAt, lastMemoryAt, highlights, facts, keyPhrases } = summary;
  const mark = context.newMark();
  const lines = [
    ...highlights.map(({ memoryId, text }) => `- ${quotedWhole(text)} (id=${memoryId})`),
    ...facts.map((fact) => `- fact: ${factLine(fact)}`),
    ...(keyPhrases.length === 0 ? [] : [`- key phrases: ${keyPhrases.map(quoted).join(", ")}`]),
  ];
  const { shown, left } = fitting(lines, input.max_tokens ?? DEFAULT_ANSWER_TOKENS);
  const dates = [firstMemoryAt, lastMemoryAt].flatMap((time) =>
    time === null ? [] : [formatTime(time).slice(0, 10)],
  );
  return [
    `User ${quoted(userId)}: ${memories} ${memories === 1 ? "note" : "notes"}${dates.length === 2 ? `, ${dates.join(" to ")}` : ""}.`,
    notesPreface(mark),
    `[note ${mark} summary]`,
    ...shown,
    `[end ${mark}]`,
    ...(left > 0 ? [`${left} lines more; raise max_tokens to see them.`] : []),
  ].join("\n");
}

/** On one line, so that a highlight cannot pass for the next one. */
function quotedWhole(text: string): string {
  return JSON.stringify(text.replace(/\s+/g, " "));
}
