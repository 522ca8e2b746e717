import { type ErrorCode, invalidRequest, ServiceError } from "../core/errors.ts";
import { nearestName } from "../core/text/near-words.ts";
import { AGENT_TOOLS, type AgentToolInput, type AgentToolName } from "../schemas/agent-tools.ts";
import { jsonOf } from "../schemas/json-limits.ts";
import { fieldFaults } from "../schemas/text-rules.ts";
import { type AgentContext, writeScope, countedAdd } from "./agent-context.ts";
import { endFact, lookUpFacts, recordFact, timeline, summarise } from "./fact-tools.ts";
import { add, get, list, reinforce, remove, search, update } from "./memory-tools.ts";
import { Compile } from "../schemas/typebox.ts";
import type { JobView } from "../core/documents/ingest-jobs.ts";
import { shortId } from "../core/text/text-size.ts";
import { refuseSecrets } from "../core/text/find-secret.ts";
import { present } from "../schemas/wire.ts";

/** A tool's result in MCP's form: the text only, without a structured copy of it. */
export interface ToolAnswer {
  content: { type: "text"; text: string }[];
  isError?: true;
  [key: string]: unknown;
}

type Run<Name extends AgentToolName> = (
  context: AgentContext,
  input: AgentToolInput<Name>,
) => string | Promise<string>;

const RUN: { readonly [Name in AgentToolName]: Run<Name> } = {
  memory_search: search,
  memory_get: get,
  memory_add: add,
  memory_update: update,
  memory_delete: remove,
  memory_list: list,
  memory_reinforce: reinforce,
  memory_summary: summarise,
  fact_record: recordFact,
  fact_end: endFact,
  fact_lookup: lookUpFacts,
  fact_timeline: timeline,
  ingest_text: ingestText,
  ingest_url: ingestUrl,
};

const CHECKS = new Map(
  (Object.keys(AGENT_TOOLS) as AgentToolName[]).map((name) => [name, Compile(AGENT_TOOLS[name].input)]),
);

/**
 * Runs one tool. What goes wrong is answered in words that an agent can act on.
 * @param report gets errors that are faults of memoryd.
 */
export async function runTool(
  context: AgentContext,
  name: AgentToolName,
  input: unknown,
  report: (error: unknown) => void,
): Promise<ToolAnswer> {
  try {
    const run = RUN[name] as (context: AgentContext, input: unknown) => string | Promise<string>;
    return { content: [{ type: "text", text: await run(context, checked(name, input)) }] };
  } catch (error) {
    if (!(error instanceof ServiceError)) report(error);
    return failed(error);
  }
}

function checked(name: AgentToolName, input: unknown): unknown {
  const check = CHECKS.get(name);
  const value = plainly(AGENT_TOOLS[name].input, input ?? {});
  // Ignored, a misspelt condition or time would make the tool do something else, and say that it is done.
  const known = Object.keys(AGENT_TOOLS[name].input.properties);
  const unknown = Object.keys(value).find((field) => !known.includes(field) && !field.startsWith("_"));
  if (unknown !== undefined) {
    const hint = nearestName(unknown, known) ?? known.join(", ");
    throw invalidRequest(`${name} knows no ${unknown}; nothing was done. Meant may be: ${hint}.`);
  }
  if (check === undefined || check.Check(value)) return value;
  const fields = fieldFaults(check.Errors(value), "");
  const [first] = fields;
  const what = first === undefined ? "it does not fit" : `${first.path.slice(1) || "it"} ${first.message}`;
  throw invalidRequest(`The input of ${name} is not valid: ${what}.`, { fields });
}

interface InputSchema {
  readonly properties: object;
  readonly required?: readonly string[] | undefined;
}

interface FieldSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly items?: FieldSchema;
}

/**
 * The input with each argument as the type that it has to be, where it plainly means one: numbers and flags in words, lists as JSON, with
 * commas or as a single one, numbers and flags where a text is wanted, an empty text as left out. Anything else stays, and is refused.
 */
