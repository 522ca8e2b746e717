import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readJsonEntry, withJsonEntry, withoutJsonEntry } from "../../../src/cli/agents/edit-json.ts";

const LAUNCH = { type: "stdio", command: "/opt/node", args: ["/opt/memoryd/bin/memoryd.js", "mcp"] } as const;
const add = (text: string) => withJsonEntry(text, "mcpServers", "memoryd", LAUNCH);
const take = (text: string) => withoutJsonEntry(text, "mcpServers", "memoryd");

describe("withJsonEntry", () => {
  it("writes a whole file where there is none", () => {
    expect(add("")).toBe(`{
  "mcpServers": {
    "memoryd": {
      "type": "stdio",
      "command": "/opt/node",
      "args": [
        "/opt/memoryd/bin/memoryd.js",
        "mcp"
      ]
    }
  }
}
`);
  });

  it("keeps comments where they are, trailing commas, indentation and line breaks", () => {
    const text = [
      "// mine",
      "{",
      '\t"a": 1, // one',
      '\t"mcpServers": { /* none of',
      "\tthese */",
      '\t\t"x": { "command": "x" }, // the x',
      "\t\t// last words",
      "\t},",
      "}",
      "",
    ].join("\r\n");
    const edited = add(text);
    expect(edited).toContain(
      '"x": { "command": "x" }, // the x\r\n\t\t// last words\r\n\t\t"memoryd": {\r\n\t\t\t',
    );
    expect(edited).not.toMatch(/[^\r]\n/);
    expect(readJsonEntry(edited, "mcpServers", "memoryd")).toEqual(LAUNCH);
    expect(take(edited)).toBe(text);
  });

  it("leaves the comment behind the last entry with that entry", () => {
    const text = '{\n  "mcpServers": {\n    "x": {} // the x\n  }\n}\n';
    expect(add(text)).toContain('"x": {}, // the x\n    "memoryd": {');
    expect(take(add(text))).toBe(text);
  });

  it("keeps what else an entry of ours says, but not an address", () => {
    const own = '{"mcpServers": {"memoryd": {"command": "old", /* why */ "env": {"A": "b"}}}}';
    expect(readJsonEntry(add(own), "mcpServers", "memoryd")).toEqual({ ...LAUNCH, env: { A: "b" } });
    expect(add(own)).toContain("/* why */");
    const remote = '{"mcpServers": {"memoryd": {"url": "http://127.0.0.1:8080/mcp", "headers": {}}}}';
    expect(readJsonEntry(add(remote), "mcpServers", "memoryd")).toEqual(LAUNCH);
  });

  it("changes nothing the second time", () => {
    const once = add('{ "theme": "dark" }');
    expect(add(once)).toBe(once);
  });

  it.each([
    ["{", "not JSON"],
    ["[]", "not hold a JSON object"],
    ['{"mcpServers": []}', 'Its "mcpServers" is not an object'],
    ['{"mcpServers": null}', 'Its "mcpServers" is not an object'],
    ['{"mcpServers": {}, "mcpServers": {"x": 1}}', "twice"],
  ])("refuses %s", (text, why) => {
    expect(() => add(text)).toThrow(why);
  });

  it("is taken back byte for byte, whatever else is in the file", () => {
    const servers = fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1, maxKeys: 4 });
    const files = fc.record({ before: fc.jsonValue(), mcpServers: servers, after: fc.jsonValue() });
    const indents = fc.constantFrom("  ", "    ", "\t", "");
    fc.assert(
      fc.property(files, indents, fc.boolean(), (file, indent, hasMark) => {
        fc.pre(!Object.keys(file.mcpServers).some((key) => key === "memoryd" || key === "__proto__"));
        const text = (hasMark ? "\ufeff" : "") + JSON.stringify(file, null, indent);
        const edited = add(text);
        expect(readJsonEntry(edited, "mcpServers", "memoryd")).toEqual(LAUNCH);
        expect(take(edited)).toBe(text);
      }),
    );
  });
});

describe("withoutJsonEntry", () => {
  it("leaves a file without the entry as it is", () => {
    expect(take('{ "mcpServers": { "x": 1 } }')).toBe('{ "mcpServers": { "x": 1 } }');
  });

  it("keeps the neighbours and their comments", () => {
    const text = '{\n  "mcpServers": {\n    "a": 1, // a\n    "memoryd": {},\n    // b\n    "b": 2\n  }\n}';
    expect(take(text)).toBe('{\n  "mcpServers": {\n    "a": 1, // a\n    // b\n    "b": 2\n  }\n}');
    expect(take('{"mcpServers":{"a":1 /* a */, "memoryd":{}}}')).toBe('{"mcpServers":{"a":1 /* a */ }}');
  });

  it("takes back the section that came with the entry", () => {
    for (const earlier of ["{}\n", "{\n}\n", '{"theme":"dark"}', '{\n  "theme": "dark"\n}\n', ""]) {
      const taken = withoutJsonEntry(add(earlier), "mcpServers", "memoryd", earlier);
      expect(JSON.parse(taken)).toEqual(JSON.parse(earlier || "{}"));
    }
    const commented = '{\n  "theme": "dark" // why\n}\n';
    expect(withoutJsonEntry(add(commented), "mcpServers", "memoryd", commented)).toBe(commented);
    expect(JSON.parse(take(add("")))).toEqual({});
  });

  it("keeps an empty section that may be the user's", () => {
    const own = '{\n  "mcpServers": {}\n}\n';
    expect(withoutJsonEntry(add(own), "mcpServers", "memoryd", own)).toContain('"mcpServers"');
    const own2 = '{ "theme": "dark" }';
    expect(take(add(own2))).toContain('"mcpServers"');
    const commented = add("{}").replace('"mcpServers": {', '"mcpServers": { // mine');
    expect(withoutJsonEntry(commented, "mcpServers", "memoryd", "{}")).toContain("// mine");
    expect(withoutJsonEntry(add("{}"), "mcpServers", "memoryd", "not JSON")).toContain('"mcpServers"');
  });
});
