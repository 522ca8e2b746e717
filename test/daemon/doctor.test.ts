import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { addMemory } from "../../src/core/memories/add-memories.ts";
import { examineStopped } from "../../src/daemon/doctor.ts";
import { lockDataDirectory } from "../../src/storage/files/lock.ts";
import { createFakeEmbedder } from "../support/fake-embedder.ts";
import { createMemoryWorld } from "../support/memory-world.ts";
import { runCliHere } from "../support/run-cli.ts";
import { openStoreOnDisk } from "../support/store-on-disk.ts";

let directory: string;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "memoryd-doctor-"));
  const store = await openStoreOnDisk(directory, createMemoryWorld());
  for (let i = 0; i < 20; i += 1) {
    await addMemory(store.ports, { content: `note ${i} about tea`, userId: "u" });
    if (i % 8 === 0) await store.opened.checkpointer.flush();
  }
  await store.close();
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const contents = () =>
  new Map(
    readdirSync(directory, { recursive: true, withFileTypes: true, encoding: "utf8" })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path, readFileSync(path, "base64")]),
  );

async function statusOf(check: string) {
  const finding = (await examineStopped(directory)).find((each) => each.check === check);
  return finding && `${finding.status}: ${finding.message} ${finding.remedy ?? ""}`;
}

function flip(kind: RegExp): void {
  for (const file of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
    if (!kind.test(file)) continue;
    const bytes = readFileSync(join(directory, file));
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 0x20;
    writeFileSync(join(directory, file), bytes);
  }
}

it("finds nothing wrong with a whole store, and changes none of its files", async () => {
  const before = contents();
  const findings = await examineStopped(directory);
  expect(findings.filter(({ status }) => status === "wrong")).toEqual([]);
  expect(findings.find(({ check }) => check === "counts")?.message).toMatch(/^20 memories/);
  expect(contents()).toEqual(before);
});

it("takes a change of the model that is under way for what it is", async () => {
  const store = await openStoreOnDisk(directory, createMemoryWorld());
  await store.opened.store.changeModel(createFakeEmbedder("second").stamp);
  await store.close();
  expect(await statusOf("counts")).toMatch(/^note: 20 memories.* the model was changed, and 20 memories/);
});

it("says that a salvage leaves out history and trash", async () => {
  const home = mkdtempSync(join(tmpdir(), "memoryd-salvaged-"));
  try {
    const words = ["doctor", "--salvage", join(home, "out"), "--data-dir", directory];
    const { code, stdout, stderr } = await runCliHere(words, { home });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^wrote 20 memories.*\nEarlier versions of memories and the trash are left out/);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});

it.each([
  [/vectors-.*lance\/data\/./, "tables", /wrong: .*has changed.*makes again what can be/],
  [/memories-.*lance\/data\/./, "tables", /wrong: .*has changed.*--salvage/],
  [/CHECKPOINT-/, "checkpoints", /wrong: .*is damaged.*--salvage/],
  [/\.journal$/, "journal", /wrong: .*--salvage/],
] as const)("says what is wrong with %s, and what becomes of it", async (kind, check, sentence) => {
  flip(kind);
  expect(await statusOf(check)).toMatch(sentence);
});

it("says that an unfinished write is cut off", async () => {
  const journal = readdirSync(join(directory, "journal")).findLast((name) => name.endsWith(".journal"));
  appendFileSync(join(directory, "journal", journal ?? ""), "grp\nhalf of a write");
  expect(await statusOf("journal")).toMatch(/note: .*cut short/);
});

it("reads nothing while another process has the directory", async () => {
  const lock = await lockDataDirectory(directory);
  const findings = await examineStopped(directory);
  expect(findings).toMatchObject([{ check: "lock", status: "wrong" }]);
  await lock.release();
});

it("notes what is damaged for the next start, which opens without it and makes it again", async () => {
  flip(/vectors-.*lance\/data\/./);
  await examineStopped(directory);
  expect(readFileSync(join(directory, "DAMAGED"), "utf8")).toMatch(/^vectors-/);
  const store = await openStoreOnDisk(directory, createMemoryWorld());
  expect([...store.opened.store.lackingVectors()].length).toBeGreaterThan(10);
  await store.close();
});
