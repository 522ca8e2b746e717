import { createHash } from "node:crypto";
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "../../config/narrow.ts";
import { makeFolder, readJson, writeJson } from "../../files/own-files.ts";
import { consentFor, type HookAgent } from "./hook-kinds.ts";

/** The user's consents for one agent. */
export interface HookConsent {
  readonly context: boolean;
  readonly capture: boolean;
  /** Whose memories are told, and the project whatever the folder; as `memoryd mcp` takes them. */
  readonly user?: string;
  readonly project?: string;
}

export interface HookState {
  readonly paused: boolean;
  /** Projects of which nothing is told and nothing captured. */
  readonly excluded: readonly string[];
  readonly agents: { readonly [Agent in HookAgent]?: HookConsent };
}

const NONE: HookState = { paused: false, excluded: [], agents: {} };

/** The state of the hooks of a data directory; without a file nothing is agreed to. @throws {Error} for a damaged file. */
export function readHookState(dataDir: string): HookState {
  const file = fileOf(dataDir, "hooks");
  const value = readJson(file);
  if (value === undefined) return NONE;
  if (isObject(value) && Array.isArray(value["excluded"]) && isObject(value["agents"]))
    return value as unknown as HookState;
  throw new Error(`The file ${file} is damaged; remove it and install the hooks again.`);
}

export function writeHookState(dataDir: string, state: HookState): void {
  makeFolder(dataDir);
  writeJson(fileOf(dataDir, "hooks"), state);
}

/** How often the time of a hook was over before it had its answer, and when last. */
export interface LateHooks {
  readonly count: number;
  /** RFC 3339. */
  readonly last: string;
}

export function readLate(dataDir: string): LateHooks | undefined {
  const late = readJson(fileOf(dataDir, "hooks-late"));
  return isObject(late) ? (late as unknown as LateHooks) : undefined;
}

/** Counts a hook that was late, if it might have done something. Hooks that end at the same moment may count as one. */
export function noteLate(dataDir: string, agent: HookAgent, moment: string | undefined): void {
  const { paused, agents } = readHookState(dataDir);
  if (paused || agents[agent]?.[consentFor(moment)] !== true) return;
  const count = (readLate(dataDir)?.count ?? 0) + 1;
  writeJson(fileOf(dataDir, "hooks-late"), { count, last: new Date().toISOString() } satisfies LateHooks);
}

/** Sessions whose ids are kept, the latest ones. */
const MAX_SESSIONS = 40;

type Told = readonly (readonly [session: string, ids: readonly string[]])[];

/** The ids of memories that a session was told already; none where the file is damaged: telling twice is no harm. */
export const toldTo = (dataDir: string, session: string): readonly string[] =>
  readTold(dataDir).find(([name]) => name === session)?.[1] ?? [];

/** Keeps the ids that a session has been told, in place of those before. */
export function noteTold(dataDir: string, session: string, ids: readonly string[]): void {
  const others = readTold(dataDir).filter(([name]) => name !== session);
  writeJson(fileOf(dataDir, "hooks-told"), [[session, ids], ...others.slice(0, MAX_SESSIONS - 1)]);
}

/** What came too late for a session, to be told at its next prompt. */
export interface Owed {
  /** The context at the start. */
  readonly context: boolean;
  /** Ids of memories that answered an earlier prompt. */
  readonly ids: readonly string[];
}

const CONTEXT = "context";
/** A session that has not asked for so long is over. */
const MAX_OWED_MS = 7 * 24 * 60 * 60 * 1_000;

/** Reads the debts to a session that are not settled. */
export function owedTo(dataDir: string, session: string): Owed {
  const prefix = owedPrefix(session);
  const names = owedFiles(dataDir).filter((name) => name.startsWith(prefix));
  const owed = names.map((name) => name.slice(prefix.length));
  return { context: owed.includes(CONTEXT), ids: owed.filter((id) => id !== CONTEXT) };
}

/** Keeps what a session is owed: one empty file for each thing, so that hooks at the same moment lose nothing. */
export function noteOwed(dataDir: string, session: string, owed: Partial<Owed>): void {
  const folder = owedFolder(dataDir);
  makeFolder(folder);
  for (const path of owedFiles(dataDir).map((name) => join(folder, name)))
    if ((statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) < Date.now() - MAX_OWED_MS)
      rmSync(path, { force: true });
  for (const path of pathsOf(dataDir, session, owed)) writeFileSync(path, "", { mode: 0o600 });
}

/** Ends what a session was owed, once it has been told. */
export function settleOwed(dataDir: string, session: string, told: Partial<Owed>): void {
  for (const path of pathsOf(dataDir, session, told)) rmSync(path, { force: true });
}

const owedFolder = (dataDir: string): string => join(dataDir, "owed");

function owedFiles(dataDir: string): string[] {
  const folder = owedFolder(dataDir);
  return existsSync(folder) ? readdirSync(folder) : [];
}

const owedPrefix = (session: string): string =>
  `${createHash("sha256").update(session).digest("hex").slice(0, 32)}.`;

const pathsOf = (dataDir: string, session: string, { context = false, ids = [] }: Partial<Owed>): string[] =>
  [...(context ? [CONTEXT] : []), ...ids].map((what) =>
    join(owedFolder(dataDir), `${owedPrefix(session)}${what}`),
  );

function readTold(dataDir: string): Told {
  const told = readJson(fileOf(dataDir, "hooks-told"));
  return Array.isArray(told) ? told : [];
}

const fileOf = (dataDir: string, name: "hooks" | "hooks-told" | "hooks-late"): string =>
  join(dataDir, `${name}.json`);
