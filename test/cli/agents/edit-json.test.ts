import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readEntry, withEntry, withoutEntry } from "../../../src/cli/agents/agent-entry.ts";

const LAUNCH = { type: "stdio", command: "/opt/node", args: ["/opt/memoryd/bin/memoryd.js", "mcp"] } as const;
const PLACE = { format: "json", section: "mcpServers" } as const;
const add = (text: string) => withEntry(PLACE, text, LAUNCH);
const take = (text: string, own?: string) => withoutEntry(PLACE, text, own);

describe("withEntry in JSON", () => {
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
    expect(edited).toContain('these */\r\n\t\t"memoryd": {\r\n\t\t\t"type": "stdio",\r\n');
    expect(edited).toContain('\t\t},\r\n\t\t"x": { "command": "x" }, // the x\r\n\t\t// last words\r\n\t},');
    expect(edited).not.toMatch(/[^\r]\n/);
    expect(readEntry(PLACE, edited)).toEqual(LAUNCH);
    expect(take(edited)).toBe(text);
  });

  it("keeps a key that names the prototype", () => {
    const text = '{ "mcpServers": { "__proto__": {} }, "after": { "__proto__": {} } }';
    expect(add(text)).toContain('"__proto__": {} }, "after": { "__proto__": {} }');
    expect(take(add(text))).toBe(text);
  });

  it("leaves comments above and behind an entry with that entry", () => {
    const text = '{\n  "mcpServers": {\n    // about x\n    "x": {} // the x\n  }\n}\n';
    expect(add(text)).toContain('    },\n    // about x\n    "x": {} // the x\n  }');
    expect(take(add(text))).toBe(text);
  });

  it("keeps what else an entry of ours says, but not an address", () => {
    const own = '{"mcpServers": {"memoryd": {"command": "old", /* why */ "env": {"A": "b"}}}}';
    expect(readEntry(PLACE, add(own))).toEqual({ ...LAUNCH, env: { A: "b" } });
    expect(add(own)).toContain("/* why */");
    const remote = '{"mcpServers": {"memoryd": {"url": "http://127.0.0.1:8080/mcp", "headers": {}}}}';
    expect(readEntry(PLACE, add(remote))).toEqual(LAUNCH);
  });

  it("changes nothing the second time", () => {
    const once = add('{ "theme": "dark" }');
    expect(add(once)).toBe(once);
  });

  it.each([
    ["{", "not JSON"],
    ["[]", "not hold a JSON object"],
    ['{"mcpServers": []}', 'Its "mcpServers" does not hold names with values'],
    ['{"mcpServers": null}', 'Its "mcpServers" does not hold names with values'],
    ['{"mcpServers": {}, "mcpServers": {"x": 1}}', "cannot be changed here"],
  ])("refuses %s", (text, why) => {
    expect(() => add(text)).toThrow(why);
  });

  it("is taken back byte for byte, whatever else is in the file", () => {
    const servers = fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1, maxKeys: 4 });
    const files = fc.record({ before: fc.jsonValue(), mcpServers: servers, after: fc.jsonValue() });
    const indents = fc.constantFrom("  ", "    ", "\t", "");
    fc.assert(
      fc.property(files, indents, fc.boolean(), (file, indent, hasMark) => {
        fc.pre(!Object.hasOwn(file.mcpServers, "memoryd"));
        const text = (hasMark ? "\ufeff" : "") + JSON.stringify(file, null, indent);
        const edited = add(text);
        expect(readEntry(PLACE, edited)).toEqual(LAUNCH);
        expect(take(edited)).toBe(text);
      }),
    );
  });
});

describe("withoutEntry in JSON", () => {
  it("leaves a file without the entry as it is", () => {
    expect(take('{ "mcpServers": { "x": 1 } }')).toBe('{ "mcpServers": { "x": 1 } }');
  });

  it("keeps the neighbours and their comments", () => {
    const text = '{\n  "mcpServers": {\n    "a": 1, // a\n    "memoryd": {},\n    // b\n    "b": 2\n  }\n}';
    expect(take(text)).toBe('{\n  "mcpServers": {\n    "a": 1, // a\n    // b\n    "b": 2\n  }\n}');
    expect(take('{"mcpServers":{"a":1 /* a */, "memoryd":{}}}')).toBe('{"mcpServers":{"a":1 /* a */ }}');
  });

  it("leaves no section that was not there before, and nothing of a file that was not", () => {
    const commented = add("{}").replace('"mcpServers": {', '"mcpServers": { // mine');
    expect(take(commented)).toContain("// mine");
    for (const own of [
      "{}",
      '{ "mcpServers": {} }\n',
      '{\n  "theme": "dark"\n}\n',
      '{"theme":"dark"}',
      "// mine\n{}\n",
    ])
      expect(take(add(own), own)).toBe(own);
    expect(take(add(""))).toBeUndefined();
    expect(take(add('{"theme":"dark"}'))).toBe('{"theme":"dark"}');
  });
});
