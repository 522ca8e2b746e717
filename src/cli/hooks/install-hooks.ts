import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { changeConfigFile, edited, printChange, readConfigFile } from "../agents/change-file.ts";
import { type AgentKind, agentsHere, RefusedEdit } from "../agents/known-agents.ts";
import type { InstalledProgram } from "../installed-program.ts";
import { ask, CliFailure, print, printTable, usageFailure } from "../output/output.ts";
import { consentFor, HOOK_KINDS, isHookAgent, MOMENTS } from "./hook-kinds.ts";
import type { HookAgent, HookKind, Moment } from "./hook-kinds.ts";
import { type HookConsent, readHookState, writeHookState } from "./hook-state.ts";
import { isDeepStrictEqual } from "node:util";
import { type Fields, isObject } from "../../config/narrow.ts";
import { addElement, orEmptyObject, remove, set, valueOf } from "../agents/edit-json.ts";

/** An agent that has hooks, and the file in which it lists them. */
export interface HookedAgent {
  readonly id: HookAgent;
  readonly title: string;
  readonly file: string;
  readonly kind: HookKind;
}

/** The hooks of an agent for a data directory, and the program that they start. */
export interface HookSetup {
  readonly agent: HookedAgent;
  readonly program: InstalledProgram;
  readonly dataDir: string;
}

const PROGRAM = "memoryd-hook.cjs";
const USER_FILE_MODE = 0o600;
const RETRY = " and try again";

/** Those of these agents that have hooks. */
export function hookedAgents(ids: readonly HookAgent[]): HookedAgent[] {
  const agents = agentsHere();
  return ids.flatMap((id) => hooksOf(agents[id]) ?? []);
}

export const hooksOf = ({ id, title, hooksFile: file }: AgentKind): HookedAgent | undefined =>
  isHookAgent(id) && file !== undefined ? { id, title, file, kind: HOOK_KINDS[id] } : undefined;

const WHAT: Readonly<Record<Moment, string>> = {
  start: "context: tells the agent what memory holds for the project, at most 1 200 tokens",
  prompt: "context: tells it the memories that answer the prompt, at most 500 tokens, or nothing",
  end: "capture: imports the conversation in the background; `memoryd review` shows what was kept",
};

/**
 * Shows what hooks would be added for an agent, and what each does.
 * @param asked "context", "capture" or both with a comma; true: asks for each.
 * @throws {CliFailure} without a terminal to ask at, or the agent does not offer it.
 */
export async function consentTo(
  setup: HookSetup,
  asked: string | true,
): Promise<Pick<HookConsent, "context" | "capture">> {
  const { title, file, kind } = setup.agent;
  const given = asked === true ? undefined : asked.split(",").map((word) => word.trim());
  const unknown = given?.find((word) => word !== "context" && word !== "capture");
  if (unknown !== undefined)
    throw usageFailure(`--hooks takes context, capture or context,capture; got "${unknown}".`);
  const canCapture = kind.events.end !== undefined;
  if (given?.includes("capture") === true && !canCapture)
    throw usageFailure(
      `Conversations with ${title} cannot be imported, so nothing of them can be kept; say --hooks context.`,
    );
  print(`${title} gets these hooks in ${file}:`);
  printTable(
    MOMENTS.flatMap((moment) => {
      const event = kind.events[moment];
      const isAskedFor = given?.includes(consentFor(moment)) ?? true;
      return event === undefined || !isAskedFor ? [] : [[event, WHAT[moment]] as const];
    }),
  );
  print(`  Each starts ${commandOf(setup, "MOMENT")}`);
  const agreed = async (consent: string, question: string): Promise<boolean> => {
    const answer = given?.includes(consent) ?? (await ask(`${question} [y/N] `));
    if (answer !== undefined) return answer;
    throw usageFailure("There is no terminal to ask at; say --hooks context, or --hooks context,capture.");
  };
  const context = await agreed("context", `Tell ${title} what memory holds?`);
  const capture = canCapture && (await agreed("capture", `Keep what lasts of conversations with ${title}?`));
  if (!context && !capture) print("No hooks then.");
  return { context, capture };
}

/** @throws {CliFailure} if `installHooks` could not add these hooks, before anything is changed. */
export function checkHooks(setup: HookSetup, consent: HookConsent): void {
  readHookState(setup.dataDir);
  const text = readConfigFile(setup.agent.file) ?? "";
  edited(setup.agent.file, RETRY, () => hooksText(setup, text, consent));
}

