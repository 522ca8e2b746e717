import fc from "fast-check";
import { stringify } from "yaml";
import { describe, expect, it } from "vitest";
import { readEntry, withEntry, withoutEntry } from "../../../src/cli/agents/agent-entry.ts";

const LAUNCH = { name: "memoryd", type: "stdio", enabled: true, cmd: "/opt/node", args: ["/a b.js", "mcp"] };
const PLACE = { format: "yaml", section: "extensions" } as const;
const add = (text: string) => withEntry(PLACE, text, LAUNCH);
const take = (text: string) => withoutEntry(PLACE, text);

describe("withEntry in YAML", () => {
  it("writes a whole file where there is none", () => {
    expect(add("")).toBe(
      "extensions:\n  memoryd:\n    name: memoryd\n    type: stdio\n    enabled: true\n" +
        "    cmd: /opt/node\n    args:\n      - /a b.js\n      - mcp\n",
    );
  });

  it.each([
    [
      "comments and blank lines",
      "# mine\nextensions:\n    # dev\n    x: # y\n        a: [1]\n\n# end\nb: 2\n",
    ],
    ["carriage returns and a block of text", "extensions:\r\n  x:\r\n    a: |\r\n      text\r\nz: 1\r\n"],
    ["other keys only", "GOOSE_MODE: auto\n"],
    ["comments alone", "# mine\n\n# extensions:\n#   x: {a: 1}\n"],
    ["an entry in braces and no last line break", "extensions:\n  x: {a: 1}"],
  ])("keeps %s, byte for byte when it is taken out again", (_, text) => {
    const edited = add(text);
    expect(readEntry(PLACE, edited)).toEqual(LAUNCH);
    expect(take(edited)).toBe(text);
    expect(add(edited)).toBe(edited);
    if (text.includes("# dev")) expect(edited).toContain("- mcp\n    # dev\n    x: # y\n");
    if (text.includes("\r")) expect(edited).not.toMatch(/[^\r]\n/);
  });

  it("writes below a name that has nothing", () => {
    expect(readEntry(PLACE, add("a: 1\nextensions:\nb: 2\n"))).toEqual(LAUNCH);
    expect(take("a: 1\nextensions:\n")).toBe("a: 1\nextensions:\n");
  });

  it("keeps what else an entry of ours says, but not an address", () => {
    const own = "extensions:\n  memoryd:\n    cmd: old\n    envs: {A: b}\n";
    expect(readEntry(PLACE, add(own))).toEqual({ ...LAUNCH, envs: { A: "b" } });
    const remote = "extensions:\n  memoryd:\n    uri: http://127.0.0.1/mcp\n";
    expect(readEntry(PLACE, add(remote))).toEqual(LAUNCH);
  });

  it.each([
    ["a: [", "not YAML"],
    ["a: 1\na: 2", "not YAML"],
    ["- a", "does not hold names with values"],
    ["extensions: [x]", '"extensions" does not hold names with values'],
    ["extensions: {x: {a: 1}}", "line by line"],
    ["{a: 1}", "line by line"],
  ])("refuses %s", (text, why) => {
    expect(() => add(text)).toThrow(why);
  });

  it("changes nothing but its entry, whatever else is there", () => {
    const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.string(), { maxLength: 3 }));
    const names = fc.string({ minLength: 1 }).filter((name) => name !== "memoryd" && name !== "__proto__");
    const entries = fc.dictionary(names, fc.dictionary(names, value, { minKeys: 1 }), { minKeys: 1 });
    fc.assert(
      fc.property(entries, value, (extensions, other) => {
        const text = stringify({ before: other, extensions, after: other });
        expect(take(add(text))).toBe(text);
      }),
    );
  });
});
