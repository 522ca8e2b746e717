import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, it } from "vitest";
import { call, type DaemonProcess, startDaemonProcess } from "../support/daemon-process.ts";
import { environmentOf, LAUNCHER, runCli } from "../support/run-cli.ts";

const directory = mkdtempSync(join(tmpdir(), "memoryd-models-"));
const other = mkdtempSync(join(tmpdir(), "memoryd-models-"));
let daemon: DaemonProcess | undefined;
afterEach(async () => {
  await daemon?.stop();
  daemon = undefined;
});
afterAll(() => {
  for (const folder of [directory, other]) rmSync(folder, { recursive: true, force: true });
});

it("finds a note by a question in another language, and keeps the model of the store", async () => {
  daemon = await startDaemonProcess(directory, {
    MEMORYD_MODEL: "memoryd-e5-small-2",
    MEMORYD_TIME_ZONE: "Asia/Tokyo",
  });
  for (const content of [
    "Die Heizung wurde im März von Frau Berger gewartet.",
    "Meine Schwester fährt lieber mit dem Zug als mit dem Flugzeug.",
    "Der Ersatzschlüssel liegt unter dem blauen Blumentopf.",
  ]) {
    await call(daemon, "POST", "/memory/add", { content });
  }
  const { body } = await call(daemon, "POST", "/memory/query", { query: "where is the spare key?", k: 1 });
  expect(body.matches[0].content).toContain("Ersatzschlüssel");
  // In Tokyo it was the 11th.
  await call(daemon, "POST", "/memory/add", {
    content: "Tor repariert",
    occurred_at: "2025-05-10T16:00:00Z",
  });
  const then = await call(daemon, "POST", "/memory/query", { query: "was geschah am 11. Mai 2025?" });
  expect(then.body.matches).toMatchObject([{ content: "Tor repariert" }]);
  await daemon.stop();

  daemon = await startDaemonProcess(directory, {
    MEMORYD_MODEL: "all-MiniLM-L6-v2",
    MEMORYD_LOG_LEVEL: "info",
  });
  const again = await call(daemon, "POST", "/memory/query", { query: "¿dónde está la llave?", k: 1 });
  expect(again.body.matches[0].content).toContain("Ersatzschlüssel");
  expect(daemon.output()).toContain("the store keeps the model that it was made with");
});

it("changes the model while it is used, and goes on after a kill", async () => {
  daemon = await startDaemonProcess(other, { MEMORYD_MODEL: "all-MiniLM-L6-v2" });
  const notes = [
    "Der Ersatzschlüssel liegt unter dem blauen Blumentopf.",
    "Die Heizung wurde im März gewartet.",
  ];
  const memories = [...notes, ...Array.from({ length: 60 }, (_, i) => `Besuch Nummer ${i} im Museum`)];
  await call(daemon, "POST", "/memory/add/batch", { memories: memories.map((content) => ({ content })) });
  const env = { MEMORYD_DATA_DIR: other };
  const cli = (...words: string[]) => runCli(["models", ...words], { home: other, env });
  const ask = async (query: string) =>
    (await call(running(), "POST", "/memory/query", { query, k: 1 })).body.matches[0].content;
  const running = () => daemon ?? expect.fail();
  const untilChanged = () =>
    expect
      .poll(async () => (await call(running(), "GET", "/models")).body.migration, { timeout: 60_000 })
      .toBeNull();

  expect((await cli("use", "no-such-model")).code).toBe(2);
  expect((await call(daemon, "POST", "/models/use", { name: "no-such-model" })).status).toBe(400);
  expect(await cli("use", "memoryd-e5-small-2")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("embedded again with memoryd-e5-small-2"),
  });
  const { body } = await call(daemon, "GET", "/models");
  expect(body.migration).toMatchObject({ from: "all-MiniLM-L6-v2", total: memories.length });
  expect(await ask("Besuch Nummer 59 im Museum")).toBe("Besuch Nummer 59 im Museum");
  await daemon.kill();

  daemon = await startDaemonProcess(other);
  expect(await ask("Besuch Nummer 58 im Museum")).toBe("Besuch Nummer 58 im Museum");
  await untilChanged();
  expect(await ask("where is the spare key?")).toBe(notes[0]);
  expect((await call(daemon, "GET", "/stats")).body).toMatchObject({
    memory_count: memories.length,
    embedding: { model: "memoryd-e5-small-2" },
  });
  expect((await cli()).stdout).toMatch(/memoryd-e5-small-2 .*in use/);

  // Back, while the daemon does not run.
  await daemon.stop();
  expect((await cli("use", "all-MiniLM-L6-v2")).stdout).toContain("From the next start on");
  daemon = await startDaemonProcess(other);
  await untilChanged();
  expect(await ask("Wann wurde die Heizung gewartet?")).toBe(notes[1]);
  expect((await cli("list", "--json")).stdout).toMatch(/"active": true/);
});

