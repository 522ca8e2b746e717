import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { parse, type ParseError } from "jsonc-parser";

/** Longer than any machine takes; hooks in use have 2 s or 800 ms. */
const PATIENCE_MS = 60_000;

export interface HookRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Hook {
  readonly command?: string;
  readonly exec?: string;
  readonly args?: readonly string[];
}
interface Group extends Hook {
  readonly matcher?: string;
  readonly hooks?: readonly Hook[];
}

export interface HookedAgentOptions {
  /** Time that hooks give themselves; undefined: their own. */
  readonly withinMs?: number | undefined;
}

/**
 * Runs the hooks that a settings file lists for an event as agents do: each command in a shell, with the input as JSON on
 * standard input. `matched` is what matchers are compared with.
 */
export async function runHooks(
  file: string,
  event: string,
  input: object | string | Uint8Array,
  { withinMs = PATIENCE_MS, matched = "" }: HookedAgentOptions & { readonly matched?: string } = {},
): Promise<HookRun[]> {
  const errors: ParseError[] = [];
  const { hooks } = parse(readFileSync(file, "utf8"), errors) as { readonly hooks?: Record<string, Group[]> };
  const groups = (hooks?.[event] ?? []).filter(
    ({ matcher }) => matcher === undefined || new RegExp(`^(?:${matcher})$`).test(matched),
  );
  const stdin = typeof input === "string" || input instanceof Uint8Array ? input : JSON.stringify(input);
  const within = Number.isFinite(withinMs) ? [`--within=${withinMs}`] : [];
  return await Promise.all(
    groups
      .flatMap((group) => group.hooks ?? [group])
      .map(({ command, exec, args = [] }) => {
        if (command !== undefined) return run([command, ...within].join(" "), [], true, stdin);
        return run(exec ?? "", [...args, ...within], false, stdin);
      }),
  );
}

function run(
  program: string,
  args: readonly string[],
  shell: boolean,
  stdin: string | Uint8Array,
): Promise<HookRun> {
  const child = spawn(program, args, { shell });
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
