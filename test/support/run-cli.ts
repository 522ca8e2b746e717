import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { Readable, Writable } from "node:stream";

const ROOT = resolve(import.meta.dirname, "../..");
export const LAUNCHER = join(ROOT, "bin/memoryd.js");

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  /** The user's home: data and configuration directories lie in it. */
  readonly home: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
  /** Another program than the launcher. */
  readonly script?: string;
  /** Path of another Node than the one that runs the tests. */
  readonly node?: string;
}

/** The environment of a user whose home is `home` and who has set nothing else. */
export function environmentOf(
  home: string,
  env: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name, value]) => value !== undefined && !/^(MEMORYD_|XDG_|VITEST|NODE_OPTIONS)/.test(name),
  ) as [string, string][];
  return {
    ...Object.fromEntries(kept),
    HOME: home,
    USERPROFILE: home,
    APPDATA: join(home, "Roaming"),
    LOCALAPPDATA: join(home, "Local"),
    // Light, and starts in a third of the time.
    MEMORYD_MODEL: "all-MiniLM-L6-v2",
    ...env,
  };
}

/** Runs one command of the built program to its end. */
export function runCli(
  words: readonly string[],
  { home, env, stdin = "", script = LAUNCHER, node = process.execPath }: CliOptions,
): Promise<CliResult> {
  if (!existsSync(join(ROOT, "dist/cli/main.js")))
    throw new Error("dist is missing; run `npm run build` first");
  const child = spawn(node, [script, ...words], { env: environmentOf(home, env), cwd: home });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
  child.stdin.on("error", () => {});
  child.stdin.end(stdin);
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", (code) => done({ code, stdout, stderr }));
  });
}

/**
 * Runs one command in this process, which takes a hundredth of the time of a process: for commands that start no daemon,
 * one after the other.
 */
export async function runCliHere(
  words: readonly string[],
  { home, env, stdin = "" }: Omit<CliOptions, "script" | "node">,
): Promise<CliResult> {
  const { main } = await import("../../src/cli/main.ts");
  const output = { stdout: "", stderr: "" };
  const into = (name: keyof typeof output) =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        output[name] += chunk.toString();
        done();
      },
    });
  const streams = {
    stdin: Readable.from(stdin.length === 0 ? [] : [Buffer.from(stdin)]),
    stdout: into("stdout"),
    stderr: into("stderr"),
  };
  const before = {
    env: { ...process.env },
    cwd: process.cwd(),
    exitCode: process.exitCode,
    script: process.argv[1] ?? "",
    streams: Object.keys(streams).map(
      (name) => [name, Object.getOwnPropertyDescriptor(process, name) ?? {}] as const,
    ),
  };
  try {
    setEnvironment(environmentOf(home, env));
    process.chdir(home);
    process.exitCode = undefined;
    process.argv[1] = LAUNCHER;
    for (const [name, value] of Object.entries(streams))
      Object.defineProperty(process, name, { value, configurable: true });
    await main(words);
    return { code: exitCode(), ...output };
  } finally {
    for (const [name, descriptor] of before.streams) Object.defineProperty(process, name, descriptor);
    process.exitCode = before.exitCode;
    process.argv[1] = before.script;
    process.chdir(before.cwd);
    setEnvironment(before.env);
  }
}

function exitCode(): number {
  return Number(process.exitCode ?? 0);
}

/** Changes what differs only: setting `TZ` makes Node read the time zone again. */
function setEnvironment(wanted: Readonly<Record<string, string | undefined>>): void {
  for (const name of Object.keys(process.env)) if (!(name in wanted)) delete process.env[name];
  for (const [name, value] of Object.entries(wanted))
    if (process.env[name] !== value) process.env[name] = value;
}
