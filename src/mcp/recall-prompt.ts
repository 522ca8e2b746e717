import { ServiceError } from "../core/errors.ts";
import { type AgentContext, readScope } from "./agent-context.ts";
import { answerNotes, asEntry } from "./memory-tools.ts";
import { originOf } from "./notes.ts";

const SNIPPET_CHARS = 300;
const NOTES = 10;
/** Looked at, so that enough remain without those from web pages. */
const CANDIDATES = 60;
const TOKENS = 2_500;
const MAX_TOPIC = 8_192;

/** The text of the prompt `recall`: what is known on a topic, without what web pages said unless that is asked for. */
export async function recall(
  context: AgentContext,
  input: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const topic = (input["topic"] ?? "").trim();
  if (topic === "" || topic.length > MAX_TOPIC) {
    throw new ServiceError("INVALID_REQUEST", `recall needs a topic, of at most ${MAX_TOPIC} characters.`);
  }
  const withWeb = /^(?:y|yes|true|1)$/i.test(input["include_web"] ?? "");
  const scope = readScope(context, input["scope"] === "all" ? "all" : "project");
  const { hits, relevant } = await context.operations.queryMemory({
    query: topic,
    limit: CANDIDATES,
    snippetChars: SNIPPET_CHARS,
    filter: scope.filter,
  });
  const entries = hits
    .slice(0, relevant)
    .filter(({ memory }) => withWeb || originOf(memory) !== "web")
    .slice(0, NOTES)
    .map(asEntry);
  const web = withWeb ? "" : " Notes from web pages are left out.";
  const notes = answerNotes(context, entries, { scope: scope.words, tokens: TOKENS, none: "Nothing found" });
  return `Recall what memory holds on ${JSON.stringify(topic)}, and use what is relevant to the task at hand.${web}\n\n${notes}`;
}
