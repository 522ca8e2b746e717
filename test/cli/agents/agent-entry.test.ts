import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { VERSION } from "../../../src/config/limits.ts";
import { launchOf, staleness } from "../../../src/cli/agents/agent-entry.ts";
import { AGENT_IDS, knownAgents } from "../../../src/cli/agents/known-agents.ts";

const folder = mkdtempSync(join(tmpdir(), "memoryd-entry-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const [launcher, other] = ["this", "other"].map((name) => join(folder, name, "bin", "memoryd.js")) as [
  string,
  string,
];
for (const path of [launcher, other]) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "");
}
writeFileSync(join(folder, "other", "package.json"), '{ "version": "0.0.1" }');
const program = { node: process.execPath, launcher };

const agents = knownAgents("linux", "/home/ada", {});

it.each(AGENT_IDS)("takes what it writes for %s for installed", (id) => {
  expect(staleness(launchOf(agents[id], program, ["--user", "ada"]), program)).toBeUndefined();
});

it("writes entries in the forms of the agents", () => {
  const args = [program.launcher, "mcp"];
  expect(launchOf(agents.cursor, program, [])).toEqual({ type: "stdio", command: program.node, args });
  expect(launchOf(agents.opencode, program, [])).toEqual({ type: "local", command: [program.node, ...args] });
  expect(launchOf(agents.goose, program, [])).toMatchObject({ type: "stdio", cmd: program.node, args });
  expect(launchOf(agents.copilot, program, [])).toMatchObject({
    type: "local",
    command: program.node,
    tools: ["*"],
  });
});

it("finds what does not start this program any more", () => {
  const entry = { command: program.node, args: [program.launcher, "mcp"] };
  expect(staleness({ ...entry, command: "/gone/node" }, program)).toBe("/gone/node is gone");
  expect(staleness({ ...entry, args: ["/gone/memoryd.js", "mcp"] }, program)).toBe(
    "/gone/memoryd.js is gone",
  );
  expect(staleness({ ...entry, command: program.launcher }, program)).toBe(
    `it uses another Node, ${program.launcher}`,
  );
  expect(staleness({ ...entry, args: [other, "mcp"] }, program)).toBe(
    `it starts ${other}, which is version 0.0.1, this one ${VERSION}`,
  );
  // Nothing can be read there.
  mkdirSync(join(folder, "third", "package.json"), { recursive: true });
  mkdirSync(join(folder, "third", "bin"));
  const third = join(folder, "third", "bin", "memoryd.js");
  writeFileSync(third, "");
  expect(staleness({ ...entry, args: [third, "mcp"] }, program)).toBe(`it starts ${third}`);
  expect(staleness({ command: "npx", args: ["memoryd", "serve"] }, program)).toBe(
    "it starts something else (npx)",
  );
  expect(staleness({ url: "http://127.0.0.1" }, program)).toBe("it names an address instead of a program");
});