/** Adds the hooks that were agreed to, and keeps the consent in the data directory. */
export function installHooks(setup: HookSetup, consent: HookConsent): void {
  const { agent, dataDir } = setup;
  const state = readHookState(dataDir);
  if (!consent.context && !consent.capture) return removeHooks(agent, dataDir);
  const change = changeConfigFile(agent.file, USER_FILE_MODE, RETRY, (text) =>
    hooksText(setup, text, consent),
  );
  writeHookState(dataDir, { ...state, agents: { ...state.agents, [agent.id]: consent } });
  print(
    `${agent.title} ${change.changed ? "has the hooks now; start a new session" : "already has these hooks"}.`,
  );
  printChange(agent.file, change);
  if (agent.id === "codex") print("Codex runs them once you trust them: type /hooks in it.");
}

/** Takes our hooks out of an agent's file, and the consent back. Does nothing without hooks. */
export function removeHooks(agent: HookedAgent, dataDir: string): void {
  const state = readHookState(dataDir);
  const { [agent.id]: consent, ...agents } = state.agents;
  if (consent !== undefined) writeHookState(dataDir, { ...state, agents });
  const before = readConfigFile(agent.file);
  if (before === undefined || !hasHooks(agent, before)) return;
  changeConfigFile(agent.file, USER_FILE_MODE, RETRY, (text) => textWithout(agent, text));
  print(`${agent.title} does not have memoryd's hooks any more (${agent.file}).`);
}

/** The text of an agent's file with the hooks that were agreed to. @throws {RefusedEdit} if it is no such file. */
function hooksText(setup: HookSetup, text: string, consent: HookConsent): string {
  const { kind } = setup.agent;
  if (kind.form === "plugin") return pluginText(setup);
  const wanted: Record<string, unknown> = {};
  for (const moment of MOMENTS) {
    const event = kind.events[moment];
    if (event !== undefined && consent[consentFor(moment)]) wanted[event] = entryOf(setup, moment);
  }
  return withHooks(text, wanted, kind.head);
}

function entryOf(setup: HookSetup, moment: Moment): object {
  const { form, timeout, startsOn } = setup.agent.kind;
  const command = commandOf(setup, moment);
  if (form === "flat") return { command, timeout };
  const [exec, args] = [setup.program.node, wordsOf(setup, moment)];
  if (form === "program") return { type: "command", exec, args, timeoutSec: timeout };
  const matcher = moment === "start" && startsOn !== undefined ? { matcher: startsOn } : {};
  return { ...matcher, hooks: [{ type: "command", command, timeout }] };
}

const wordsOf = ({ agent, program, dataDir }: HookSetup, moment: string): string[] => [
  hookOf(program),
  agent.id,
  moment,
  resolve(dataDir),
];

const hookOf = ({ launcher }: InstalledProgram): string => join(dirname(launcher), PROGRAM);

/** The command line for the shell in which the agent starts hooks. */
function commandOf(setup: HookSetup, moment: string): string {
  const isWindows = process.platform === "win32";
  const quoted = [setup.program.node, ...wordsOf(setup, moment)].map((word) => {
    if (/^[\w-]+$/.test(word)) return word;
    // Every shell of Windows understands slashes; Unix shells expand within double quotes.
    return isWindows ? `"${word.replaceAll("\\", "/")}"` : `'${word.replaceAll("'", "'\\''")}'`;
  });
  // PowerShell takes a quoted program for a text.
  return `${isWindows && setup.agent.id === "gemini" ? "& " : ""}${quoted.join(" ")}`;
}

/** A plugin file for opencode, which names the program that it starts. */
function pluginText({ agent: { id }, program, dataDir }: HookSetup): string {
  const built = join(dirname(program.launcher), "..", "dist", "cli", "hooks", "opencode-plugin.js");
  const module = pathToFileURL(built).href;
  const start = JSON.stringify([program.node, hookOf(program), id, resolve(dataDir)]);
  return `// Written by \`memoryd mcp install ${id} --hooks\`; \`memoryd hooks off ${id}\` removes it.\nimport { plugin } from ${JSON.stringify(module)};\nexport default plugin(${start});\n`;
}

/** The text without our hooks; undefined: the file holds nothing else. */
function textWithout(agent: HookedAgent, text: string): string | undefined {
  if (agent.kind.form === "plugin") return undefined;
  const isOurFile = text === withHooks("", readHooks(text) ?? {}, agent.kind.head);
  return isOurFile ? undefined : withoutHooks(text);
}

export function hasHooks({ kind, file }: HookedAgent, text: string): boolean {
  if (kind.form === "plugin") return text.includes(PROGRAM);
  try {
    return readHooks(text) !== undefined;
  } catch (error) {
    if (error instanceof RefusedEdit) throw new CliFailure(`${file}: ${error.message}.`, { cause: error });
    throw error;
  }
}

