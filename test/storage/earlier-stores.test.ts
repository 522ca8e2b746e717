import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { Clock } from "../../src/core/ports.ts";
import { MINILM } from "../../src/models/bundled-models.ts";
import { nodeDisk } from "../../src/storage/files/disk.ts";
import { readKeyFile } from "../../src/storage/files/key-file.ts";
import { type OpenedStore, openStore } from "../../src/storage/open-store.ts";
import { encodeChecksummed } from "../../src/storage/files/checksummed-json.ts";
import { UPGRADE_COPIES } from "../../src/storage/checkpoints/checkpoint.ts";
import { readRows, type StoredRows, unpackStore } from "../support/store-fixture.ts";

/** When the stores of 0.1.0 were made. */
const clock: Clock = { now: () => Date.parse("2026-11-22T13:00:00Z") };

const directories: string[] = [];
function unpack(name: string) {
  const fixture = unpackStore(name);
  directories.push(fixture.directory);
  return fixture;
}
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

function open(directory: string): Promise<OpenedStore> {
  const log = { info() {}, warn() {}, error() {} };
  return openStore({ disk: nodeDisk, directory, clock, stamp: () => MINILM.stamp, log });
}

describe.each(["0.1.0-killed", "0.1.0-purged-and-stopped", "0.1.0-journal-only"])("the store %s", (name) => {
  it("opens whole: every row is as it was written", async () => {
    const { directory, rows } = unpack(name);
    const opened = await open(directory);
    const { catalogue } = opened.store;
    expect(catalogue.size).toBe(count(rows, "memories"));
    expect(catalogue.documents.byId.size).toBe(count(rows, "documents"));
    const facts = [...catalogue.facts.timelines({})]
      .flatMap(({ facts }) => facts)
      .flatMap(({ versions }) => versions);
    expect(facts.length).toBe(count(rows, "facts"));
    const ids = Object.keys(rows["memories"] ?? {});
    expect((await opened.store.readMemories(ids)).size).toBe(ids.length);
    expect((await opened.store.readTokens(ids)).size).toBe(ids.length);
    for (const id of ids) {
      const ordinal = catalogue.find(id)?.ordinal ?? -1;
      expect(opened.store.windowsOf(ordinal).length).toBeGreaterThan(0);
    }

    await opened.checkpointer.flush();
    await opened.store.close();
    const now = await readRows(directory);
    expect(Object.keys(now).sort()).toEqual(Object.keys(rows).sort());
    for (const [table, all] of Object.entries(rows)) {
      expect(Object.keys(now[table] ?? {}).sort()).toEqual(Object.keys(all).sort());
      expect(now[table]).toMatchObject(all);
    }
  });

  it("keeps its originals, byte for byte", async () => {
    const { directory, rows } = unpack(name);
    const documents = Object.values(rows["documents"] ?? {}) as { readonly sha256: string }[];
    for (const { sha256 } of documents) {
      const bytes = readFileSync(join(directory, "files", sha256));
      expect(createHash("sha256").update(bytes).digest("hex")).toBe(sha256);
    }
  });

  it("is copied before the first open changes it, and once only", async () => {
    const { directory } = unpack(name);
    const checkpoints = readdirSync(directory).filter((file) => file.startsWith("CHECKPOINT-"));
    const journal = readdirSync(join(directory, "journal"));
    const contents = new Map(
      [...checkpoints, ...journal.map((file) => `journal/${file}`)].map((file) => [
        file,
        readFileSync(join(directory, file)),
      ]),
    );
    await (await open(directory)).store.close();
    const [copy = "", ...others] = readdirSync(join(directory, UPGRADE_COPIES));
    expect(others).toEqual([]);
    for (const [file, content] of contents)
      expect(readFileSync(join(directory, UPGRADE_COPIES, copy, file)).equals(content)).toBe(true);

    const again = await open(directory);
    await again.store.commit(({ now }) => ({
      changes: [{ table: "requests", id: "r", row: { bodyHash: "h", ids: [], createdAt: now } }],
      result: undefined,
    }));
    await again.checkpointer.flush();
    await again.store.close();
    await (await open(directory)).store.close();
    expect(readdirSync(join(directory, UPGRADE_COPIES))).toEqual([copy]);
  });
});

it("names the copy from before in the refusal of a store of a newer format", async () => {
  const { directory } = unpack("0.1.0-killed");
  await (await open(directory)).store.close();
  const [copy = ""] = readdirSync(join(directory, UPGRADE_COPIES));
  writeFileSync(join(directory, "CHECKPOINT-0000009999"), encodeChecksummed("checkpoint", 99, {}));
  await expect(open(directory)).rejects.toThrow(
    new RegExp(`written by a newer version.*${UPGRADE_COPIES}/${copy} to another place.*--data-dir`),
  );
  rmSync(join(directory, UPGRADE_COPIES), { recursive: true });
  await expect(open(directory)).rejects.toThrow(/another data directory\.$/);
});

it("keeps the keys of a store of 0.1.0", async () => {
  const { directory } = unpack("0.1.0-purged-and-stopped");
  expect(await readKeyFile(nodeDisk, directory)).toMatchObject([{ name: "fixture" }]);
});

it("removes the copies of upgrades when deleted bytes are purged", async () => {
  const { directory } = unpack("0.1.0-killed");
  const opened = await open(directory);
  expect(existsSync(join(directory, UPGRADE_COPIES))).toBe(true);
  await opened.purge.run({
    originals: { listUnneeded: async () => [], removeUnneeded: async () => [] },
  });
  expect(existsSync(join(directory, UPGRADE_COPIES))).toBe(false);
  await opened.store.close();
});

it("refuses to open where no copy can be kept, and changes nothing", async () => {
  const { directory } = unpack("0.1.0-killed");
  const disk = {
    ...nodeDisk,
    makeDirectory: (path: string) =>
      path.includes(UPGRADE_COPIES) ? Promise.reject(new Error("ENOSPC")) : nodeDisk.makeDirectory(path),
  };
  const log = { info() {}, warn() {}, error() {} };
  await expect(openStore({ disk, directory, clock, stamp: () => MINILM.stamp, log })).rejects.toThrow(
    /no copy .*Nothing was changed/s,
  );
});

function count(rows: StoredRows, table: string): number {
  return Object.keys(rows[table] ?? {}).length;
}
