/** Conversations with agents: what is kept of them, and once only. */
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bindOperations } from "../../../src/core/operations.ts";
import { createMemoryWorld } from "../../support/memory-world.ts";
import { runCliHere } from "../../support/run-cli.ts";
import { startTestDaemon } from "../../support/test-daemon.ts";
import type { TestServer } from "../../support/test-server.ts";

const FIXTURES = resolve(import.meta.dirname, "../../fixtures/transcripts");

let home: string;
let server: TestServer;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "memoryd-transcripts-"));
  const { ports } = createMemoryWorld();
  let order = 0;
  Object.assign(ports.ids, {
    newId: () => `019aa5a0-6c1e-7c3a-9d0f-${String((order += 1)).padStart(12, "0")}`,
  });
  server = await startTestDaemon(home, bindOperations(ports));
});
afterEach(async () => {
  await server.app.close();
  rmSync(home, { recursive: true, force: true });
});

const run = (...words: string[]) => runCliHere(words, { home, env: { TZ: "UTC", MEMORYD_DATA_DIR: home } });

interface Kept {
  readonly id: string;
  readonly content: string;
  readonly project: string | null;
  readonly session_id: string;
  readonly occurred_at: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}
async function kept(): Promise<Kept[]> {
  const { stdout } = await run("list", "--json", "--limit", "100");
  return (JSON.parse(stdout) as { items: Kept[] }).items.reverse();
}
const kindsAndTexts = async () =>
  (await kept())
    .filter(({ metadata }) => metadata["kind"] !== "summary")
    .map(({ content, metadata }) => `${String(metadata["kind"])}: ${content}`);
const summaries = async () => (await kept()).filter(({ metadata }) => metadata["kind"] === "summary");

function copied(name: string, to = name): string {
  const path = join(home, "transcripts", to);
  mkdirSync(resolve(path, ".."), { recursive: true });
  copyFileSync(join(FIXTURES, name), path);
  return path;
}

