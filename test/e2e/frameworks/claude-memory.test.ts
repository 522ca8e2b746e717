/** Claude's memory tool on a real daemon; the SDK's own loop runs it, against a server that plays the model. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import type { BetaMemoryTool20250818Command } from "@anthropic-ai/sdk/resources/beta";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createClient, type MemorydClient } from "../../../src/client/client.ts";
import { claudeMemoryTool } from "../../../src/client/frameworks/claude-memory.ts";
import { type DaemonProcess, startDaemonProcess } from "../../support/daemon-process.ts";
import { startFakeClaude } from "../../support/fake-claude.ts";

const folder = mkdtempSync(join(tmpdir(), "memoryd-claude-memory-"));
let daemon: DaemonProcess;
let client: MemorydClient;
beforeAll(async () => {
  daemon = await startDaemonProcess(folder);
  client = createClient({ url: daemon.baseUrl, clientName: "claude" });
});
afterAll(async () => {
  await daemon.stop();
  rmSync(folder, { recursive: true, force: true });
});

let users = 0;
let userId: string;
beforeEach(() => {
  users += 1;
  userId = `user-${users}`;
});

/** The tool answers text. */
const run = async (
  command: BetaMemoryTool20250818Command,
  more: { userId?: string; project?: string } = {},
) => (await claudeMemoryTool({ client, userId, ...more }).run(command)) as string;
const view = (path: string, view_range?: number[]) =>
  run({ command: "view", path, ...(view_range && { view_range }) });
const create = (path: string, file_text: string) => run({ command: "create", path, file_text });
const replace = (path: string, old_str: string, new_str: string) =>
  run({ command: "str_replace", path, old_str, new_str });
const insert = (path: string, insert_line: number, insert_text: string) =>
  run({ command: "insert", path, insert_line, insert_text });
const remove = (path: string) => run({ command: "delete", path });
const rename = (old_path: string, new_path: string) => run({ command: "rename", old_path, new_path });

const SHOWN = "Here's the content of";
const FOLDER = "Here're the files and directories up to 2 levels deep in";
const HIDDEN = "excluding hidden items and node_modules:";

