import { get } from "node:http";
import { bracketed } from "./access.ts";

const PATIENCE_MS = 1_000;
const MAX_ANSWER_BYTES = 64 * 1024;

/** What listens at an address, in words that follow "by": a memoryd with its version, or not. Never fails. */
export async function whoAnswers(host: string, port: number): Promise<string> {
  const health = await askHealth(host, port);
  if (health === undefined) return "another program";
  const { version } = health;
  return typeof version === "string" ? `memoryd ${version}` : "another program";
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
