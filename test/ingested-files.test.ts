import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { forgettingOf, noteIngested, withIngested } from "../src/ingested-files.ts";

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "memoryd-ingested-"));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const line = (path: string, document: string) => ({ path, user: null, project: null, document });

describe("what is noted of files", () => {
  it("says which lock another host left, and what to do about it", async () => {
    const lock = join(dataDir, "lock.ingested");
    const left = {
      pid: 1,
      startTime: null,
      bootId: null,
      host: "a-container-that-was-killed",
      token: "00000000-0000-0000-0000-000000000000",
      since: "2026-01-01T00:00:00.000Z",
    };
    writeFileSync(lock, JSON.stringify(left));
    const note = () => noteIngested(dataDir, line("/a.md", "d1"), () => {}, 1);
    await expect(note()).rejects.toMatchObject({
      code: "CONFLICT",
      message: expect.stringMatching(/lock\.ingested .*certain that no other command is running, remove/),
    });
    rmSync(lock);
    await note();
    expect(readFileSync(join(dataDir, "ingested.ndjson"), "utf8")).toContain("/a.md");
  });

  it("is read again only once documents were removed, or when it is asked for", async () => {
    const there = new Set(["d1", "d2", "d3"]);
    const documents = {
      removals: 0,
      findDocument: (id: string) => (there.has(id) ? {} : undefined),
    };
    const { now, afterRemovals } = forgettingOf(dataDir, documents);
    const note = (path: string, document: string) => noteIngested(dataDir, line(path, document), () => {});
    const noted = () => readFileSync(join(dataDir, "ingested.ndjson"), "utf8").match(/"d\d"/g);
    await note("/a.md", "gone");
    await note("/b.md", "d1");
    await afterRemovals();
    expect(noted()).toEqual(['"d1"']);
    await note("/b.md", "d2");
    await afterRemovals();
    expect(noted()).toEqual(['"d1"', '"d2"']);
    documents.removals = 1;
    await afterRemovals();
    expect(noted()).toEqual(['"d2"']);
    await note("/b.md", "d3");
    await now();
    expect(noted()).toEqual(['"d3"']);
  });

  it("keeps no original on the disk when it cannot be forgotten, and says that it cannot", async () => {
    const removed: unknown[] = [];
    const originals = withIngested(
      {
        listUnneeded: async () => [],
        async removeUnneeded(files) {
          removed.push(files);
          return [];
        },
      },
      () => Promise.reject(new Error("The disk is read-only.")),
    );
    await expect(originals.removeUnneeded([])).rejects.toThrow("read-only");
    expect(removed).toHaveLength(1);
  });
});