describe("files", () => {
  it("are created, viewed, edited, renamed and deleted, as the documentation of the tool words it", async () => {
    const path = "/memories/notes.txt";
    expect(await view("/memories")).toBe(`${FOLDER} /memories, ${HIDDEN}\n0B\t/memories`);
    expect(await create(path, "one\ntwo\nthree\n")).toBe(`File created successfully at: ${path}`);
    await expect(create(path, "again")).rejects.toThrow(`File ${path} already exists`);
    expect(await view(path)).toBe(
      `${SHOWN} ${path} with line numbers:\n     1\tone\n     2\ttwo\n     3\tthree\n     4\t`,
    );
    expect(await view(path, [2, 3])).toBe(`${SHOWN} ${path} with line numbers:\n     2\ttwo\n     3\tthree`);
    expect(await view(path, [3, -1])).toMatch(/:\n {5}3\tthree\n {5}4\t$/);
    expect(await replace(path, "two", "zwei\ndeux")).toBe(
      "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n" +
        "     1\tone\n     2\tzwei\n     3\tdeux\n     4\tthree\n     5\t",
    );
    expect(await insert(path, 0, "zero\n")).toBe(`The file ${path} has been edited.`);
    expect(await view(path)).toContain("     1\tzero\n     2\tone");
    expect(await rename(path, "/memories/a/b/n.txt")).toBe(
      `Successfully renamed ${path} to /memories/a/b/n.txt`,
    );
    expect(await view("/memories")).toBe(
      `${FOLDER} /memories, ${HIDDEN}\n25B\t/memories\n25B\t/memories/a/\n25B\t/memories/a/b/`,
    );
    expect(await view("/memories/a/")).toBe(
      `${FOLDER} /memories/a, ${HIDDEN}\n25B\t/memories/a\n25B\t/memories/a/b/\n25B\t/memories/a/b/n.txt`,
    );
    expect(await remove("/memories/a")).toBe("Successfully deleted /memories/a");
    await expect(view("/memories/a")).rejects.toThrow(
      "The path /memories/a does not exist. Please provide a valid path.",
    );
  });

  it("say what is wrong with an edit", async () => {
    const path = "/memories/notes.txt";
    await create(path, "tea\nhot tea\nmilk");
    await expect(replace(path, "coffee", "x")).rejects.toThrow(
      `No replacement was performed, old_str \`coffee\` did not appear verbatim in ${path}.`,
    );
    await expect(replace(path, "", "x")).rejects.toThrow("did not appear verbatim");
    await expect(replace(path, "tea", "x")).rejects.toThrow(
      "No replacement was performed. Multiple occurrences of old_str `tea` in lines: 1, 2. Please ensure it is unique",
    );
    await expect(insert(path, 4, "x")).rejects.toThrow(
      "Invalid `insert_line` parameter: 4. It should be within the range of lines of the file: [0, 3]",
    );
    await expect(replace("/memories/no", "a", "b")).rejects.toThrow(
      "The path /memories/no does not exist. Please provide a valid path.",
    );
    await expect(remove("/memories/no")).rejects.toThrow("The path /memories/no does not exist");
    await expect(rename("/memories/no", "/memories/x")).rejects.toThrow(
      "The path /memories/no does not exist",
    );
    await create("/memories/f/x", "x");
    await expect(rename(path, "/memories/f")).rejects.toThrow("The destination /memories/f already exists");
    await expect(rename("/memories/f", "/memories/f/g")).rejects.toThrow("inside of itself");
    await expect(create(`${path}/x`, "x")).rejects.toThrow(`The path ${path} is a file, not a directory`);
    await expect(remove("/memories")).rejects.toThrow("Cannot delete the /memories directory itself");
    await expect(rename("/memories", "/memories/x")).rejects.toThrow("Cannot rename");
  });

  it("keep every character, also of texts that are blank", async () => {
    for (const [i, text] of ["", " \n\t", "\u200B\u2800", "a\r\nb\u0000c\uFEFF ", "  x  "].entries()) {
      const path = `/memories/${i} $& ü#?%.txt`;
      await create(path, text);
      const [memory] = (await client.memories.page({ user_id: userId, tag: "claude-memory" })).items;
      expect(memory?.content).toBe(i < 3 ? path : text);
      expect(await view(path)).toBe(
        `${SHOWN} ${path} with line numbers:\n${text
          .split("\n")
          .map((line, n) => `     ${n + 1}\t${line}`)
          .join("\n")}`,
      );
      await insert(path, 0, "$& first");
      expect(await view(path)).toContain(`     1\t$& first\n     2\t${text.split("\n")[0]}`);
    }
  });

  it("are memories: found by questions, with history, and in the trash", async () => {
    await create("/memories/home.md", "The spare key hangs behind the water meter.");
    await replace("/memories/home.md", "behind the water meter", "in Tom's shed");
    const [found] = (await client.query("where is the key?", { user_id: userId })).matches;
    expect(found).toMatchObject({ content: "The spare key hangs in Tom's shed.", version: 2 });
    const { items } = await client.memories.history(found?.id ?? "", { user_id: userId });
    expect(items.map(({ content }) => content)).toContain("The spare key hangs behind the water meter.");
    // What a person changes is what Claude sees.
    await client.memories.update(found?.id ?? "", { content: "It is lost.", user_id: userId });
    expect(await view("/memories/home.md")).toContain("     1\tIt is lost.");
    await remove("/memories/home.md");
    await client.trash.restore(found?.id ?? "", { user_id: userId });
    expect(await view("/memories/home.md")).toContain("     1\tIt is lost.");
  });
});

