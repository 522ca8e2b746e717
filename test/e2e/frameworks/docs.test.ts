/** The programs of docs/frameworks.md in JavaScript, run as they stand there with the built package, on a real daemon. */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createClient, type MemorydClient } from "../../../src/client/client.ts";
import { type DaemonProcess, startDaemonProcess } from "../../support/daemon-process.ts";
import { startFakeClaude } from "../../support/fake-claude.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const page = readFileSync(join(ROOT, "docs/frameworks.md"), "utf8");
const programs = Array.from(page.matchAll(/^```js\n([^]*?)^```/gm), ([, program = ""]) => program);

/** Of the user's own: it repeats what stands before the question. */
const MODEL = `import { MockLanguageModelV4 } from "ai/test";
const tokens = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 };
export const model = new MockLanguageModelV4({
  doGenerate: async ({ prompt }) => ({
    content: [{ type: "text", text: prompt.at(-1).content[0].text }],
    finishReason: { unified: "stop", raw: "stop" },
    usage: { inputTokens: tokens, outputTokens: { total: 1, text: 1, reasoning: 0 } },
    warnings: [],
  }),
});`;

let folder: string;
let daemon: DaemonProcess;
let client: MemorydClient;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "memoryd-framework-docs-"));
  daemon = await startDaemonProcess(join(folder, "data"));
  client = createClient({ url: daemon.baseUrl });
  mkdirSync(join(folder, "node_modules"));
  for (const name of ["ai", "@langchain", "@anthropic-ai"])
    symlinkSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name), "junction");
  symlinkSync(ROOT, join(folder, "node_modules/memoryd"), "junction");
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(folder, "model.js"), MODEL);
  // The programs speak to the usual port.
  const redirect = `const send = fetch;
globalThis.fetch = (url, ...more) => send(String(url).replace("http://127.0.0.1:8080", ${JSON.stringify(daemon.baseUrl)}), ...more);`;
  writeFileSync(join(folder, "redirect.js"), redirect);
});
afterAll(async () => {
  await daemon.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** What the page's only program that imports `memoryd/NAME` prints. */
async function run(name: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const [program, ...others] = programs.filter((text) => text.includes(`"memoryd/${name}"`));
  expect(others).toEqual([]);
  writeFileSync(join(folder, `${name}.js`), program ?? "");
  const words = ["--import", "./redirect.js", `${name}.js`];
  const { stdout } = await promisify(execFile)(process.execPath, words, {
    cwd: folder,
    env: { PATH: process.env["PATH"], ...env },
  });
  return stdout;
}

it("of the AI SDK", async () => {
  await client.memories.add({ content: "The spare key hangs behind the water meter.", user_id: "ada" });
  expect(await run("ai-sdk")).toContain("behind the water meter");
});

it("of LangGraph", async () => {
  expect(await run("langgraph")).toBe("[ 'The spare key hangs behind the water meter.' ]\n");
});

it("of Claude's memory tool", async () => {
  const claude = await startFakeClaude([
    { command: "create", path: "/memories/drinks.md", file_text: "They drink tea." },
  ]);
  try {
    const printed = await run("claude-memory", {
      ANTHROPIC_BASE_URL: claude.baseURL,
      ANTHROPIC_API_KEY: "none",
    });
    expect(printed).toContain("Done.");
  } finally {
    claude.close();
  }
  const { items } = await client.memories.page({ user_id: "ada", tag: "claude-memory/drinks.md" });
  expect(items).toMatchObject([{ content: "They drink tea." }]);
});

it("says in one sentence which package is missing", async () => {
  rmSync(join(folder, "node_modules/memoryd"));
  mkdirSync(join(folder, "node_modules/memoryd/dist"), { recursive: true });
  for (const part of ["client", "schemas"])
    cpSync(join(ROOT, "dist", part), join(folder, "node_modules/memoryd/dist", part), { recursive: true });
  writeFileSync(
    join(folder, "node_modules/memoryd/package.json"),
    readFileSync(join(ROOT, "package.json"), "utf8"),
  );
  for (const [name, wanted] of [
    ["ai-sdk", "ai"],
    ["langgraph", "@langchain/langgraph-checkpoint"],
    ["claude-memory", "@anthropic-ai/sdk"],
  ] as const) {
    rmSync(join(folder, "node_modules", wanted.split("/")[0] ?? ""), { force: true });
    const importing = promisify(execFile)(process.execPath, ["-e", `import("memoryd/${name}")`], {
      cwd: folder,
    });
    await expect(importing).rejects.toThrow(
      `memoryd/${name} needs the package ${wanted}; install it with \`npm install ${wanted}\`.`,
    );
  }
});