describe("a conversation with Claude Code", () => {
  it("gives what the person said that lasts, what was done, and a summary; nothing injected, no secret", async () => {
    const { stdout, code } = await run("import", "claude-code", "--from", copied("claude-code.jsonl"));
    expect([stdout.trim(), code]).toEqual(["5 added, 0 there already, 0 left out, 0 failed", 0]);
    expect(await kindsAndTexts()).toEqual([
      "preference: Always use integer cents for money, never floats.",
      "decision: We decided to round half up.",
      'done: `npm test` failed with "TypeError: total is not a function" and works since src/total.ts changed.',
      "fact: Our staging server runs on port 8443.",
    ]);
    const [first] = await kept();
    expect(first).toMatchObject({
      // By the agent's name, so that `undo --client` takes it back.
      created_by: "claude-code",
      occurred_at: "2026-11-20T09:00:05.000Z",
      session_id: "claude-code:5f0c6b1e-1d6a-4b1c-9b0e-3f7c2a9d8e01",
      project: expect.stringMatching(/^shop~/) as unknown,
      tags: ["claude-code", "preference"],
      metadata: {
        origin: "claude-code",
        kind: "preference",
        conversation_id: "5f0c6b1e-1d6a-4b1c-9b0e-3f7c2a9d8e01",
        message_id: "u2",
      },
    });
    const [summary] = await summaries();
    expect(summary?.content.split("\n")).toEqual([
      "Session with Claude Code, 2026-11-20 09:00 to 2026-11-20 09:05 UTC: Rounding in the checkout",
      "Asked: Hi there! Always use integer cents for money, never floats. Can you fix the total? · We decided to round half up.",
      "Changed: src/total.ts",
      "Commands that worked: npm test",
      expect.stringMatching(/^Errors and their cause: `npm test` failed/) as unknown,
    ]);
  });

  it("is taken once, and what is new by the next run; half a line waits", async () => {
    const path = copied("claude-code.jsonl");
    const line = JSON.stringify({
      type: "user",
      message: { role: "user", content: "We decided to ship on Friday." },
      uuid: "u10",
      timestamp: "2026-11-20T09:10:00.000Z",
    });
    appendFileSync(path, line.slice(0, 60));
    await run("import", "claude-code", "--from", path);
    const before = await kept();
    expect((await run("import", "claude-code", "--from", path)).stdout).toMatch(/^0 added, 0 there/);
    appendFileSync(path, `${line.slice(60)}\n`);
    expect((await run("import", "claude-code", "--from", path)).stdout).toMatch(/^1 added, 0 there/);
    const after = await kept();
    expect(after).toHaveLength(before.length + 1);
    expect(after.at(-1)).toMatchObject({
      content: "We decided to ship on Friday.",
      session_id: before[0]?.session_id,
      project: before[0]?.project,
    });
    const [summary] = await summaries();
    expect(summary?.content.split("\n")).toEqual([
      expect.stringContaining("09:00 to 2026-11-20 09:10 UTC: Rounding in the checkout"),
      expect.stringMatching(/^Asked: Hi there.* · We decided to ship on Friday\.$/),
      "Changed: src/total.ts",
      "Commands that worked: npm test",
      expect.stringMatching(/^Errors and their cause: `npm test` failed/),
    ]);
  });

  it("is not added twice where a run was killed before it noted how far it came, and dropped stays dropped", async () => {
    const path = copied("claude-code.jsonl");
    await run("import", "claude-code", "--from", path);
    const before = await kept();
    rmSync(join(home, "captured"), { recursive: true });
    expect((await run("import", "claude-code", "--from", path)).stdout).toMatch(/^0 added, 5 there/);
    expect(await kept()).toHaveLength(before.length);

    const [summary] = await summaries();
    await run("delete", "--yes", summary?.id ?? "");
    await run("delete", "--yes", before[0]?.id ?? "");
    appendFileSync(path, '{"type":"summary","summary":"x"}\n');
    await run("import", "claude-code", "--from", path);
    expect(await kept()).toHaveLength(before.length - 2);
  });

  it("is read from its beginning where the file was cut or replaced, without taking a sentence again", async () => {
    const path = copied("claude-code.jsonl");
    await run("import", "claude-code", "--from", path);
    const count = (await kept()).length;
    const lines = readFileSync(path, "utf8").split("\n");
    writeFileSync(path, `${lines.slice(2, 6).join("\n")}\n`);
    expect((await run("import", "claude-code", "--from", path)).stdout).toMatch(/^0 added/);
    expect(await kept()).toHaveLength(count);
  });

  it("is taken quietly with --file; a missing one, or a daemon that is gone, is an error", async () => {
    const path = copied("claude-code.jsonl");
    expect(await run("import", "claude-code", "--file", path)).toMatchObject({
      stdout: "",
      stderr: "",
      code: 0,
    });
    expect(await kept()).toHaveLength(5);
    expect(await run("import", "claude-code", "--file", join(home, "none.jsonl"))).toMatchObject({ code: 1 });
    await server.app.close();
    expect(await run("import", "claude-code", "--file", path)).toMatchObject({ stdout: "", code: 1 });
  });

  it("sends nothing with --dry-run", async () => {
    const { stdout } = await run("import", "claude-code", "--from", copied("claude-code.jsonl"), "--dry-run");
    expect(stdout).toMatch(/^would send 5 memories; nothing was sent/);
    expect(await kept()).toEqual([]);
  });
});

describe("review", () => {
  it("lists what was captured, of one agent or one conversation", async () => {
    await run("import", "claude-code", "--from", copied("claude-code.jsonl"));
    await run("import", "cursor", "--from", copied("cursor.jsonl", "5d1c.jsonl"));
    await run("add", "A note of my own.");
    const lines = async (...words: string[]) =>
      (await run("review", "--since", "2000-01-01", ...words)).stdout
        .split("\n")
        .filter((line) => line.includes("#"));
    expect(await lines("--captured")).toHaveLength(7);
    expect(await lines("--origin", "cursor")).toHaveLength(2);
    expect(await lines("--conversation", "5f0c6b1e-1d6a-4b1c-9b0e-3f7c2a9d8e01")).toHaveLength(5);
    expect(await run("review", "--origin", "nonsense")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Allowed choices are claude-code") as unknown,
    });
  });
});