describe("isolation", () => {
  it("keeps a path in /memories", async () => {
    const outside = [
      "/etc/passwd",
      "memories/x",
      "/memoriesx",
      "",
      "/",
      "/memories/../x",
      "/memories/a/../../x",
    ];
    const encoded = [
      "/memories/%2e%2e/x",
      "/memories/.%2E/x",
      "/memories/a%2f..%2fx",
      "/memories/a\\..\\x",
      "/memories/\u0000",
    ];
    for (const path of [...outside, ...encoded]) {
      await expect(view(path)).rejects.toThrow(/must start with \/memories|would escape \/memories/);
      await expect(create(path, "x")).rejects.toThrow(/must start with|would escape/);
      await expect(rename("/memories/a", path)).rejects.toThrow(/must start with|would escape/);
    }
    expect(await client.memories.page({ user_id: userId })).toMatchObject({ total: 0 });
    await create("/memories//./a/b", "x");
    expect(await view("/memories/a/b")).toContain("     1\tx");
  });

  it("knows no files of other users and projects", async () => {
    const path = "/memories/mine.md";
    await create(path, "mine");
    for (const other of [{ userId: "somebody" }, { project: "atlas" }]) {
      expect(await run({ command: "view", path: "/memories" }, other)).not.toContain("mine");
      await expect(run({ command: "view", path }, other)).rejects.toThrow("does not exist");
      await expect(run({ command: "delete", path }, other)).rejects.toThrow("does not exist");
      await run({ command: "create", path, file_text: "theirs" }, other);
      await expect(run({ command: "create", path, file_text: "x" }, other)).rejects.toThrow("already exists");
    }
    expect(await view(path)).toContain("     1\tmine");
    expect(await run({ command: "view", path }, { project: "atlas" })).toContain("     1\ttheirs");
  });

  it("gives a path to one of eight programs that create or rename a file there at once", async () => {
    const told = async (attempts: readonly Promise<string>[]) => {
      const outcomes = await Promise.allSettled(attempts);
      for (const outcome of outcomes)
        if (outcome.status === "rejected") expect(String(outcome.reason)).toContain("already exists");
      return outcomes.map(({ status }) => status === "fulfilled");
    };
    const texts = Array.from({ length: 8 }, (_, i) => `text ${i}`);
    const made = await told(texts.map((text) => create("/memories/made", text)));
    expect(made.filter(Boolean)).toHaveLength(1);
    expect(await view("/memories/made")).toContain(`     1\ttext ${made.indexOf(true)}`);
    expect(await client.memories.page({ user_id: userId })).toMatchObject({ total: 1 });
    await rename("/memories/made", "/memories/moved");
    await expect(view("/memories/made")).rejects.toThrow("does not exist");

    for (const text of texts) await create(`/memories/from/${text}`, text);
    const renamed = await told(texts.map((text) => rename(`/memories/from/${text}`, "/memories/to")));
    expect(renamed.filter(Boolean)).toHaveLength(1);
    expect(await view("/memories/to")).toContain(`     1\ttext ${renamed.indexOf(true)}`);
    for (const [i, text] of texts.entries())
      if (renamed[i] !== true) expect(await view(`/memories/from/${text}`)).toContain(`     1\t${text}`);

    const mixed = await told(
      texts.map((text, i) =>
        renamed[i] === true ? create("/memories/x", "new") : rename(`/memories/from/${text}`, "/memories/x"),
      ),
    );
    expect(mixed.filter(Boolean)).toHaveLength(1);
    expect(await client.memories.page({ user_id: userId })).toMatchObject({
      total: mixed.findIndex(Boolean) === renamed.findIndex(Boolean) ? 10 : 9,
    });
  });

  it("reads the last changed of two memories of a path, and keeps the other in the trash once it is changed", async () => {
    const path = "/memories/two.md";
    await create(path, "one");
    const [memory] = (await client.memories.page({ user_id: userId })).items;
    await remove(path);
    await create(path, "two");
    await client.trash.restore(memory?.id ?? "", { user_id: userId });
    expect(await view(path)).toContain("     1\tone");
    await rename(path, "/memories/three.md");
    await expect(view(path)).rejects.toThrow("does not exist");
    const { items } = await client.trash.page({ user_id: userId });
    expect(items.map(({ content }) => content)).toEqual(["two"]);
  });

  it("refuses an edit of a file that somebody changed meanwhile", async () => {
    const path = "/memories/two.md";
    await create(path, "one");
    const edits = await Promise.allSettled([insert(path, 0, "x"), insert(path, 0, "y")]);
    for (const edit of edits)
      if (edit.status === "rejected") expect(String(edit.reason)).toContain("was changed by somebody else");
    await remove(path);
    expect(await client.memories.page({ user_id: userId })).toMatchObject({ total: 0 });
  });
});

it("runs in the SDK's own loop", async () => {
  const { baseURL, asked, close } = await startFakeClaude([
    { command: "view", path: "/memories/none" },
    { command: "create", path: "/memories/tea.md", file_text: "Ada drinks tea." },
  ]);
  try {
    const last = await new Anthropic({ apiKey: "none", baseURL }).beta.messages.toolRunner({
      model: "claude",
      max_tokens: 100,
      messages: [{ role: "user", content: "I drink tea. Ada." }],
      tools: [claudeMemoryTool({ client, userId })],
      betas: ["context-management-2025-06-27"],
    });
    expect(last.content).toMatchObject([{ type: "text", text: "Done." }]);
  } finally {
    close();
  }
  const results = asked.map(({ messages }) => messages.at(-1)?.content);
  expect(results[1]).toMatchObject([
    {
      is_error: true,
      content: "Error: The path /memories/none does not exist. Please provide a valid path.",
    },
  ]);
  expect(results[2]).toMatchObject([{ content: "File created successfully at: /memories/tea.md" }]);
  expect(await view("/memories/tea.md")).toContain("Ada drinks tea.");
});
