import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, it } from "vitest";
import { call, type DaemonProcess, startDaemonProcess } from "../support/daemon-process.ts";
import { runCli } from "../support/run-cli.ts";

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
  daemon = await startDaemonProcess(directory, { MEMORYD_MODEL: "multilingual-e5-small" });
  for (const content of [
    "Die Heizung wurde im März von Frau Berger gewartet.",
    "Meine Schwester fährt lieber mit dem Zug als mit dem Flugzeug.",
    "Der Ersatzschlüssel liegt unter dem blauen Blumentopf.",
  ]) {
    await call(daemon, "POST", "/memory/add", { content });
  }
  const { body } = await call(daemon, "POST", "/memory/query", { query: "where is the spare key?", k: 1 });
  expect(body.matches[0].content).toContain("Ersatzschlüssel");
  await daemon.stop();

  daemon = await startDaemonProcess(directory, {
    MEMORYD_MODEL: "all-MiniLM-L6-v2",
    MEMORYD_LOG_LEVEL: "info",
  });
  const again = await call(daemon, "POST", "/memory/query", { query: "¿dónde está la llave?", k: 1 });
  expect(again.body.matches[0].content).toContain("Ersatzschlüssel");
  expect(daemon.output()).toContain("the store keeps the model that it was made with");
});

it("embeds all memories again with another model, and goes on after a kill", async () => {
  daemon = await startDaemonProcess(other, { MEMORYD_MODEL: "all-MiniLM-L6-v2" });
  const notes = [
    "Der Ersatzschlüssel liegt unter dem blauen Blumentopf.",
    "Die Heizung wurde im März gewartet.",
  ];
  const memories = [...notes, ...Array.from({ length: 60 }, (_, i) => `Besuch Nummer ${i} im Museum`)];
  await call(daemon, "POST", "/memory/add/batch", { memories: memories.map((content) => ({ content })) });
  await daemon.stop();

  const env = { MEMORYD_DATA_DIR: other };
  expect((await runCli(["models", "use", "no-such-model"], { home: other, env })).code).toBe(2);
  const used = await runCli(["models", "use", "multilingual-e5-small"], { home: other, env });
  expect([used.code, used.stdout]).toEqual([
    0,
    expect.stringContaining("embedded again with multilingual-e5-small"),
  ]);

  daemon = await startDaemonProcess(other);
  await daemon.kill();
  const again = await startDaemonProcess(other);
  daemon = again;
  const ask = async () =>
    (await call(again, "POST", "/memory/query", { query: "where is the spare key?", k: 1 })).body;
  await expect
    .poll(async () => (await call(again, "GET", "/stats")).body.repairs ?? [], { timeout: 60_000 })
    .toEqual([]);
  expect((await ask()).matches[0].content).toBe(notes[0]);
  expect((await call(daemon, "GET", "/stats")).body).toMatchObject({
    memory_count: memories.length,
    embedding: { model: "multilingual-e5-small" },
  });
  expect((await runCli(["models", "list"], { home: other, env })).stdout).toMatch(
    /multilingual-e5-small .*in use/,
  );
});
