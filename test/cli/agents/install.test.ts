import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runCliHere } from "../../support/run-cli.ts";

const LAUNCHER = resolve(import.meta.dirname, "../../../bin/memoryd.js");

let home: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "memoryd-agents-")));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Wherever this system has a person's files, they are below `home`. */
const run = (...words: string[]) =>
  runCliHere(["mcp", ...words], {
    home,
    env: { USERPROFILE: home, APPDATA: home, CODEX_HOME: join(home, ".codex"), MEMORYD_DATA_DIR: "" },
  });
const serversIn = (file: string) =>
  (JSON.parse(readFileSync(file, "utf8")) as { mcpServers: Record<string, unknown> }).mcpServers;

it("goes into an agent's file with the words it was given, is found stale, and comes out again", async () => {
  const file = join(home, ".cursor", "mcp.json");
  mkdirSync(join(home, ".cursor"));
  writeFileSync(file, '{ "mcpServers": { "x": { "command": "x" } } }');

  const words = ["--user", "ada", "--project-name", "garden", "--tools", "list", "--read-only"];
  expect(await run("install", "cursor", ...words)).toMatchObject({ code: 0, stderr: "" });
  expect(serversIn(file)).toEqual({
    x: { command: "x" },
    memoryd: {
      type: "stdio",
      command: process.execPath,
      args: [LAUNCHER, "mcp", "--project", "garden", "--user", "ada", "--tools", "list", "--read-only"],
    },
  });
  expect(readFileSync(`${file}.before-memoryd`, "utf8")).toContain('"x": { "command": "x" } } }');
  expect(await run("status")).toMatchObject({ code: 0, stdout: expect.stringContaining("installed in") });

  writeFileSync(file, readFileSync(file, "utf8").replace("memoryd.js", "gone.js"));
  expect(await run("status")).toMatchObject({ code: 1, stdout: expect.stringContaining("gone.js is gone") });

  expect(await run("uninstall", "cursor")).toMatchObject({ code: 0 });
  expect(serversIn(file)).toEqual({ x: { command: "x" } });
});

it("writes where no agent is only when told to, and shows what it would write", async () => {
  const file = join(home, ".gemini", "settings.json");
  expect(await run("install", "gemini")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("does not seem to be installed"),
  });
  expect(await run("install", "gemini", "--print")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"mcpServers": {'),
  });
  expect(existsSync(file)).toBe(false);
  expect(await run("install", "gemini", "--force")).toMatchObject({ code: 0 });
  expect(Object.keys(serversIn(file))).toEqual(["memoryd"]);
  expect(await run("install", "windsurf", "--project")).toMatchObject({ code: 2 });
});

it.each([
  ["opencode", ".config/opencode/opencode.jsonc", '{ "mcp": {} } // mine\n', '"command": ['],
  ["zed", ".config/zed/settings.json", '// mine\n{ "context_servers": {} }\n', '"args": ['],
  ["cline", ".cline/data/settings/cline_mcp_settings.json", '{"mcpServers": {}}', '"command": "'],
  ["goose", ".config/goose/config.yaml", "# mine\nextensions:\n  x:\n    a: 1\n", "cmd: "],
  ["copilot", ".copilot/mcp-config.json", '{\n  "mcpServers": {}\n}\n', '"tools": ['],
])("writes the entry of %s in its form, and gives the file back", async (agent, path, text, part) => {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  expect(await run("install", agent)).toMatchObject({ code: 0, stderr: "" });
  const edited = readFileSync(file, "utf8");
  expect(edited).toContain(part);
  expect(edited).toContain(LAUNCHER);
  expect(await run("status")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`installed in ${file}`),
  });
  expect(await run("install", agent)).toMatchObject({ stdout: expect.stringContaining("already has") });
  expect(await run("uninstall", agent)).toMatchObject({ code: 0 });
  expect(readFileSync(file, "utf8")).toBe(text);
});

it("keeps the person's own file beside it, once, and leaves no file, folder or copy behind", async () => {
  const file = join(home, ".gemini", "settings.json");
  mkdirSync(dirname(file));
  const own = '{ "theme": "dark" }';
  writeFileSync(file, own);
  const install = (...words: string[]) => run("install", "gemini", ...words);
  expect((await install()).stdout).toContain("as it was");
  expect((await install("--user", "ada")).stdout).not.toContain("as it was");
  expect(readFileSync(`${file}.before-memoryd`, "utf8")).toBe(own);
  expect(await run("uninstall", "gemini")).toMatchObject({ code: 0 });
  expect(readFileSync(file, "utf8")).toBe(own);
  expect(readdirSync(dirname(file))).toEqual(["settings.json"]);

  expect(await run("install", "opencode", "--force")).toMatchObject({ code: 0 });
  expect(await run("uninstall", "opencode")).toMatchObject({ code: 0 });
  expect(readdirSync(home)).toEqual([".gemini"]);
});

it("leaves a file that it cannot read as it is", async () => {
  mkdirSync(join(home, ".codex"));
  writeFileSync(join(home, ".codex", "config.toml"), "mcp_servers = { a = {} }\n");
  expect(await run("install", "codex")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("was left as it is. It is written in a way that cannot be changed here"),
  });
  expect(readFileSync(join(home, ".codex", "config.toml"), "utf8")).toBe("mcp_servers = { a = {} }\n");
});
