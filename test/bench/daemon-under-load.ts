import { Agent, request } from "node:http";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { type DaemonProcess, startDaemonProcess } from "../support/daemon-process.ts";

export interface LoopDelay {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface DaemonUnderLoad extends DaemonProcess {
  /** From starting the process to its answering, milliseconds. */
  readonly readyAfter: number;
  /** One call over a connection that is kept. @throws {Error} on any status but 2xx. */
  post(path: string, body: object): Promise<unknown>;
  /** The same. */
  get(path: string): Promise<unknown>;
  delete(path: string): Promise<unknown>;
  /** Of the daemon's main thread since it was last asked, milliseconds. */
  loopDelay(): Promise<LoopDelay>;
}

/** The real daemon with its real model, on a directory, and a client that keeps its connections. */
export async function startDaemonUnderLoad(
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
  probe: "loop-delay.mjs" | "cpu-profile.mjs" = "loop-delay.mjs",
): Promise<DaemonUnderLoad> {
  const startedAt = performance.now();
  const module = pathToFileURL(resolve(import.meta.dirname, probe));
  // The rest as a daemon in the background has it.
  const NODE_OPTIONS = `--import=${module.href} --max-semi-space-size=4`;
  const daemon = await startDaemonProcess(dataDir, { ...env, NODE_OPTIONS, MALLOC_ARENA_MAX: "2" });
  const readyAfter = performance.now() - startedAt;
  const agent = new Agent({ keepAlive: true });

  const call = (method: string, path: string, body?: object): Promise<unknown> =>
    new Promise((done, fail) => {
      const headers = body === undefined ? {} : { "content-type": "application/json" };
      const asked = request(daemon.baseUrl + path, { method, agent, headers }, (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        answer.on("error", fail).on("end", () => {
          if ((answer.statusCode ?? 500) < 300) done(JSON.parse(text));
          else fail(new Error(`${path}: ${answer.statusCode} ${text}`));
        });
      });
      asked.on("error", fail);
      asked.end(body === undefined ? undefined : JSON.stringify(body));
    });

  return {
    ...daemon,
    readyAfter,
    post: (path, body) => call("POST", path, body),
    get: (path) => call("GET", path),
    delete: (path) => call("DELETE", path),
    async loopDelay() {
      const known = daemon.output().length;
      process.kill(daemon.pid, "SIGUSR2");
      for (;;) {
        const line = /loop-delay (\{.*\})\n/.exec(daemon.output().slice(known))?.[1];
        if (line !== undefined) return JSON.parse(line) as LoopDelay;
        await sleep(5);
      }
    },
    async stop() {
      agent.destroy();
      return daemon.stop();
    },
  };
}
