import { parse } from "smol-toml";
import { describe, expect, it } from "vitest";
import { readEntry, withEntry, withoutEntry } from "../../../src/cli/agents/agent-entry.ts";

const LAUNCH = { command: "C:\\Program Files\\node.exe", args: ["C:\\m\\memoryd.js", "mcp"] };
const PLACE = { format: "toml", section: "mcp_servers" } as const;
const add = (text: string) => withEntry(PLACE, text, LAUNCH);
const take = (text: string) => withoutEntry(PLACE, text) ?? "";

const OTHERS = `# mine
model = "gpt" # the model
big = 9223372036854775807
at = 2026-11-21T10:00:00Z
prompt = """
[mcp_servers.memoryd]
command = "not this one" """
list = [
  "[mcp_servers.memoryd]", # nor this
  'a#b',
]

[mcp_servers.other]
command = "x"

[[profiles]]
name = "[a]"
`;

describe("withEntry in TOML", () => {
  it("writes a table at the end, and everything else stays", () => {
    expect(add(OTHERS)).toBe(`${OTHERS}
[mcp_servers.memoryd]
command = "C:\\\\Program Files\\\\node.exe"
args = [ "C:\\\\m\\\\memoryd.js", "mcp" ]
`);
    expect(readEntry(PLACE, add(OTHERS))).toEqual(LAUNCH);
  });

  it.each(["", OTHERS, OTHERS.replaceAll("\n", "\r\n"), 'a = "b"\n'])(
    "is taken back byte for byte",
    (text) => {
      expect(take(add(text))).toBe(text);
      expect(add(add(text))).toBe(add(text));
    },
  );

  it("ends a last line that has no end", () => {
    expect(add("a = 1")).toMatch(/^a = 1\n\n\[mcp_servers\.memoryd\]\n/);
  });

  it("keeps the other keys and the sub-tables of an entry, but not an address", () => {
    const text = `[mcp_servers."memoryd"] # ours
args = [
  "old", # [x]
] # behind
startup_timeout_sec = 20
url = "http://127.0.0.1:8080/mcp"

[mcp_servers.memoryd.env]
A = "b"

# of the next
[tui]
x = 1 # theirs
`;
    expect(add(text)).toContain("\n# of the next\n[tui]\nx = 1 # theirs\n");
    expect(parse(add(text))).toEqual({
      tui: { x: 1 },
      mcp_servers: { memoryd: { ...LAUNCH, startup_timeout_sec: 20, env: { A: "b" } } },
    });
    expect(add(add(text))).toBe(add(text));
    expect(parse(take(text))).toEqual({ tui: { x: 1 } });
    expect(take(text)).toContain("# of the next");
  });

  it.each([
    ["mcp_servers = {}", "cannot be changed here"],
    ['mcp_servers = { memoryd = { command = "x" } }', "cannot be changed here"],
    ['[mcp_servers]\nmemoryd.command = "x"\n', "cannot be changed here"],
    ["a = ", "not TOML"],
  ])("refuses %s", (text, why) => {
    expect(() => add(text)).toThrow(why);
  });
});

describe("withoutEntry in TOML", () => {
  it("refuses what is no table, and leaves alone what is not there", () => {
    expect(() => take('[mcp_servers]\nmemoryd.command = "x"\n')).toThrow("cannot be changed here");
    expect(take("a = 1")).toBe("a = 1");
  });
});
