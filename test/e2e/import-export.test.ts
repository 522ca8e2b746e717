import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call, type DaemonProcess, startDaemonProcess } from "../support/daemon-process.ts";
import { chatGptConversation, olderService } from "../support/foreign-archives.ts";
import { environmentOf, LAUNCHER, runCli } from "../support/run-cli.ts";
import { zipOf } from "../support/zip-writer.ts";

/** Import and export with the real daemon and the real command line, killed in the middle too. */

const CONVERSATIONS = 150;
/** Two questions, two answers and a caption each. */
const MESSAGES = CONVERSATIONS * 5;

let folder: string;
const daemons: DaemonProcess[] = [];
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "memoryd-transfer-"));
});
afterAll(async () => {
  for (const daemon of daemons) await daemon.kill();
  rmSync(folder, { recursive: true, force: true });
});

async function daemonAt(name: string): Promise<DaemonProcess> {
  const daemon = await startDaemonProcess(join(folder, name));
  daemons.push(daemon);
  return daemon;
}
const memoryd = (store: string, ...words: string[]) =>
  runCli([...words, "--data-dir", join(folder, store)], { home: folder });
const lines = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type?: string });

describe("import", () => {
  it("repeated after kill -9 in its middle, and once more, brings each message once", async () => {
    const daemon = await daemonAt("chats");
    const path = join(folder, "chatgpt.zip");
    const talks = Array.from({ length: CONVERSATIONS }, (_, n) => chatGptConversation(n));
    writeFileSync(path, zipOf([{ name: "conversations.json", content: JSON.stringify(talks) }]));

    const words = [LAUNCHER, "import", path, "--data-dir", join(folder, "chats")];
    const first = spawn(process.execPath, words, { env: environmentOf(folder), stdio: "ignore" });
    const count = async () => (await call(daemon, "GET", "/memory/all?l=1")).body.total as number;
    while ((await count()) === 0) await sleep(20);
    first.kill("SIGKILL");
    await new Promise((done) => first.once("exit", done));
    expect(await count()).toBeLessThan(MESSAGES);

    const before = await count();
    const second = await memoryd("chats", "import", path, "--json");
    expect(second).toMatchObject({ code: 0 });
    const { added, known } = JSON.parse(second.stdout);
    // What was under way when it was killed may have come after the count.
    expect(added).toBeLessThanOrEqual(MESSAGES - before);
    expect(known + added).toBe(MESSAGES);
    expect(await count()).toBe(MESSAGES);

    const third = await memoryd("chats", "import", path, "--json");
    expect(JSON.parse(third.stdout)).toMatchObject({ added: 0, known: MESSAGES, failed: 0 });
    expect(await count()).toBe(MESSAGES);

    const session = await call(daemon, "GET", "/memory/all?session_id=chatgpt:talk-7");
    expect(
      session.body.items.map((item: { metadata: { role: string } }) => item.metadata.role).toReversed(),
    ).toEqual(["user", "assistant", "user", "assistant", "user"]);
  });

  it("looks and sends nothing with --dry-run, also without a daemon", async () => {
    const { code, stdout } = await memoryd("nowhere", "import", join(folder, "chatgpt.zip"), "--dry-run");
    expect(code).toBe(0);
    expect(stdout).toContain(`would send ${MESSAGES} memories`);
  });

  it("stops at the first bad line with --strict, and says which", async () => {
    const path = join(folder, "bad.ndjson");
    writeFileSync(path, '{"content":"one"}\n{"content":5}\n{"content":"three"}\n');
    const { code, stderr } = await memoryd("chats", "import", path, "--strict");
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("line 2: content must be a string"),
    });
  });
});

