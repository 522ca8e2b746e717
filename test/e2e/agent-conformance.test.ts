/**
 * The protocol's own conformance suite (`@modelcontextprotocol/conformance` 0.1.16) against the daemon, over HTTP, with a key and
 * without. `.ci/run` installs it, and the Node 22 that it needs, in a folder of their own: `MEMORYD_TEST_CONFORMANCE`.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DaemonProcess, startDaemonProcess } from "../support/daemon-process.ts";

const FOLDER = process.env["MEMORYD_TEST_CONFORMANCE"] ?? "";
const SUITE = join(FOLDER, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
const NODE = join(FOLDER, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
const KEY = "a-key-of-thirty-two-characters..";

const SCENARIOS = [
  "server-initialize",
  "ping",
  "tools-list",
  "resources-list",
  "prompts-list",
  "server-sse-multiple-streams",
  "dns-rebinding-protection",
];

const EXAMPLES = "calls a tool, resource or prompt of the suite's example server by its name";
/** Scenarios of the suite that are for other servers, and why. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  [EXAMPLES]: [
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
    "tools-call-error",
    "json-schema-2020-12",
    "resources-read-text",
    "resources-read-binary",
    "resources-templates-read",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-embedded-resource",
    "prompts-get-with-image",
  ],
  "needs the capability logging, which the daemon does not declare": [
    "logging-set-level",
    "tools-call-with-logging",
  ],
  "needs the capability completions, which the daemon does not declare": ["completion-complete"],
  "needs resources that can be subscribed to, which the daemon does not declare": [
    "resources-subscribe",
    "resources-unsubscribe",
  ],
  "needs tools that tell their progress or ask the client back in the middle of a call": [
    "tools-call-with-progress",
    "tools-call-sampling",
    "tools-call-elicitation",
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
  ],
  "needs sessions; the daemon's endpoint has none, which the protocol allows": ["server-sse-polling"],
};

function run(words: readonly string[]): Promise<{ readonly status: number; readonly output: string }> {
  return new Promise((done) => {
    const child = execFile(NODE, [SUITE, ...words], { cwd: tmpdir(), timeout: 60_000 }, (_error, output) =>
      done({ status: child.exitCode ?? 1, output }),
    );
  });
}

/** Adds the key to each request, as the suite cannot send one. */
async function startKeyAdder(
  daemon: DaemonProcess,
): Promise<{ readonly url: string; readonly server: Server }> {
  const target = new URL(daemon.baseUrl);
  const server = createServer((incoming, answer) => {
    const { port } = server.address() as AddressInfo;
    const { method, url: path } = incoming;
    // Names of the adder in Host and Origin become the daemon's; foreign ones stay.
    const addressed = Object.entries(incoming.headers).map(([name, value]) => [
      name,
      String(value).replace(`:${port}`, `:${target.port}`),
    ]);
    const headers = { ...Object.fromEntries(addressed), authorization: `Bearer ${KEY}` };
    const passed = request({ host: target.hostname, port: target.port, method, path, headers }, (reply) => {
      answer.writeHead(reply.statusCode ?? 500, reply.headers);
      reply.pipe(answer);
    });
    passed.once("error", () => answer.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

describe.skipIf(FOLDER === "")("the conformance suite", () => {
  let home: string;
  let daemon: DaemonProcess;
  let locked: DaemonProcess;
  let keyAdder: Awaited<ReturnType<typeof startKeyAdder>>;
  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), "memoryd-conformance-"));
    daemon = await startDaemonProcess(join(home, "data"));
    locked = await startDaemonProcess(join(home, "locked"), { MEMORYD_API_KEY: KEY });
    keyAdder = await startKeyAdder(locked);
  });
  afterAll(async () => {
    keyAdder.server.close();
    await Promise.all([daemon.kill(), locked.kill()]);
    rmSync(home, { recursive: true, force: true });
  });

  it.each(
    SCENARIOS.flatMap((scenario) => [
      [scenario, "without a key"],
      [scenario, "with a key"],
    ]),
  )("passes %s %s", async (scenario, way) => {
    const base = way === "with a key" ? keyAdder.url : daemon.baseUrl;
    const { status, output } = await run(["server", "--url", `${base}/mcp`, "--scenario", scenario]);
    expect(output).toMatch(/Passed: ([1-9]\d*)\/\1, 0 failed, 0 warnings/);
    expect(status).toBe(0);
  });

  it("fails without the key where one is needed", async () => {
    const words = ["server", "--url", `${locked.baseUrl}/mcp`, "--scenario", "ping"];
    expect((await run(words)).status).not.toBe(0);
  });

  it("has no other scenarios for servers than these", async () => {
    const { output } = await run(["list", "--server"]);
    const names = Array.from(output.matchAll(/^ +- ([\w-]+)/gm), ([, name]) => name);
    expect(new Set(names)).toEqual(new Set([...SCENARIOS, ...Object.values(OTHERS).flat()]));
  });
});
