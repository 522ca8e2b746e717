import { readFile } from "node:fs/promises";
import { get } from "node:http";
import { bracketed } from "./access.ts";
import { connectionTable, processWith } from "./peer.ts";

const PATIENCE_MS = 1_000;
const MAX_ANSWER_BYTES = 64 * 1024;

/** What listens at an address, in words that follow "by": a memoryd, a program, or its process. Never fails. */
export async function whoAnswers(host: string, port: number): Promise<string> {
  const version = (await askHealth(host, port))?.version;
  const holder = await holderOf(port);
  const process = holder === undefined ? "" : `${holder.name} (process ${holder.pid})`;
  if (typeof version !== "string") return process === "" ? "another program" : process;
  return `memoryd ${version}${holder === undefined ? "" : ` (process ${holder.pid})`}`;
}

const LISTENING = "0A";

/** The process that listens on a port; undefined where that cannot be known: another user's, or not Linux. */
async function holderOf(port: number): Promise<{ readonly name: string; readonly pid: string } | undefined> {
  const end = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const sockets = new Set<string>();
  for (const line of (await connectionTable()).split("\n")) {
    const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/);
    if (local.endsWith(end) && state === LISTENING) sockets.add(`socket:[${inode}]`);
  }
  const pid = sockets.size === 0 ? undefined : await processWith(sockets);
  if (pid === undefined) return undefined;
  const name = await readFile(`/proc/${pid}/comm`, "utf8").catch(() => "a program");
  return { pid, name: name.trim() };
}

function askHealth(host: string, port: number): Promise<{ readonly version?: unknown } | undefined> {
  return new Promise((resolve) => {
    const request = get(
      {
        host,
        port,
        path: "/health",
        headers: { host: `${bracketed(host)}:${port}` },
        agent: false,
        signal: AbortSignal.timeout(PATIENCE_MS),
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          text += chunk;
          if (text.length > MAX_ANSWER_BYTES) request.destroy();
        });
        response.on("end", () => resolve(response.headers.server === "memoryd" ? parsed(text) : undefined));
        response.on("close", () => resolve(undefined));
      },
    );
    request.on("error", () => resolve(undefined));
  });
}

function parsed(text: string): { readonly version?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