function plainly({ properties, required = [] }: InputSchema, input: unknown): object {
  const parsed = typeof input === "string" ? jsonOf(input) : input;
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return Object(input) as object;
  const fields = properties as Readonly<Record<string, FieldSchema | undefined>>;
  const known = Object.entries(parsed).map(([name, value]) => {
    const isLeftOut = value === "" && name !== "content" && !required.includes(name);
    return [name, isLeftOut ? undefined : plainValue(fields[name], value)] as const;
  });
  return Object.fromEntries(known.filter(([, value]) => value !== undefined));
}

function plainValue(schema: FieldSchema | undefined, value: unknown): unknown {
  if (schema === undefined) return value;
  const types = new Set<string>([schema.type ?? []].flat());
  if (Array.isArray(value)) return value.map((one) => plainValue(schema.items, one));
  if (typeof value === "number" || typeof value === "boolean")
    return types.size === 1 && types.has("string") ? String(value) : value;
  if (typeof value !== "string") return value;
  const text = value.trim();
  if (types.has("array")) {
    const list = jsonOf(text);
    if (Array.isArray(list)) return plainValue(schema, list);
    return text.split(",").flatMap((one) => one.trim() || []);
  }
  if (types.has("string") || schema.enum !== undefined) return value;
  if (types.has("boolean") && /^(?:true|false)$/i.test(text)) return text.toLowerCase() === "true";
  const isNumeric = types.has("integer") || types.has("number");
  return isNumeric && /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : value;
}

/** An error as an agent reads it: the code, and what to do. */
export function failed(error: unknown): ToolAnswer {
  const { code, message } = messageOf(error);
  return { content: [{ type: "text", text: `${code}: ${message}` }], isError: true };
}

export function messageOf(error: unknown): { readonly code: ErrorCode; readonly message: string } {
  if (error instanceof ServiceError) return error;
  return { code: "INTERNAL", message: "Something went wrong inside memoryd; its log says more." };
}

/** How long a call waits for its document; agents give up a call after a minute or so. */
const WAIT_MS = 40_000;

async function ingestText(context: AgentContext, input: AgentToolInput<"ingest_text">): Promise<string> {
  refuseSecrets(input.allow_secret, [input.text, input.title ?? ""]);
  const { documents } = context;
  return ingest(context, async () => {
    const incoming = await documents.receiveFile();
    try {
      await incoming.write(new TextEncoder().encode(input.text));
      const file = await incoming.keep();
      return await documents.ingest({
        original: { file },
        claimedType: "md",
        ...present({ tags: input.tags, metadata: input.title ? { title: input.title } : undefined }),
        ...writeScope(context),
      });
    } finally {
      await incoming.discard();
    }
  });
}

export async function ingestUrl(context: AgentContext, input: AgentToolInput<"ingest_url">): Promise<string> {
  return ingest(context, () =>
    context.documents.ingest({
      original: { url: input.url },
      publicOnly: true,
      ...present({ tags: input.tags }),
      ...writeScope(context),
    }),
  );
}

async function ingest(context: AgentContext, submit: () => Promise<JobView>): Promise<string> {
  const { job } = await countedAdd(context, async () => {
    const { id } = await submit();
    const seen = await context.documents.awaitJob({ id: id }, AbortSignal.timeout(WAIT_MS));
    if (seen.problem !== undefined) throw new ServiceError(seen.problem.code, seen.problem.message);
    return { job: seen, deduplicated: seen.result?.deduplicated ?? false };
  });
  return outcome(job);
}

function outcome(job: JobView): string {
  if (job.result === undefined)
    return job.status === "cancelled"
      ? "The job was cancelled; nothing was stored."
      : `Still being ingested, as job ${job.id}. It will be found by memory_search when it is done.`;
  const { document, memoryIds, deduplicated } = job.result;
  const stored = deduplicated ? "Nothing new: the same document is there already" : "Stored";
  const notes = `${memoryIds.length} ${memoryIds.length === 1 ? "note" : "notes"}`;
  return `${stored}: document=${document.id}, ${notes}; memory_delete ${shortId(document.rootMemoryId)} removes it.`;
}
