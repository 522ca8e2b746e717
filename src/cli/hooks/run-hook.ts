import { once } from "node:events";
import { statSync, writeSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { Context, QueryResult } from "../../client/client.ts";
import { type Fields, isObject } from "../../config/narrow.ts";
import { namedByPath, projectOfFolder } from "../mcp/project-of-folder.ts";
import {
  consentFor,
  HOOK_KINDS,
  type HookAgent,
  isBorrowed,
  isHookAgent,
  type Moment,
  MOMENTS,
} from "./hook-kinds.ts";
import { noteEnded, startCapture } from "./capture.ts";
import { type HookConsent, noteMiss, noteTold, readHookState, toldTo } from "./hook-state.ts";
import { createHash, randomBytes } from "node:crypto";
import { ANY_MARK, markedLines, markFor } from "../../core/context/marked-lines.ts";
import { estimateTokens, oneLine, shortened, shortId } from "../../core/text/text-size.ts";
import { Agent, type IncomingMessage, request } from "node:http";
import type { Duplex } from "node:stream";
import { proofOf, readRuntimeInfo, type RuntimeInfo } from "../../daemon/runtime-file.ts";

/** From the start of the process to its end; the agent waits for it. */
const WITHIN_MS: Readonly<Record<Moment, number>> = { start: 2_000, prompt: 800, end: 800 };
/** Kept for writing the answer and ending. */
const ENDING_MS = 20;
/** How much longer a hook that is late waits for its input, which the agent has written by then: it says whose context is owed. */
const READING_MS = 200;
const MAX_INPUT_BYTES = 1_024 * 1_024;

const CONTEXT_TOKENS = 1_200;
const PROMPT_TOKENS = 500;
const MATCHES = 8;
/** A match that perhaps answers is told with this score: of 104 on everyday notes 71 were right, and one was far from the question. */
const NEAR_AN_ANSWER = 0.7;
/** A fact is told with this score: of 21 questions to 20 facts, 19 gave the right one more, and no fact had over 0.6 for 40 other prompts. */
const FACT_ANSWERS = 0.7;
const SNIPPET_CHARS = 300;
/** A longer prompt is asked by its beginning and its end; the daemon finds what is asked in it. */
const MAX_QUESTION_CHARS = 8_000;
const MAX_SESSION_CHARS = 200;

type Input = Fields;

/** One run of the hook. */
interface Occasion {
  readonly agent: HookAgent;
  readonly moment: Moment;
  readonly dataDir: string;
  readonly input: Input;
  readonly consent: HookConsent;
  readonly project: string;
}

/**
 * Does what an agent's hook is for and ends the process, with 0, within `WITHIN_MS` of its start. Prints what the agent is to be
 * told, or nothing: where nothing answers, the daemon is gone or late, or there is no consent. A context that a session did
 * not get at its start is told at its next prompt.
 * @param words agent, moment, data directory; `--within=MS` in tests.
 */
export async function runHook(words: readonly string[]): Promise<void> {
  const [agent, moment, dataDir] = words;
  if (!isHookAgent(agent) || !isMoment(moment) || dataDir === undefined) process.exit(0);
  const given = words.find((word) => word.startsWith("--within="))?.slice("--within=".length);
  const within = Number(given ?? WITHIN_MS[moment]);
  let asked: Occasion | undefined;
  let hasWaited = false;
  const giveUp = (): void => {
    if (asked === undefined && !hasWaited) {
      hasWaited = true;
      setTimeout(giveUp, READING_MS);
      return;
    }
    try {
      noteMiss(dataDir, "late", agent, moment);
    } finally {
      process.exit(0);
    }
  };
  setTimeout(giveUp, Math.max(0, within - ENDING_MS - performance.now()));
  try {
    const input = await readInput();
    const occasion = input && occasionOf(agent, moment, dataDir, input);
    if (occasion !== undefined && moment === "end") capture(occasion);
    else if (occasion !== undefined) await answer((asked = occasion));
  } catch {
    // The agent goes on without what memory holds.
  }
  process.exit(0);
}

const isMoment = (word: string | undefined): word is Moment => MOMENTS.some((moment) => moment === word);

/** Undefined where there is no consent, or nothing is told or kept of the project. */
function occasionOf(agent: HookAgent, moment: Moment, dataDir: string, input: Input): Occasion | undefined {
  const { paused, excluded, agents } = readHookState(dataDir);
  const consent = agents[agent];
  if (paused || consent === undefined || isBorrowed(agent, input)) return undefined;
  if (!consent[consentFor(moment)]) return undefined;
  const folder = folderOf(input);
  const own = projectOfFolder(folder) ?? namedByPath(folder);
  const project = consent.project ?? own;
  if (excluded.includes(own) || excluded.includes(project)) return undefined;
  return { agent, moment, dataDir, input, consent, project };
}

async function answer(occasion: Occasion): Promise<void> {
  const { agent, moment, dataDir, input } = occasion;
  const session = sessionOf(input);
  // Owed until it is told: the daemon may be late, or not run yet.
  if (moment === "start" && session !== "") noteTold(dataDir, session, null);
  const call = await reachDaemon(dataDir).catch(() => undefined);
  if (call === undefined) return noteMiss(dataDir, "alone", agent, moment);
  const telling = await (moment === "start"
    ? contextAtStart(call, occasion)
    : relevantAtPrompt(call, occasion));
  const event = HOOK_KINDS[agent].events[moment];
  if (telling === undefined || event === undefined) return;
  const { text, told } = telling;
  if (text !== "") writeSync(1, `${JSON.stringify(HOOK_KINDS[agent].answer(text, event))}\n`);
  noteTold(dataDir, session, told);
}

/** The text, and all that the session has been told then. */
async function contextAtStart(call: DaemonCall, { consent, project }: Occasion) {
  const body = { project, max_tokens: CONTEXT_TOKENS, ...owner(consent) };
  const reply = await call<Context>("/context", body);
  return reply && { text: reply.text, told: toldNow(reply.items) };
}

/** As told when this process started: what changed since then is told again. */
const toldNow = (items: readonly { readonly id: string }[]): Record<string, number> =>
  Object.fromEntries(items.map(({ id }) => [id, Math.floor(performance.timeOrigin)]));

/** As `contextAtStart`. */
async function relevantAtPrompt(call: DaemonCall, occasion: Occasion) {
  const known = toldTo(occasion.dataDir, sessionOf(occasion.input));
  const found = await answersTo(call, occasion);
  const context = known === null ? await contextAtStart(call, occasion) : undefined;
  const before = { ...known, ...context?.told };
  const isNew = ({ id, updated_at }: Answer) => Date.parse(updated_at) > (before[id] ?? -Infinity);
  const { text, told } = toldText(found.filter(isNew), PROMPT_TOKENS);
  const parts = [context?.text ?? "", text].filter((part) => part !== "");
  // Without an answer the context is owed still.
  const isOwed = known === null && context === undefined;
  if (parts.length === 0 && (isOwed || known !== null)) return undefined;
  return { text: parts.join("\n"), told: isOwed ? null : { ...before, ...toldNow(told) } };
}

const textOf = ({ snippet, content }: { readonly snippet?: string; readonly content: string }): string =>
  snippet ?? shortened(content, SNIPPET_CHARS);

type Answer = ToldMemory & { readonly updated_at: string };

/** The answers to the prompt or, if there are none, to the question at its end. */
async function answersTo(call: DaemonCall, occasion: Occasion): Promise<Answer[]> {
  const query = questionOf(occasion.input["prompt"]);
  const found = query === "" ? [] : await answersToQuery(call, query, occasion);
  const last = found.length === 0 ? lastQuestion(query) : undefined;
  return last === undefined ? found : await answersToQuery(call, last, occasion);
}

/** The last of several sentences, if it is a question of two words that may tell something. */
function lastQuestion(text: string): string | undefined {
  const last = text.split(/(?<=[.!?;:])\s+|(?<=[。！？])|\n/u).at(-1) ?? "";
  const words = last.match(/[\p{L}\p{N}\p{M}]{4,}/gu) ?? [];
  return last !== text && /[?？؟]$/u.test(last) && words.length > 1 ? last : undefined;
}

/** The facts, then the memories that answer, best first. */
async function answersToQuery(
  call: DaemonCall,
  query: string,
  { consent, project }: Occasion,
): Promise<Answer[]> {
  const reply = await call<QueryResult>("/memory/query", {
    query,
    k: MATCHES,
    snippet: SNIPPET_CHARS,
    filters: { project: [project, null] },
    ...owner(consent),
  });
  const facts = (reply?.facts ?? [])
    .filter(({ score }) => score >= FACT_ANSWERS)
    .map(({ id, valid_from, updated_at, subject, predicate, object }) => {
      const text = shortened([subject, predicate.replaceAll("_", " "), object].join(" "), SNIPPET_CHARS);
      return { id, occurred_at: valid_from, updated_at, text };
    });
  // Others wrote the text of documents and web pages, so it is told only when it is asked for. A summary repeats what was asked
  // before, so it would come first where the same is asked again; what was kept of its conversation is told by itself.
  const memories = (reply?.matches ?? [])
    .filter(({ level, score }) => level === "answer" || (level === "perhaps" && score >= NEAR_AN_ANSWER))
    .filter(({ source, superseded_how }) => source === null && superseded_how !== "told")
    .filter(({ metadata }) => metadata["kind"] !== "summary")
    .map(({ id, occurred_at, updated_at, superseded_by: by, ...memory }) => {
      const text = `${textOf(memory)}${by === null ? "" : ` (perhaps replaced by ${shortId(by)})`}`;
      return { id, occurred_at, updated_at, text };
    });
  return [...facts, ...memories];
}

/** Notes that the conversation ended, for the case that no daemon runs, and starts its import. */
function capture({ agent, dataDir, input, consent }: Occasion): void {
  const path = input["transcript_path"];
  if (typeof path !== "string" || !isAbsolute(path)) return;
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return;
  const { user, project } = consent;
  const session = { agent, path, user, project };
  noteEnded(dataDir, session);
  startCapture(dataDir, session);
}

const owner = ({ user }: HookConsent): { readonly user_id?: string } =>
  user === undefined ? {} : { user_id: user };

function folderOf({ cwd, workspace_roots: roots }: Input): string {
  const named = [cwd, ...(Array.isArray(roots) ? (roots as unknown[]) : [])];
  const found = named.find((path) => typeof path === "string" && isAbsolute(path));
  return (found as string | undefined) ?? process.cwd();
}

function sessionOf({ session_id, sessionId, conversation_id }: Input): string {
  const id = [session_id, sessionId, conversation_id].find((name) => typeof name === "string");
  return (id ?? "").slice(0, MAX_SESSION_CHARS);
}

function questionOf(prompt: unknown): string {
  if (typeof prompt !== "string") return "";
  const text = prompt.trim();
  const half = MAX_QUESTION_CHARS / 2;
  const part = text.length <= 2 * half ? text : `${text.slice(0, half)}\n${text.slice(-half)}`;
  // The daemon refuses halves of surrogate pairs.
  return part.replace(/\p{Cs}/gu, "\ufffd");
}

/** The JSON object on standard input, read to its end so that the agent can write it; undefined for anything else. */
async function readInput(): Promise<Input | undefined> {
  const bytes = Buffer.concat(await process.stdin.toArray());
  if (bytes.length > MAX_INPUT_BYTES) return undefined;
  const value: unknown = JSON.parse(bytes.toString("utf8").replace(/^\ufeff/, ""));
  return isObject(value) ? value : undefined;
}

/** A memory or a fact that is told, on one line; a fact since when it holds. */
export type ToldMemory = { readonly id: string; readonly occurred_at: string; readonly text: string };

/** Begins the sentence before the memories. */
const WHAT = "What memory holds on this";

/**
 * Memories as an agent is told them: between lines with a mark that their text does not hold and no one can foresee without
 * all of it. The same memories give the same text. Those that do not fit are left out, the last ones first; "" for none.
 */
export function toldText(memories: readonly ToldMemory[], maxTokens: number) {
  const told: ToldMemory[] = [];
  const lines: string[] = [];
  let left = maxTokens - estimateTokens(markedLines(WHAT, ANY_MARK, []));
  for (const memory of memories) {
    const line = `- ${dayOf(memory.occurred_at)} ${shortId(memory.id)} ${oneLine(memory.text)}`;
    left -= estimateTokens(line) + 1;
    if (left < 0) break;
    told.push(memory);
    lines.push(line);
  }
  return { text: lines.length === 0 ? "" : markedLines(WHAT, markFor(lines, sha256), lines), told };
}

const DAY_MS = 86_400_000;

/** The day of a time as clocks here show it, as in contexts: midnight in UTC is a day without a time. */
const dayOf = (time: string): string =>
  Date.parse(time) % DAY_MS === 0 ? time.slice(0, 10) : new Date(time).toLocaleDateString("sv");

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

const CHALLENGE_BYTES = 32;

/** Asks the daemon of a data directory with a POST; undefined for every answer but success. */
export type DaemonCall = <Answer>(path: string, body: object) => Promise<Answer | undefined>;

/**
 * A way to the daemon that the data directory names, once that daemon has proved to be it, on the same connection; undefined
 * otherwise. Like `findDaemon`, without the modules that take longer to load than a hook may run.
 */
export async function reachDaemon(dataDir: string): Promise<DaemonCall | undefined> {
  const runtime = readRuntimeInfo(dataDir);
  if (runtime === undefined) return undefined;
  const connection = await connectionTo(runtime);
  const challenge = randomBytes(CHALLENGE_BYTES).toString("base64url");
  const { response } = await exchange(connection, "GET", "/health", { "x-memoryd-challenge": challenge });
  if (response.headers["x-memoryd-proof"] !== proofOf(runtime, challenge)) return undefined;
  return async <Answer>(path: string, body: object) => {
    const headers = {
      authorization: `Bearer ${runtime.token}`,
      "content-type": "application/json",
      "x-memoryd-client": "memoryd-hook",
    };
    const sent = JSON.stringify(body);
    const { response: answer, text } = await exchange(connection, "POST", path, headers, sent);
    return answer.statusCode === 200 ? (JSON.parse(text) as Answer) : undefined;
  };
}

type Connection = { readonly host: string; readonly port: number; readonly agent: Agent };

async function connectionTo(runtime: RuntimeInfo): Promise<Connection> {
  const { port, tlsFingerprint } = runtime;
  const host = { "0.0.0.0": "127.0.0.1", "::": "::1" }[runtime.address] ?? runtime.address;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  if (tlsFingerprint !== undefined) {
    const socket = await pinnedSocket(host, port, tlsFingerprint);
    agent.createConnection = () => socket;
  }
  return { host, port, agent };
}

/** Nothing is sent before the daemon's own certificate was shown; its issuer and name do not count. */
async function pinnedSocket(host: string, port: number, fingerprint: string): Promise<Duplex> {
  const { connect } = await import("node:tls");
  const socket = connect({ host, port, rejectUnauthorized: false }).on("error", () => {});
  await once(socket, "secureConnect");
  if (socket.getPeerX509Certificate()?.fingerprint256 === fingerprint) return socket;
  socket.destroy();
  throw new Error("the server shows another certificate than the daemon's");
}

async function exchange(
  { host, port, agent }: Connection,
  method: "GET" | "POST",
  path: string,
  headers: Readonly<Record<string, string>>,
  body = "",
): Promise<{ readonly response: IncomingMessage; readonly text: string }> {
  const length = body === "" ? {} : { "content-length": Buffer.byteLength(body) };
  const sent = request({ host, port, agent, method, path, headers: { ...headers, ...length } }).end(body);
  // Also while the answer comes; then its reader gets the error too.
  sent.on("error", () => {});
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return { response, text: Buffer.concat(await response.toArray()).toString() };
}
