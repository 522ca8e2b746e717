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

/** A hook can miss the time that the agent gives it (late), or a daemon (alone). */
export type Miss = "late" | "alone";

/** How often hooks missed something, and when last. */
export interface Misses {
  readonly count: number;
  /** RFC 3339. */
  readonly last: string;
}

export function readMisses(dataDir: string, miss: Miss): Misses | undefined {
  const misses = readJson(fileOf(dataDir, `hooks-${miss}`));
  return isObject(misses) ? (misses as unknown as Misses) : undefined;
}

/** Counts a miss of a hook that might have done something. Hooks that end at the same moment may count as one. */
export function noteMiss(dataDir: string, miss: Miss, agent: HookAgent, moment: string | undefined): void {
  const { paused, agents } = readHookState(dataDir);
  if (paused || agents[agent]?.[consentFor(moment)] !== true) return;
  const count = (readMisses(dataDir, miss)?.count ?? 0) + 1;
  writeJson(fileOf(dataDir, `hooks-${miss}`), { count, last: new Date().toISOString() } satisfies Misses);
}

/** Sessions that are remembered, the latest ones. */
const MAX_SESSIONS = 40;

/** When a session was told each memory and fact, by id, in epoch milliseconds; null: it has not got the context of its start yet. */
export type Told = Readonly<Record<string, number>> | null;

/** The memories and facts that a session was told; none if the file is damaged: telling twice is no harm. */
export const toldTo = (dataDir: string, session: string): Told =>
  (readTold(dataDir).find(([name]) => name === session) ?? [session, {}])[1];

/** Keeps what a session has been told, in place of what it was before. */
export function noteTold(dataDir: string, session: string, told: Told): void {
  const others = readTold(dataDir).filter(([name]) => name !== session);
  writeJson(fileOf(dataDir, "hooks-told"), [[session, told], ...others.slice(0, MAX_SESSIONS - 1)]);
}

function readTold(dataDir: string): readonly (readonly [session: string, told: Told])[] {
  const sessions = readJson(fileOf(dataDir, "hooks-told"));
  const isTold = (each: unknown) => Array.isArray(each) && (each[1] === null || isObject(each[1]));
  return Array.isArray(sessions) ? sessions.filter(isTold) : [];
}

const fileOf = (dataDir: string, name: "hooks" | "hooks-told" | `hooks-${Miss}`): string =>
  join(dataDir, `${name}.json`);
