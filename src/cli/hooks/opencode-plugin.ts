import { spawn } from "node:child_process";

/** The interface of opencode's plugins, as far as it is used here: version 1 (`server`) and 2 (`setup`). */
type SystemPrompt = { readonly system: unknown[] };
type Part = { readonly type: string; readonly text?: string };
interface Setup {
  readonly session: {
    readonly hook: (
      name: "context",
      run: (event: SystemPrompt & { readonly sessionID: string; readonly kind?: string }) => Promise<void>,
    ) => Promise<unknown>;
  };
}

const LONGEST_MS = 5_000;
/** Sessions of which the context is kept. */
const MAX_SESSIONS = 50;

/**
 * A plugin that adds to the system prompt of each session what the hook says at its start, and in version 1 to each message
 * what it says at the prompt. Without an answer nothing is added. Its folder in version 2 is that of the process.
 */
export function plugin([node, hook, agent, dataDir]: readonly [string, string, string, string]) {
  const contexts = new Map<string, Promise<string>>();

  function ask(moment: "start" | "prompt", input: object): Promise<string> {
    return new Promise((resolve) => {
      const child = spawn(node, [hook, agent, moment, dataDir], {
        stdio: ["pipe", "pipe", "ignore"],
        timeout: LONGEST_MS,
        windowsHide: true,
      });
      let text = "";
      child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      child.once("error", () => resolve(""));
      child.once("close", () => resolve(contextIn(text)));
      child.stdin.on("error", () => {});
      child.stdin.end(JSON.stringify(input));
    });
  }

  /** Asked once a session, so that the system prompt stays the same. */
  function contextOf(sessionId: string, cwd: string): Promise<string> {
    const known = contexts.get(sessionId);
    if (known !== undefined) return known;
    const [oldest] = contexts.keys();
    if (contexts.size >= MAX_SESSIONS && oldest !== undefined) contexts.delete(oldest);
    const asked = ask("start", { session_id: sessionId, cwd });
    contexts.set(sessionId, asked);
    return asked;
  }

  return {
    id: "memoryd",
    server: async ({ directory }: { readonly directory: string }) => ({
      "experimental.chat.system.transform": async (
        { sessionID }: { readonly sessionID?: string },
        output: SystemPrompt,
      ) => {
        if (sessionID === undefined) return;
        const text = await contextOf(sessionID, directory);
        if (text !== "") output.system.push(text);
      },
      "chat.message": async (
        { sessionID }: { readonly sessionID: string },
        { parts }: { readonly parts: Part[] },
      ) => {
        const first = parts.find(({ type, text }) => type === "text" && text !== undefined);
        if (first === undefined) return;
        const text = await ask("prompt", { session_id: sessionID, cwd: directory, prompt: first.text });
        if (text !== "")
          parts.push({ ...first, id: `${idOf(first)}-memoryd`, text, synthetic: true } as Part);
      },
    }),
    setup: async ({ session }: Setup) => {
      await session.hook("context", async (event) => {
        if (event.kind !== undefined && event.kind !== "primary") return;
        const text = await contextOf(event.sessionID, process.cwd());
        if (text !== "") event.system.push({ type: "text", text });
      });
    },
  };
}

const idOf = (part: object): string => ("id" in part && typeof part.id === "string" ? part.id : "prt");

function contextIn(text: string): string {
  try {
    const { additionalContext } = JSON.parse(text) as { readonly additionalContext?: unknown };
    return typeof additionalContext === "string" ? additionalContext : "";
  } catch {
    return "";
  }
}
