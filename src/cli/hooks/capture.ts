/** Captures of conversations that ended: started by the hook, and by a start of the daemon where it was stopped. Imports nothing heavy. */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "../../config/narrow.ts";
import { makeFolder, readJson, writeJson } from "../../files/own-files.ts";
import { isHookAgent, type HookAgent } from "./hook-kinds.ts";
import { readHookState } from "./hook-state.ts";

/** A conversation that ended and may not be captured yet. */
export interface EndedSession {
  readonly agent: HookAgent;
  /** Of its transcript. */
  readonly path: string;
  readonly user?: string | undefined;
  readonly project?: string | undefined;
}

const FOLDER = "ended";

const fileOf = (dataDir: string, path: string): string =>
  join(dataDir, FOLDER, `${createHash("sha256").update(path).digest("hex").slice(0, 32)}.json`);

export function noteEnded(dataDir: string, session: EndedSession): void {
  makeFolder(join(dataDir, FOLDER));
  writeJson(fileOf(dataDir, session.path), session);
}

/** Nothing where it was not noted. */
export const forgetEnded = (dataDir: string, path: string): void =>
  rmSync(fileOf(dataDir, path), { force: true });

/** Starts an import of a conversation, which goes on after this process has ended. */
export function startCapture(dataDir: string, { agent, path, user, project }: EndedSession): ChildProcess {
  const launcher = import.meta.dirname.replace(/^(.*)[\\/](?:src|dist)[\\/].*/s, "$1/bin/memoryd.js");
  const owners = [
    ...(user === undefined ? [] : ["--user", user]),
    ...(project === undefined ? [] : ["--project", project]),
  ];
  const words = ["import", agent, "--file", path, "--data-dir", dataDir, ...owners];
  const child = spawn(process.execPath, [launcher, ...words], {
    detached: true,
    stdio: "ignore",
    windowsHide: true,
    // The agent's folder may be removed meanwhile.
    cwd: dataDir,
  });
  child.unref();
  return child;
}

/** Captures, one after the other, what ended while no daemon ran, as far as its transcript and the consent are still there. Never rejects. */
export async function captureEnded(dataDir: string): Promise<void> {
  try {
    const { agents } = readHookState(dataDir);
    for (const name of readdirSync(join(dataDir, FOLDER))) {
      const file = join(dataDir, FOLDER, name);
      const session = readJson(file);
      const mayCapture = isEnded(session) && agents[session.agent]?.capture === true;
      if (!mayCapture || !existsSync(session.path)) rmSync(file, { force: true });
      else await once(startCapture(dataDir, session), "exit").catch(() => undefined);
    }
  } catch {
    // There is no such folder, or no hooks that can be read: `memoryd hooks status` says so.
  }
}

const isEnded = (value: unknown): value is EndedSession =>
  isObject(value) && isHookAgent(value["agent"]) && typeof value["path"] === "string";
