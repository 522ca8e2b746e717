/** The moments and answers of each agent's hooks, by its documentation of November 2026. Read at every prompt: imports nothing heavy. */
import type { Fields } from "../../config/narrow.ts";

/** Moments of a conversation at which an agent starts the hook. */
export const MOMENTS = ["start", "prompt", "end"] as const;
export type Moment = (typeof MOMENTS)[number];

/** The consent that a hook at a moment needs; the moment as the words of a process say it. */
export const consentFor = (moment: string | undefined): "context" | "capture" =>
  moment === "end" ? "capture" : "context";

export const HOOK_AGENTS = ["claude-code", "codex", "gemini", "cursor", "copilot", "opencode"] as const;
export type HookAgent = (typeof HOOK_AGENTS)[number];

export interface HookKind {
  /**
   * The agent's names of the moments that it offers, and for which beginnings the first one counts. One with an end names its
   * transcript there, which `memoryd import` reads by the agent's name.
   */
  readonly events: { readonly [M in Moment]?: string };
  readonly startsOn?: string;
  /** How an agent's file writes one hook. */
  readonly form: "group" | "flat" | "program" | "plugin";
  /** Time that the agent gives the hook, in its own unit. */
  readonly timeout: number;
  /** Keys that a file of hooks begins with. */
  readonly head?: Fields;
  /** The answer that the agent reads from standard output. */
  readonly answer: (text: string, event: string) => object;
}

const specific: HookKind["answer"] = (text, hookEventName) => ({
  hookSpecificOutput: { hookEventName, additionalContext: text },
});

export const HOOK_KINDS: Readonly<Record<HookAgent, HookKind>> = {
  "claude-code": {
    events: { start: "SessionStart", prompt: "UserPromptSubmit", end: "SessionEnd" },
    // A session that is resumed still has what it was told.
    startsOn: "startup|clear|compact",
    form: "group",
    timeout: 5,
    answer: specific,
  },
  codex: {
    events: { start: "SessionStart", prompt: "UserPromptSubmit", end: "SessionEnd" },
    startsOn: "startup|clear|compact",
    form: "group",
    // The most that it gives the end.
    timeout: 3,
    answer: specific,
  },
  gemini: {
    events: { start: "SessionStart", prompt: "BeforeAgent", end: "SessionEnd" },
    form: "group",
    timeout: 5_000,
    answer: specific,
  },
  cursor: {
    events: { start: "sessionStart", end: "sessionEnd" },
    form: "flat",
    timeout: 5,
    head: { version: 1 },
    answer: (text) => ({ additional_context: text }),
  },
  copilot: {
    events: { start: "sessionStart" },
    form: "program",
    timeout: 5,
    head: { version: 1 },
    answer: (text) => ({ additionalContext: text }),
  },
  opencode: {
    events: { start: "start", prompt: "prompt" },
    form: "plugin",
    timeout: 5_000,
    answer: (text) => ({ additionalContext: text }),
  },
};

export const isHookAgent = (name: unknown): name is HookAgent => HOOK_AGENTS.some((agent) => agent === name);

/**
 * True if the agent that started the hook is not the one whose file names it: Cursor reads the hooks of Claude Code too, and the
 * consent was for one agent. Claude Code names its transcript `…/projects/FOLDER/SESSION.jsonl`, as no other does.
 */
export function isBorrowed(agent: HookAgent, input: Fields): boolean {
  if (agent !== "claude-code") return false;
  const { transcript_path: path } = input;
  return (
    "cursor_version" in input ||
    typeof path !== "string" ||
    !/[/\\]projects[/\\][^/\\]+[/\\][^/\\]+\.jsonl$/.test(path)
  );
}