describe("conversations with other agents", () => {
  it("Codex: messages once, what was injected not at all", async () => {
    await run(
      "import",
      "codex",
      "--from",
      resolve(copied("rollout-2026-11-20T10-00-00-019a9d3e-58aa-7f60-a9d4-0a34b1f3b111.jsonl"), ".."),
    );
    expect(await kindsAndTexts()).toEqual([
      "preference: Ich bevorzuge kurze Antworten.",
      "decision: Wir haben uns für SQLite entschieden.",
      'done: `cargo test` failed with "error[E0425]: cannot find value `cent`" and works since src/money.rs changed.',
    ]);
    expect((await kept())[0]?.session_id).toBe("codex:019a9d3e-58aa-7f60-a9d4-0a34b1f3b111");
  });

  it.each(["session-2026-11-20T11-00-a1b2c3d4.jsonl", "session-2026-11-20T11-00-whole.json"])(
    "Gemini CLI: %s",
    async (name) => {
      const path = copied(name, `abc/chats/${name}`);
      await run("import", "gemini", "--from", join(home, "transcripts"));
      expect(await kindsAndTexts()).toEqual([
        "fact: My sister Ada lives in Turin and she is our accountant.",
      ]);
      const [summary] = await summaries();
      expect(summary?.content).toContain("Changed: README.md\nCommands that worked: make docs");
      expect((await run("import", "gemini", "--from", path)).stdout).toMatch(/^0 added, 0 there/);
    },
  );

  it("Cursor: what stands in the query, with the file's time", async () => {
    await run("import", "cursor", "--from", copied("cursor.jsonl", "5d1c.jsonl"));
    expect(await kindsAndTexts()).toEqual(["open: We still need to translate the start page into Dutch."]);
    expect((await kept())[0]).toMatchObject({ session_id: "cursor:5d1c", project: null });
    expect((await summaries())[0]?.content).toContain("Changed: pages/nl.md");
  });

  it("names what cannot be read", async () => {
    expect((await run("import", "codex", "--from", join(home, "none"))).stderr).toContain("There is no");
    const nowhere = await runCliHere(["import", "codex"], {
      home,
      env: { MEMORYD_DATA_DIR: home, CODEX_HOME: join(home, "nothing") },
    });
    expect(nowhere.stderr).toContain("name their folder with --from");
    expect(await run("import", "notes.md", "--file", "x")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("belong to an agent") as unknown,
    });
  });
});

