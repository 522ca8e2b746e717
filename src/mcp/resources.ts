import { invalidRequest, notFound } from "../core/errors.ts";
import { ContextBody, DEFAULT_CONTEXT_TOKENS } from "../schemas/query-memory.ts";
import { type AgentContext, ownerCheck, idOf } from "./agent-context.ts";
import { note, notesPreface, quoted } from "./notes.ts";
import { Value } from "../schemas/typebox.ts";

/** Maximum length of a document's text in one resource, characters; as long as the longest memory. */
const MAX_DOCUMENT_CHARS = 200_000;
const MAX_CHUNKS = 1_000;

/** The text behind `memory://{id}` and `document://{id}`, between marks. @throws {ServiceError} NOT_FOUND. */
export async function readResource(context: AgentContext, uri: string): Promise<string> {
  const match = /^(memory|document):\/\/([^/?#]+)\/?$/i.exec(uri);
  if (match?.[1] === undefined || match[2] === undefined)
    throw notFound("There are resources memory://{id} and document://{id} only.");
  if (/^memory:\/\/context\/?$/i.test(uri)) return tellContext(context, {});
  const id = await idOf(context, match[2]);
  return match[1].toLowerCase() === "memory" ? readMemory(context, id) : readDocument(context, id);
}

/**
 * The context of the connection's project and user, as the prompt `context` and the resource have it.
 * @throws {ServiceError} INVALID_REQUEST.
 */
export async function tellContext(
  { operations, project, userId }: AgentContext,
  input: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const { query = "", max_tokens: tokens = String(DEFAULT_CONTEXT_TOKENS), scope } = input;
  const body = { query: query === "" ? null : query, max_tokens: Number(tokens) };
  if (!Value.Check(ContextBody, body))
    throw invalidRequest("query has at most 8192 characters, max_tokens is a number from 100 to 20000.");
  const { text } = await operations.composeContext({
    maxTokens: body.max_tokens,
    ...(query !== "" && { query }),
    ...(userId !== undefined && { userId }),
    ...(project !== null && scope !== "all" && { project }),
  });
  return text === "" ? "Memory holds nothing to tell at the start." : text;
}

async function readMemory(context: AgentContext, id: string): Promise<string> {
  const memory = await context.operations.getMemory({ id, ...ownerCheck(context) });
  const mark = context.newMark();
  return `${notesPreface(mark)}\n${note(mark, memory, memory.content, { now: context.clock.now() })}`;
}

async function readDocument({ documents, newMark, ...scope }: AgentContext, id: string): Promise<string> {
  const input = { id, ...ownerCheck(scope), limit: MAX_CHUNKS, offset: 0 };
  const { document, chunks, total } = await documents.getDocument(input);
  const mark = newMark();
  const from = document.url === null ? "file" : `web ${quoted(document.url)}`;
  const name = document.filename === null ? "" : ` name=${quoted(document.filename)}`;
  const parts = [
    notesPreface(mark),
    `[document ${mark} id=${id}${name} type=${document.mediaType} from=${from}]`,
  ];
  let [shown, chars] = [0, 0];
  for (const { content } of chunks) {
    chars += content.length;
    if (chars > MAX_DOCUMENT_CHARS) break;
    parts.push(content);
    shown += 1;
  }
  parts.push(`[end ${mark}]`);
  if (shown < total) parts.push("The document goes on; memory_search finds its other parts.");
  return parts.join("\n");
}