describe("export", () => {
  it("is read back without loss, from NDJSON and from Markdown, by stores of their own", async () => {
    const daemon = await daemonAt("first");
    await memoryd("first", "import", olderService(folder), "--keep-users");
    const add = async (body: object) => (await call(daemon, "POST", "/memory/add", body)).body.id as string;
    const id = await add({
      content: "---\nfront: matter?\n---\r\n\r\n text \u0000 \u{1f9c4}\n\n",
      session_id: "s",
      tags: ["a:b", "#c"],
    });
    await add({
      content: "second of the session",
      session_id: "s",
      metadata: { deep: [{ "a: b": null, n: 1e21 }] },
    });
    await call(daemon, "PATCH", `/memory/${id}`, { tags: ["changed"] });
    await call(daemon, "POST", "/memory/reinforce", { id, boost: 0.33 });
    const fact = { subject: "Ada", predicate: "lives in", object: "Paris", source_memory_id: id };
    await call(daemon, "POST", "/api/temporal/fact", { ...fact, valid_from: "2020-01-01" });
    await call(daemon, "POST", "/api/temporal/fact", { ...fact, object: "Rome", valid_from: "2020-01-01" });
    const bees = `# Bees\n\n${"Bees fly far. ".repeat(400)}`;
    const { document } = (await call(daemon, "POST", "/ingest", { text: bees })).body;
    const original = `/documents/${document.id}/file`;

    const vault = join(folder, "vault");
    mkdirSync(vault);
    writeFileSync(join(vault, "Home.md"), "See [[Garlic|how]], [[Nowhere]] and ![[plan.png]].");
    writeFileSync(join(vault, "Garlic.md"), "Three centimetres deep. Back to [[home]].");
    expect((await memoryd("first", "import", vault, "--dry-run")).stdout).toContain(
      "2 memories, 2 waypoints",
    );
    const linked = await memoryd("first", "import", vault);
    expect(linked.stdout).toBe(
      "4 added, 0 there already, 0 left out, 0 failed\n  in all 2 memories, 2 waypoints\n",
    );
    expect((await memoryd("first", "import", vault)).stdout).toContain("0 added, 4 there already");
    const { body: home } = await call(daemon, "POST", "/memory/query", { query: "See how and plan", k: 1 });
    const related = await call(daemon, "GET", `/memory/${home.matches[0].id}/related`);
    const kinds = related.body.edges.map(({ kind }: { kind: string }) => kind);
    expect(kinds.filter((kind: string) => kind === "link")).toHaveLength(2);

    const file = join(folder, "whole.ndjson");
    const notes = join(folder, "notes");
    const said = await memoryd("first", "export", "--out", file);
    expect(said.stderr).toContain("The originals of 1 document are not in it");
    expect(said.stderr).toContain("import --keep-users");
    expect((await memoryd("first", "export", "--out", file)).code).toBe(1);
    expect((await memoryd("first", "export", "--out", file, "--force")).code).toBe(0);
    const inNotes = ["export", "--format", "markdown", "--originals", "--out", notes];
    expect((await memoryd("first", ...inNotes)).code).toBe(0);
    expect(await memoryd("first", ...inNotes, "--force")).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("with 1 original"),
    });
    expect(readFileSync(join(notes, "originals", document.sha256), "utf8")).toBe(bees);
    const whole = lines(readFileSync(file, "utf8"));

    for (const [store, source] of [
      ["second", file],
      ["third", notes],
    ] as const) {
      const other = await daemonAt(store);
      const refused = await memoryd(store, "import", source, "--dry-run");
      expect(refused).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("names a user: add --keep-users"),
      });
      const whose = await memoryd(store, "import", source, "--keep-users");
      expect(whose).toMatchObject({ code: 0 });
      const back = lines((await memoryd(store, "export")).stdout);
      const of = (type: string, all: readonly { type?: string }[]) =>
        all.filter((line) => line.type === type);
      expect(of("memory", back)).toEqual(of("memory", whole));
      expect(of("fact", back)).toEqual(of("fact", whole));
      expect(of("document", back)).toEqual(of("document", whole));
      expect((await fetch(`${other.baseUrl}${original}`)).status).toBe(store === "third" ? 200 : 404);
      const asked = await call(other, "POST", "/memory/query", { query: "How far do bees fly?" });
      expect(asked.body.matches[0].source).toMatchObject({ document_id: document.id });
      expect(of("waypoint", back)).toEqual(expect.arrayContaining(of("waypoint", whole)));
    }
  });

  it("of users says once what brings it back, and not what follows from that", async () => {
    const daemon = await daemonAt("users");
    for (const content of ["Garlic is in.", "Garlic is up."])
      await call(daemon, "POST", "/memory/add", { content, user_id: "ann", session_id: "s" });
    const text = "Leeks are in.";
    await call(daemon, "POST", "/ingest", { text, user_id: "ann" });
    const out = join(folder, "users-export");
    expect((await memoryd("users", "export", "--originals", "--out", out)).stderr).toContain("--keep-users");
    await daemonAt("users-back");
    const { code, stdout, stderr } = await memoryd("users-back", "import", out);
    expect(code).toBe(1);
    expect(stdout).toMatch(/left out \d+: waypoints and originals of records that name a user/);
    expect(stderr).toMatch(/^ {2}line 2: names a user: add --keep-users .* \(so do 3 more\)\n$/);
    expect(await memoryd("users-back", "import", out, "--keep-users")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/, 0 left out, 0 failed/),
    });
  });

  it("with originals goes on without one that is damaged on the disk", async () => {
    const daemon = await daemonAt("damaged");
    const { document } = (await call(daemon, "POST", "/ingest", { text: "Leeks are in." })).body;
    await call(daemon, "POST", "/ingest", { text: "Garlic is up." });
    writeFileSync(join(folder, "damaged", "files", document.sha256), "Leeks are on.");
    const out = join(folder, "damaged-export");
    expect(await memoryd("damaged", "export", "--originals", "--out", out)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(
        "with 1 original; those of 1 document are not kept here, or are damaged",
      ),
    });
    expect(readdirSync(join(out, "originals"))).not.toContain(document.sha256);
  });

  it("leaves nothing behind when it cannot be finished", async () => {
    const before = readdirSync(folder);
    const { code } = await memoryd("nowhere", "export", "--out", join(folder, "never.ndjson"));
    expect(code).toBe(1);
    expect(readdirSync(folder)).toEqual(before);
  });
});
