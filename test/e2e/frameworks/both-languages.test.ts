/** What a program in TypeScript keeps and what one in Python keeps, each read and changed by the other. */
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient, type MemorydClient } from "../../../src/client/client.ts";
import { claudeMemoryTool } from "../../../src/client/frameworks/claude-memory.ts";
import { MemorydStore } from "../../../src/client/frameworks/langgraph.ts";
import { type DaemonProcess, startDaemonProcess } from "../../support/daemon-process.ts";

const PYTHON = process.env["MEMORYD_TEST_PYTHON"] ?? "python3";
const hasPackages = spawnSync(PYTHON, ["-c", "import httpx, langgraph, anthropic"]).status === 0;
if (!hasPackages)
  process.stderr.write(`Skipped: ${PYTHON} lacks one of the packages httpx, langgraph and anthropic.\n`);

const userId = "ada";
const NAMESPACES = [
  ["users", "ada"],
  ["a/b", "日本", "?#%!*'()~_-"],
  ["x".repeat(300), "y ü"],
  Array.from({ length: 60 }, (_, i) => String(i)),
];
const KEYS = ["k", "", " ", "ключ/?#", "z".repeat(300)];
const FILES = [
  "/memories/a.txt",
  "/memories/ü #?/x y.md",
  `/memories/${"p".repeat(300)}/q`,
  "/memories/empty",
];

const PROGRAM = `
import json, sys
from memoryd import Memoryd
from memoryd.claude_memory import ClaudeMemoryTool
from memoryd.langgraph import MemorydStore

url, user, namespaces, keys, files = json.loads(sys.argv[1])
client = Memoryd(url=url)
store = MemorydStore(user, client=client)
tool = ClaudeMemoryTool(user, client=client)
for namespace in map(tuple, namespaces):
    for key in keys:
        value = store.get(namespace, key).value
        store.put(namespace, key, {**value, "seen": "Python"})
    store.put(namespace, "Python's", {"seen": "Python"})
for file in files:
    tool.call({"command": "insert", "path": file, "insert_line": 0, "insert_text": "Python"})
tool.call({"command": "create", "path": "/memories/python.md", "file_text": ""})
print(json.dumps(tool.call({"command": "view", "path": "/memories"})))
`;

describe.skipIf(!hasPackages)("TypeScript and Python", () => {
  const folder = mkdtempSync(join(tmpdir(), "memoryd-both-languages-"));
  let daemon: DaemonProcess;
  let client: MemorydClient;
  beforeAll(async () => {
    daemon = await startDaemonProcess(folder);
    client = createClient({ url: daemon.baseUrl });
  });
  afterAll(async () => {
    await daemon.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it("see the same items and files", { timeout: 120_000 }, async () => {
    const store = new MemorydStore({ client, userId });
    const tool = claudeMemoryTool({ client, userId });
    const value = { n: 1.5, is: true, nothing: null, deep: [{ a: "b" }] };
    for (const namespace of NAMESPACES) for (const key of KEYS) await store.put(namespace, key, value);
    for (const path of FILES)
      await tool.run({ command: "create", path, file_text: path.endsWith("empty") ? " \n" : "TypeScript" });

    const input = JSON.stringify([daemon.baseUrl, userId, NAMESPACES, KEYS, FILES]);
    const root = resolve(import.meta.dirname, "../../..");
    const env = { ...process.env, PYTHONPATH: join(root, "src/client/python") };
    const { stdout } = await promisify(execFile)(PYTHON, ["-c", PROGRAM, input], { env });

    for (const namespace of NAMESPACES) {
      for (const key of KEYS)
        expect((await store.get(namespace, key))?.value).toEqual({ ...value, seen: "Python" });
      expect((await store.get(namespace, "Python's"))?.value).toEqual({ seen: "Python" });
    }
    // One memory an item, whoever wrote it.
    const count = NAMESPACES.length * (KEYS.length + 1);
    expect(await client.memories.page({ user_id: userId, tag: "langgraph" })).toMatchObject({ total: count });
    for (const path of FILES)
      expect(await tool.run({ command: "view", path })).toMatch(
        /:\n {5}1\tPython\n {5}2\t(?:TypeScript$| \n)/,
      );
    expect(await tool.run({ command: "view", path: "/memories/python.md" })).toMatch(/:\n {5}1\t$/);
    expect(await tool.run({ command: "view", path: "/memories" })).toBe(JSON.parse(stdout));
  });
});
