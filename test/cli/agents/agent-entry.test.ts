import { expect, it } from "vitest";
import { launchOf, type Sight, staleness } from "../../../src/cli/agents/agent-entry.ts";
import { AGENT_IDS, knownAgents } from "../../../src/cli/agents/known-agents.ts";

const program = { node: "/node", launcher: "/memoryd/bin/memoryd.js" };
const sight: Sight = { program, version: "2.0.0", exists: () => true, versionAt: () => "1.0.0" };

const agents = knownAgents({ platform: "linux", home: "/home/ada", folders: {} });

it.each(AGENT_IDS)("takes what it writes for %s for installed", (id) => {
  expect(staleness(launchOf(agents[id], program, ["--user", "ada"]), sight)).toBeUndefined();
});

it("writes entries in the forms of the agents", () => {
  const args = [program.launcher, "mcp"];
  expect(launchOf(agents.cursor, program, [])).toEqual({ type: "stdio", command: "/node", args });
  expect(launchOf(agents.opencode, program, [])).toEqual({ type: "local", command: ["/node", ...args] });
  expect(launchOf(agents.goose, program, [])).toMatchObject({ type: "stdio", cmd: "/node", args });
  expect(launchOf(agents.copilot, program, [])).toMatchObject({
    type: "local",
    command: "/node",
    tools: ["*"],
  });
});

it("finds what does not start this program any more", () => {
  const entry = { command: "/node", args: [program.launcher, "mcp"] };
  const gone = (path: string): Sight => ({ ...sight, exists: (other) => other !== path });
  expect(staleness(entry, gone("/node"))).toBe("/node is gone");
  expect(staleness(entry, gone(program.launcher))).toBe("/memoryd/bin/memoryd.js is gone");
  expect(staleness({ ...entry, command: "/other/node" }, sight)).toBe("it uses another Node, /other/node");
  expect(staleness({ ...entry, args: ["/old/bin/memoryd.js", "mcp"] }, sight)).toBe(
    "it starts /old/bin/memoryd.js, which is version 1.0.0, this one 2.0.0",
  );
  expect(staleness({ command: "npx", args: ["memoryd", "serve"] }, sight)).toBe(
    "it starts something else (npx)",
  );
  expect(staleness({ url: "http://127.0.0.1" }, sight)).toBe("it names an address instead of a program");
});
