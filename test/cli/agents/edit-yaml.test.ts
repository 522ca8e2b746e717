import fc from "fast-check";
import { parse, stringify } from "yaml";
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
    ["comments and blank lines", "# mine\nextensions:\n  # dev\n  x:\n    # y\n    a: [1]\n\n# end\nb: 2\n"],
    ["carriage returns and a block of text", "extensions:\r\n  x:\r\n    a: |\r\n      text\r\nz: 1\r\n"],
    ["other keys only", "GOOSE_MODE: auto\n"],
    ["an entry in braces", "extensions:\n  x: {a: 1}\n"],
    ["a section in braces", "extensions: {x: {a: 1}}\n"],
    ["a file in braces", "{a: 1, extensions: {x: {a: 1}}}\n"],
  ])("keeps %s, also when it is taken out again", (_, text) => {
    const edited = add(text);
    expect(readEntry(PLACE, edited)).toEqual(LAUNCH);
    expect(take(edited)).toBe(text);
    expect(add(edited)).toBe(edited);
    for (const [comment] of text.matchAll(/# \w+/g)) expect(edited).toContain(comment);
    if (text.includes("\r")) expect(edited).not.toMatch(/[^\r]\n/);
  });

  it("keeps comments and values of a file that is indented otherwise", () => {
    const text = "# mine\nextensions:\n    x: # y\n        a: [1]\nlist:\n- 'b'\n";
    expect(take(add(text))).toBe("# mine\nextensions:\n  x:\n    # y\n    a: [1]\nlist:\n  - 'b'\n");
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
    ["x: &a {b: {c: 1}}\nextensions: *a", "cannot be changed here"],
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
        const { extensions: kept, ...others } = parse(take(add(text))) as Record<string, unknown>;
        expect({ kept, ...others }).toEqual({ kept: extensions, before: other, after: other });
      }),
    );
  });
});