/** Why the hooks in a file do not run as agreed; undefined if they do. */
export function hooksFault(setup: HookSetup, consent: HookConsent): string | undefined {
  const { agent } = setup;
  const text = readConfigFile(agent.file);
  if (text === undefined || !hasHooks(agent, text)) return `they are not in ${agent.file}`;
  const hook = hookOf(setup.program);
  if (!existsSync(hook)) return `${hook} is gone`;
  return edited(agent.file, RETRY, () => hooksText(setup, text, consent)) === text
    ? undefined
    : `those in ${agent.file} are of another program or consent`;
}

/**
 * Changes of our hooks in an agent's JSON file of hooks: `{ "hooks": { EVENT: [entry…] } }`. An entry is a hook, or a group
 * `{ matcher, hooks: [hook…] }`. All other text stays byte for byte; ours is what starts our program.
 */

/** Our hooks by event, one each; undefined where there is none. @throws {RefusedEdit} if the text is not such a file. */
export function readHooks(text: string): Fields | undefined {
  const found = eventsOf(text).flatMap(([event, entries]) => {
    const own = entries.find(isOurs);
    return own === undefined ? [] : [[event, own] as const];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

/**
 * The text with these hooks of ours and no others; new ones go before those of others.
 * @param head keys that a file of hooks must have.
 * @throws {RefusedEdit} if the text is not such a file.
 */
export function withHooks(text: string, wanted: Fields, head: Fields = {}): string {
  const isAsWanted = isDeepStrictEqual(readHooks(text), wanted);
  if (isAsWanted && ownPaths(text).length === Object.keys(wanted).length) return text;
  let edited = orEmptyObject(withoutHooks(text));
  const { hooks = {}, ...others } = valueOf(edited);
  for (const [event, entry] of Object.entries(wanted).reverse()) {
    const isThere = isObject(hooks) && hooks[event] !== undefined;
    edited = isThere ? addElement(edited, ["hooks", event], entry) : set(edited, ["hooks", event], [entry]);
  }
  for (const [key, value] of Object.entries(head).reverse())
    if (!Object.hasOwn(others, key)) edited = set(edited, [key], value);
  const { hooks: _, ...after } = valueOf(edited);
  if (isDeepStrictEqual(after, { ...head, ...others }) && isDeepStrictEqual(readHooks(edited), wanted))
    return edited;
  throw new RefusedEdit();
}

/** The text without our hooks, and without lists that only held them. @throws {RefusedEdit} if it is not such a file. */
export function withoutHooks(text: string): string {
  let edited = text;
  for (const path of ownPaths(text).reverse()) edited = remove(edited, path);
  for (const [event, entries] of eventsOf(text))
    if (entries.length > 0 && entries.every(isOurs)) edited = remove(edited, ["hooks", event]);
  const { hooks } = valueOf(edited);
  const isEmptied = edited !== text && isObject(hooks) && Object.keys(hooks).length === 0;
  return isEmptied ? remove(edited, ["hooks"]) : edited;
}

/** Paths of our hooks, and of groups of nothing else, in a file, in its order. */
const ownPaths = (text: string): (string | number)[][] =>
  eventsOf(text).flatMap(([event, entries]) =>
    entries.flatMap((entry, i) => {
      const path = ["hooks", event, i];
      if (isOurs(entry)) return [path];
      return innerOf(entry).flatMap((hook, j) => (isOurs(hook) ? [[...path, "hooks", j]] : []));
    }),
  );

/** True for a hook of ours, and for a group of nothing else. */
function isOurs(entry: unknown): boolean {
  if (!isObject(entry)) return false;
  const inner = innerOf(entry);
  if (inner.length > 0) return inner.every(isOurs);
  const { command, args } = entry;
  return [command, args].flat().some((word) => typeof word === "string" && word.includes(PROGRAM));
}

const innerOf = (entry: unknown): readonly unknown[] =>
  isObject(entry) && Array.isArray(entry["hooks"]) ? (entry["hooks"] as unknown[]) : [];

function eventsOf(text: string): [string, readonly unknown[]][] {
  const { hooks = {} } = valueOf(text);
  if (!isObject(hooks)) throw new RefusedEdit('Its "hooks" is not an object');
  return Object.entries(hooks).map(([event, entries]) => {
    if (!Array.isArray(entries)) throw new RefusedEdit(`Its "hooks.${event}" is not a list`);
    return [event, entries as unknown[]];
  });
}