describe("what is kept of a conversation", () => {
  /** A transcript of Claude Code in which this was said and done, one after the other. */
  function conversation(...messages: readonly (string | object)[]): string {
    const path = join(home, "transcripts", "s1.jsonl");
    mkdirSync(resolve(path, ".."), { recursive: true });
    const lines = messages.map((content, i) => ({
      type: Array.isArray(content) && "name" in content[0] ? "assistant" : "user",
      uuid: `m${i}`,
      sessionId: "s1",
      timestamp: `2026-11-20T09:${String(i).padStart(2, "0")}:00.000Z`,
      message: { role: "user", content },
    }));
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    return path;
  }
  const ran = (id: string, command: string, failed?: string) => [
    [{ type: "tool_use", id, name: "Bash", input: { command } }],
    [{ type: "tool_result", tool_use_id: id, is_error: failed !== undefined, content: failed ?? "ok" }],
  ];
  const take = async (...messages: readonly (string | object)[]) => {
    expect(await run("import", "claude-code", "--from", conversation(...messages))).toMatchObject({
      code: 0,
    });
    return await kindsAndTexts();
  };

  it("is a correction with what it corrects, which it supersedes where it is in the store", async () => {
    await run("add", "The dev server listens on port 4310.");
    const texts = await take("no, the port is 4311 now, not 4310");
    expect(texts.at(-1)).toBe(
      "correction: The port is 4311 now, not 4310. (Before: The dev server listens on port 4310.)",
    );
    const { stdout } = await run("superseded", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      items: [{ older: { content: "The dev server listens on port 4310.", superseded_how: "told" } }],
    });
  });

  it("is a correction with the sentence of the conversation that it corrects, in its place", async () => {
    expect(
      await take("Our dev server listens on port 4310.", "nein, der dev server ist auf 4311, nicht 4310"),
    ).toEqual([
      "correction: Der dev server ist auf 4311, nicht 4310. (Before: Our dev server listens on port 4310.)",
    ]);
  });

  it("is no correction that nothing explains, and no praise", async () => {
    expect(
      await take(
        "no, the port is 4311 now, not 4310",
        "no, it's called harbour",
        "thanks, great job",
        "Perfect, that works now!",
        "Super, vielen Dank, gute Arbeit.",
      ),
    ).toEqual([]);
    expect((await summaries())[0]?.content).not.toMatch(/great job|Super/);
  });

  it("is no secret that a sentence tells, nor in the summary", async () => {
    expect(
      await take(
        "My password for the staging DB is Tr0ub4dor&3 so use that.",
        "We decided to use pnpm. The PIN for the alarm is 4711.",
      ),
    ).toEqual(["decision: We decided to use pnpm."]);
    expect((await summaries())[0]?.content ?? "").not.toMatch(/Tr0ub|4711/);
  });

  it("is nothing that others said, and no rest of a sentence", async () => {
    expect(
      await take(
        'Ilse said: "I never eat fish".',
        "Peter wrote: „Ich bevorzuge kurze Antworten. Wir haben uns für SQLite entschieden.“",
        "Maria says 'I don't like meetings, I always prefer mails'.",
        "Shorten this:\n> We always deploy on Fridays.\nand keep it short.",
        'We decided to call it "Garden planner".',
        "I don't like meetings, and Peter's notes are never short.",
      ),
    ).toEqual([
      'decision: We decided to call it "Garden planner".',
      "preference: I don't like meetings, and Peter's notes are never short.",
    ]);
  });

  it("has the time of the line before, or else after, where its own cannot be read", async () => {
    const path = conversation(
      "We decided to use pnpm.",
      "We decided to use vitest.",
      "ok",
      "We decided to use UTC.",
    );
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.replaceAll(/2026-11-20T09:0[013]:00.000Z/g, "soon"));
    await run("import", "claude-code", "--from", path);
    expect(new Set((await kept()).map(({ occurred_at: at }) => at))).toEqual(
      new Set(["2026-11-20T09:02:00.000Z"]),
    );
  });

  it("is a correction that stands alone, without the words of the reply", async () => {
    expect(
      await take("No, the staging database listens on 5433, not 5432.", "actually, we use pnpm here"),
    ).toEqual([
      "correction: The staging database listens on 5433, not 5432.",
      "correction: We use pnpm here",
    ]);
  });

  it("is an error together with what solved it: what was run, and what the person tells", async () => {
    expect(
      await take(
        ...ran("1", "npm test", "Error: Cannot find module 'left-pad'"),
        ...ran("2", "npm install left-pad"),
        ...ran("3", "npm test -- total"),
        ...ran("4", "docker compose up", "Error: port 5432 is already allocated"),
        "The cause was a second Postgres that brew had started.",
      ),
    ).toEqual([
      "done: `npm test -- total` failed with \"Error: Cannot find module 'left-pad'\" and works since `npm install left-pad` ran.",
      "done: The cause was a second Postgres that brew had started. (The error: `docker compose up`: Error: port 5432 is already allocated)",
    ]);
  });
});
