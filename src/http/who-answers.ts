import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { get } from "node:http";
import { bracketed } from "./access.ts";

const PATIENCE_MS = 1_000;
const MAX_ANSWER_BYTES = 64 * 1024;

/** What listens at an address, in words that follow "by": a memoryd, a program, or its process. Never fails. */
export async function whoAnswers(host: string, port: number): Promise<string> {
  const version = (await askHealth(host, port))?.version;
  const holder = holderOf(port);
  const process = holder === undefined ? "" : `${holder.name} (process ${holder.pid})`;
  if (typeof version !== "string") return process === "" ? "another program" : process;
  return `memoryd ${version}${holder === undefined ? "" : ` (process ${holder.pid})`}`;
}

const LISTENING = "0A";

/** The process that listens on a port; undefined where that cannot be known: another user's, or not Linux. */
function holderOf(port: number): { readonly name: string; readonly pid: string } | undefined {
  const end = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const sockets = new Set<string>();
  for (const table of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    for (const line of tried(() => readFileSync(table, "utf8").split("\n")) ?? []) {
      const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/);
      if (local.endsWith(end) && state === LISTENING) sockets.add(`socket:[${inode}]`);
    }
  }
  if (sockets.size === 0) return undefined;
  const pids = (tried(() => readdirSync("/proc")) ?? []).filter((name) => /^\d+$/.test(name));
  const pid = pids.find((pid) =>
    tried(() => readdirSync(`/proc/${pid}/fd`))?.some((file) =>
      sockets.has(tried(() => readlinkSync(`/proc/${pid}/fd/${file}`)) ?? ""),
    ),
  );
  return pid === undefined
    ? undefined
    : { pid, name: tried(() => readFileSync(`/proc/${pid}/comm`, "utf8"))?.trim() ?? "a program" };
}

function tried<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
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
