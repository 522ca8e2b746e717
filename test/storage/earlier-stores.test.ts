import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { Clock } from "../../src/core/ports.ts";
import { MINILM } from "../../src/models/bundled-models.ts";
import { nodeDisk } from "../../src/storage/files/disk.ts";
import { readKeyFile } from "../../src/storage/files/key-file.ts";
import { type OpenedStore, openStore } from "../../src/storage/open-store.ts";
import { encodeChecksummed } from "../../src/storage/files/shapes.ts";
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
    for (const id of ids) {
      const ordinal = catalogue.find(id)?.ordinal ?? -1;
      expect(opened.store.windowsOf(ordinal).length).toBeGreaterThan(0);
    }
    expect([...opened.store.lackingVectors()]).toEqual([]);

    await opened.checkpointer.flush();
    const { tables = [] } = opened.checkpointer.latest ?? {};
    // Copies of texts came later.
    expect(tables.find((table) => table.name.startsWith("texts-"))?.rows).toBe(ids.length);
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
});

it.each([
  [99, /written by a newer version.*restore a backup/],
  [1, /from before the first release. Nothing was changed.*export/],
])("refuses a store of format %i, and says what to do", async (format, reason) => {
  const { directory } = unpack("0.1.0-killed");
  writeFileSync(join(directory, "CHECKPOINT-0000009999"), encodeChecksummed("checkpoint", format, {}));
  await expect(open(directory)).rejects.toThrow(reason);
});

it("keeps the keys of a store of 0.1.0", async () => {
  const { directory } = unpack("0.1.0-purged-and-stopped");
  expect(await readKeyFile(nodeDisk, directory)).toMatchObject([{ name: "fixture" }]);
});

it("removes what an earlier start set aside", async () => {
  const { directory } = unpack("0.1.0-killed");
  mkdirSync(join(directory, "set-aside"));
  writeFileSync(join(directory, "set-aside/file"), "deleted");
  const opened = await open(directory);
  await opened.checkpointer.note();
  expect(existsSync(join(directory, "set-aside"))).toBe(false);
  await opened.store.close();
});

function count(rows: StoredRows, table: string): number {
  return Object.keys(rows[table] ?? {}).length;
}
