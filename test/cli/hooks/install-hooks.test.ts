import fc from "fast-check";
import { parse } from "jsonc-parser";
import { describe, expect, it } from "vitest";
import { readHooks, withHooks, withoutHooks } from "../../../src/cli/hooks/install-hooks.ts";

const hook = (moment: string) => ({
  hooks: [
    { type: "command", command: `'/node' '/memoryd/bin/memoryd-hook.cjs' claude-code ${moment} '/data'` },
  ],
});
const WANTED = { SessionStart: { matcher: "startup", ...hook("start") }, SessionEnd: hook("end") };
const add = (text: string, head = {}) => withHooks(text, WANTED, head);

describe("withHooks", () => {
  it("writes a whole file where there is none", () => {
    expect(
      JSON.parse(withHooks("", { sessionStart: { command: "memoryd-hook.cjs" } }, { version: 1 })),
    ).toEqual({
      version: 1,
      hooks: { sessionStart: [{ command: "memoryd-hook.cjs" }] },
    });
  });

  it.each([
    ["other settings", '{\n  "model": "x"\n}\n'],
    [
      "hooks of others for the same event, with comments",
      '{\n  // mine\n  "hooks": {\n    "SessionStart": [\n      // theirs\n      { "hooks": [{ "command": "echo" }] } // last\n    ],\n  },\n}\n',
    ],
    ["one line", '{"hooks":{"SessionStart":[{"hooks":[{"command":"echo"}]}]},"a":1}'],
    ["carriage returns and tabs", '{\r\n\t"a": 1,\r\n\t"hooks": {\r\n\t\t"Stop": []\r\n\t}\r\n}\r\n'],
  ])("keeps %s, and gives them back byte for byte", (_, text) => {
    const edited = add(text);
    expect(readHooks(edited)).toEqual(WANTED);
    expect(withoutHooks(edited)).toBe(text);
    expect(add(edited)).toBe(edited);
    if (text.includes("// theirs")) expect(edited).toMatch(/\},\n {6}\/\/ theirs\n {6}\{ "hooks"/);
  });

  it("replaces hooks of ours that are of another program, or stand there twice", () => {
    const old = withHooks(
      '{ "a": 1 }',
      { SessionStart: hook("start"), UserPromptSubmit: hook("prompt") },
      {},
    );
    expect(add(old)).toBe(add('{ "a": 1 }'));
    const twice = JSON.stringify({ hooks: { SessionStart: [hook("start"), hook("start")] } });
    expect(readHooks(add(twice))).toEqual(WANTED);
    expect((parse(add(twice)) as { hooks: { SessionStart: [] } }).hooks.SessionStart).toHaveLength(1);
  });

  it.each([
    ["{", "not JSON"],
    ['{"hooks": []}', '"hooks" is not an object'],
    ['{"hooks": {"Stop": {}}}', '"hooks.Stop" is not a list'],
    ['{"hooks": {}, "hooks": {"Stop": []}}', "cannot be changed here"],
  ])("refuses %s", (text, why) => {
    expect(() => add(text)).toThrow(why);
  });

  it("is taken back byte for byte, whatever else is in the file", () => {
    const other = fc.record({
      matcher: fc.string(),
      hooks: fc.array(fc.record({ command: fc.string() }), { minLength: 1 }),
    });
    const events = fc.dictionary(
      fc.constantFrom("SessionStart", "SessionEnd", "Stop", "x"),
      fc.array(other, { minLength: 1 }),
      { minKeys: 1 },
    );
    const files = fc.record(
      { before: fc.jsonValue(), hooks: events, after: fc.jsonValue() },
      { requiredKeys: ["before"] },
    );
    fc.assert(
      fc.property(files, fc.constantFrom("  ", "\t", ""), (file, indent) => {
        const text = JSON.stringify(file, null, indent);
        const edited = add(text);
        expect(readHooks(edited)).toEqual(WANTED);
        expect(withoutHooks(edited)).toBe(text);
      }),
    );
  });
});

describe("withoutHooks", () => {
  it("leaves a group in which others put theirs beside ours", () => {
    const shared = { hooks: [...hook("start").hooks, { type: "command", command: "echo" }] };
    const text = JSON.stringify({ hooks: { SessionStart: [shared] } });
    expect(JSON.parse(withoutHooks(text))).toEqual({
      hooks: { SessionStart: [{ hooks: [{ type: "command", command: "echo" }] }] },
    });
  });

  it("leaves a file without them as it is", () => {
    const text = '{ "hooks": { "Stop": [] } }';
    expect(withoutHooks(text)).toBe(text);
  });
});