it("adds a model from a folder, through a kill, changes to it, and restores it from a backup", async () => {
  const home = mkdtempSync(join(tmpdir(), "memoryd-models-"));
  const shipped = join(import.meta.dirname, "../../data/models/all-MiniLM-L6-v2");
  const dataDir = join(home, "data");
  const env = { MEMORYD_DATA_DIR: dataDir };
  const cli = (...words: string[]) => runCli(words, { home, env });
  const add = ["models", "add", shipped, "--as", "mine"];
  try {
    expect(await cli(...add)).toMatchObject({
      code: 2,
      stdout: expect.stringMatching(/^mine: 24\.1 MB, unknown licence, from \//),
      stderr: expect.stringContaining("--yes"),
    });
    const killed = spawn(process.execPath, [LAUNCHER, ...add, "--yes"], { env: environmentOf(home, env) });
    await expect
      .poll(() => (existsSync(join(dataDir, "models")) ? readdirSync(join(dataDir, "models")) : []))
      .toHaveLength(1);
    killed.kill("SIGKILL");
    await once(killed, "exit");
    expect((await cli("models")).stdout).not.toContain("mine");
    expect(await cli(...add, "--yes")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("added mine"),
    });
    expect(readdirSync(join(dataDir, "models"))).toEqual(["mine"]);

    // Of a new store.
    daemon = await startDaemonProcess(dataDir, { MEMORYD_MODEL: "mine" });
    const content = "The spare key lies under the blue flower pot.";
    await call(daemon, "POST", "/memory/add", { content });
    await call(daemon, "POST", "/memory/add", {
      content: "I was furious about the delay.",
      sector: "semantic",
    });
    const find = async (query: string) =>
      (await call(daemon ?? expect.fail(), "POST", "/memory/query", { query, k: 1 })).body.matches[0];
    expect(await find("where can I find another key?")).toMatchObject({ content });
    expect((await call(daemon, "GET", "/models")).body.items).toContainEqual(
      expect.objectContaining({
        name: "mine",
        licence: "unknown licence",
        dimensions: 384,
        active: true,
      }),
    );
    // There and back.
    for (const name of ["all-MiniLM-L6-v2", "mine"]) {
      expect((await call(daemon, "POST", "/models/use", { name })).status).toBe(202);
      await expect
        .poll(async () => (await call(daemon ?? expect.fail(), "GET", "/models")).body.migration, {
          timeout: 60_000,
        })
        .toBeNull();
      expect(await find("where can I find another key?")).toMatchObject({ content });
    }
    expect((await cli("backup", "--name", "one")).code).toBe(0);
    await daemon.stop();

    const restored = join(home, "restored");
    expect((await cli("restore", "one", "--from", dataDir, "--to", restored)).code).toBe(0);
    daemon = await startDaemonProcess(restored);
    expect(await find("where can I find another key?")).toMatchObject({ content });
    await daemon.stop();
    daemon = undefined;

    // A file that is another one is not read.
    appendFileSync(join(restored, "models/mine/tokenizer.json"), " ");
    await expect(startDaemonProcess(restored)).rejects.toThrow("tokenizer.json has changed");
    rmSync(join(restored, "models/mine"), { recursive: true });
    await expect(startDaemonProcess(restored)).rejects.toThrow();
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});

it("changes a store of the default before to the default, while it answers, unless its model was named", async () => {
  const home = mkdtempSync(join(tmpdir(), "memoryd-models-"));
  try {
    const before = { MEMORYD_MODEL: "memoryd-e5-small" };
    const now = { MEMORYD_MODEL: "memoryd-e5-small-2", MEMORYD_LOG_LEVEL: "info" };
    daemon = await startDaemonProcess(home, before);
    const notes = ["Der Ersatzschlüssel liegt unter dem Blumentopf.", "The boiler was serviced in March."];
    const memories = [...notes, ...Array.from({ length: 40 }, (_, i) => `Besuch Nummer ${i} im Museum`)];
    await call(daemon, "POST", "/memory/add/batch", {
      memories: memories.map((content) => ({ content })),
    });
    await daemon.stop();
    daemon = await startDaemonProcess(home, before);
    expect((await call(daemon, "GET", "/stats")).body.embedding.model).toBe("memoryd-e5-small");
    await daemon.stop();

    daemon = await startDaemonProcess(home, now);
    const asked = { query: "where is the spare key?", k: 1 };
    // By its words until it has vectors.
    const byWords = { query: "wo liegt der Ersatzschlüssel?", k: 1 };
    expect((await call(daemon, "POST", "/memory/query", byWords)).body.matches[0].content).toBe(notes[0]);
    const running = daemon;
    await expect
      .poll(async () => (await call(running, "GET", "/models")).body.migration, { timeout: 60_000 })
      .toBeNull();
    expect((await call(daemon, "GET", "/stats")).body).toMatchObject({
      memory_count: memories.length,
      embedding: { model: "memoryd-e5-small-2" },
    });
    expect((await call(daemon, "POST", "/memory/query", asked)).body.matches[0].content).toBe(notes[0]);
  } finally {
    await daemon?.stop();
    daemon = undefined;
    rmSync(home, { recursive: true, force: true });
  }
});
