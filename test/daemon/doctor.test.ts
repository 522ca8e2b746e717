import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { addMemory } from "../../src/core/memories/add-memories.ts";
import { examineStopped, repairStopped } from "../../src/daemon/doctor.ts";
import { createLogger } from "../../src/daemon/system.ts";
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
  [/vectors-.*lance\/data\/./, "tables", /wrong: .*has changed.*the vectors of all memories/],
  [/memories-.*lance\/data\/./, "tables", /wrong: .*has changed.*--salvage/],
  [/CHECKPOINT-/, "checkpoints", /wrong: .*is damaged.*--salvage/],
  [/\.journal$/, "journal", /wrong: .*--salvage/],
] as const)("says what is wrong with %s, and what becomes of it", async (kind, check, sentence) => {
  flip(kind);
  expect(await statusOf(check)).toMatch(sentence);
});

it("names what belongs to nobody", async () => {
  writeFileSync(join(directory, "KEYS.tmp"), "");
  writeFileSync(join(directory, "shopping.txt"), "");
  expect(await statusOf("strays")).toMatch(/note: .*KEYS\.tmp; not of memoryd: shopping\.txt/);
});

it("says that an unfinished write is set aside", async () => {
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

/** The model of the world's embedder, so that nothing is embedded for real. */
const openThen = (close: () => Promise<void>) => () => {
  const { embedder } = createMemoryWorld();
  return {
    model: { stamp: embedder.stamp },
    embedder: Promise.resolve(Object.assign(embedder, { close })),
  };
};
const repair = (close = async () => {}) =>
  repairStopped(
    { dataDir: directory, model: "memoryd-e5-small" },
    { log: createLogger("silent"), signal: new AbortController().signal, onProgress: () => {} },
    openThen(close),
  );

it.each([/vectors-.*lance\/data\/./, /tokens-.*manifest$/, /edges-.*lance\/data\/./, /_indices.*\.lance$/])(
  "makes again what is derived, in both checkpoints: %s",
  async (kind) => {
    flip(kind);
    writeFileSync(join(directory, "KEYS.tmp"), "");
    await repair();
    const findings = await examineStopped(directory);
    expect(findings.filter(({ status }) => status !== "ok")).toEqual([]);
    expect(findings.find(({ check }) => check === "counts")?.message).toMatch(/^20 memories/);
  },
);

it("lets nobody in from its first look to the last stray that it removes", async () => {
  writeFileSync(join(directory, "KEYS.tmp"), "");
  let atEnd: unknown;
  await repair(async () => {
    atEnd = await lockDataDirectory(directory).catch((error: unknown) => error);
    expect(readdirSync(directory)).not.toContain("KEYS.tmp");
  });
  expect(atEnd).toMatchObject({ code: "STORE_UNUSABLE" });
  const lock = await lockDataDirectory(directory);
  const before = contents();
  await expect(repair()).rejects.toMatchObject({ code: "STORE_UNUSABLE" });
  expect(contents()).toEqual(before);
  await lock.release();
});

it("repairs nothing where memories are damaged, and changes nothing", async () => {
  flip(/memories-.*lance\/data\/./);
  const before = contents();
  await expect(repair()).rejects.toThrow(/nothing was changed.*--salvage/s);
  expect(contents()).toEqual(before);
});
