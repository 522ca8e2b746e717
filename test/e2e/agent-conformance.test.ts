/**
 * The protocol's own conformance suite against the daemon: what it asks of every server. Its other scenarios call tools of the
 * suite's example server. It needs Node 22 and `MEMORYD_TEST_CONFORMANCE`, the path of `dist/index.js` of the installed package
 * `@modelcontextprotocol/conformance` (tried with 0.1.16); with `MEMORYD_TEST_CONFORMANCE_NODE` another Node runs it.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DaemonProcess, startDaemonProcess } from "../support/daemon-process.ts";

const SUITE = process.env["MEMORYD_TEST_CONFORMANCE"] ?? "";
const NODE = process.env["MEMORYD_TEST_CONFORMANCE_NODE"] ?? process.execPath;
const SCENARIOS = [
  "server-initialize",
  "ping",
  "tools-list",
  "resources-list",
  "prompts-list",
  "server-sse-multiple-streams",
  "dns-rebinding-protection",
];

describe.skipIf(SUITE === "")("the conformance suite", () => {
  let home: string;
  let daemon: DaemonProcess;
  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), "memoryd-conformance-"));
    daemon = await startDaemonProcess(join(home, "data"));
  });
  afterAll(async () => {
    await daemon.kill();
    rmSync(home, { recursive: true, force: true });
  });

  it.each(SCENARIOS)("passes %s", (scenario) => {
    const words = [SUITE, "server", "--url", `${daemon.baseUrl}/mcp`, "--scenario", scenario];
    const { status, stdout } = spawnSync(NODE, words, { cwd: home, encoding: "utf8", timeout: 60_000 });
    expect(stdout).toMatch(/Passed: ([1-9]\d*)\/\1, 0 failed, 0 warnings/);
    expect(status).toBe(0);
  });
});
