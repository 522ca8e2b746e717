import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { findDocuments } from "../../../src/files/find-documents.ts";
import {
  emptyTally,
  findGone,
  ingestFiles,
  removeGone,
  type Run,
  startRun,
  type Tally,
} from "../../../src/cli/ingest/sync-files.ts";
import { createFakeDocumentDaemon, type FakeDocumentDaemon } from "../../support/fake-document-daemon.ts";

let home: string;
let daemon: FakeDocumentDaemon;
let work: Run;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "memoryd-ingest-"));
  for (const folder of ["a", "b", "data"]) mkdirSync(join(home, folder));
  daemon = createFakeDocumentDaemon();
  work = await newRun();
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function newRun(): Promise<Run> {
  const findApi = async () => (daemon.answers ? daemon.api : undefined);
  return startRun(daemon.api, findApi, {}, new AbortController().signal);
}

let tick = 0;
function put(path: string, text: string): void {
  writeFileSync(join(home, path), text);
  // Two writes within one tick of the file system's clock look the same.
  tick += 1;
  utimesSync(join(home, path), tick, tick);
}

const roots = (...names: string[]) => names.map((name) => join(home, name));

async function look(...names: string[]): Promise<Tally> {
  const tally = emptyTally();
  await ingestFiles(work, (await findDocuments(roots(...names))).files, tally);
  return tally;
}

async function removeDeleted(...names: string[]): Promise<Tally> {
  const tally = emptyTally();
  const { moved, lost } = await findGone(work, roots(...names));
  await removeGone(work, [...moved, ...lost], tally);
  return tally;
}

const hashesKept = () => new Set([...daemon.documents.values()].map(({ sha256 }) => sha256)).size;

describe("taking in folders", () => {
  it("sends what is new, and nothing twice", async () => {
    put("a/one.md", "one");
    expect(await look("a")).toMatchObject({ added: 1, memories: 1 });
    expect(await look("a")).toEqual(emptyTally());
    work = await newRun();
    expect(await look("a")).toMatchObject({ added: 0, unchanged: 1 });
    expect(daemon.sent).toBe(1);
  });

  it("asks for a document only where its bytes were there before", async () => {
    const asked = vi.spyOn(daemon.api.documents, "get");
    put("a/one.md", "one");
    await look("a");
    expect(asked).toHaveBeenCalledTimes(0);
    work = { ...work, documents: new Map() };
    put("b/same.md", "one");
    await look("b");
    expect(asked).toHaveBeenCalledTimes(1);
    expect([...work.documents.values()]).toMatchObject([{ paths: roots("a/one.md", "b/same.md") }]);
  });

  it("says which texts were read by a guess, and reads the same bytes again in the encoding that is named", async () => {
    put("a/guessed.txt", "one");
    put("b/other.txt", "two");
    expect(await look("a", "b")).toMatchObject({
      added: 2,
      guessed: [{ path: join(home, "a/guessed.txt"), encoding: "koi8-r" }],
    });
    work = { ...(await newRun()), options: { encoding: "windows-1251" } };
    expect(await look("a")).toMatchObject({ added: 0, replaced: 1 });
    expect(daemon.lastFields).toMatchObject({
      metadata: { path: join(home, "a/guessed.txt"), encoding: "windows-1251" },
    });
    expect(hashesKept()).toBe(2);
    // Bytes that stand for two files are not taken from the other one.
    put("b/same.txt", "one");
    await look("b");
    work = { ...(await newRun()), options: { encoding: "koi8-r" } };
    expect(await look("a")).toMatchObject({ replaced: 0, unchanged: 1 });
  });

  it("sends what was said of all of them with each", async () => {
    put("a/one.md", "one");
    const options = { user: "ann", project: "garden", tag: ["x", "y"], language: "de" };
    work = { ...work, options };
    await look("a");
    expect(daemon.lastFields).toEqual({
      // When the file was changed: the time of what names none of its own.
      metadata: { path: join(home, "a/one.md"), modified_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) },
      user_id: "ann",
      project: "garden",
      tags: ["x", "y"],
      language: "de",
    });
  });

  it("replaces what has changed", async () => {
    put("a/one.md", "one");
    await look("a");
    put("a/one.md", "changed");
    expect(await look("a")).toMatchObject({ replaced: 1 });
    expect(hashesKept()).toBe(1);
  });

  it("moves the document of a changed file to the trash, and of a file that changes all the time one an hour", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    for (const [text, minutes, trashed] of [
      ["one", 0, 0],
      ["two", 1, 1],
      ["three", 1, 1],
      // What stood for some minutes.
      ["four", 10, 2],
      ["five", 1, 2],
      ["six", 61, 3],
    ] as const) {
      vi.setSystemTime(Date.now() + minutes * 60_000);
      put("a/one.md", text);
      await look("a");
      expect(daemon.trash).toHaveLength(trashed);
      expect(daemon.documents.size).toBe(1);
    }
    vi.useRealTimers();
  });

  it("keeps the document of a file that changes between its reading and its sending", async () => {
    put("a/one.md", "one");
    const { submit } = daemon.api.documents;
    vi.spyOn(daemon.api.documents, "submit").mockImplementationOnce((source, fields) => {
      put("a/one.md", "two");
      return submit({ ...source, file: new Blob(["two"]) }, fields);
    });
    expect(await look("a")).toMatchObject({ added: 1 });
    expect(await look("a")).toMatchObject({ unchanged: 1, replaced: 0, failed: [] });
    expect([...daemon.documents.values()]).toMatchObject([{ metadata: { path: join(home, "a/one.md") } }]);
  });

  it("keeps a document while another file holds the same bytes, also in a later run", async () => {
    put("a/heron.md", "heron");
    put("b/copy.md", "heron");
    await look("a", "b");
    work = await newRun();
    put("a/heron.md", "egret");
    expect(await look("a")).toMatchObject({ replaced: 1 });
    expect(hashesKept()).toBe(2);
    rmSync(join(home, "b/copy.md"));
    expect(await removeDeleted("b")).toMatchObject({ removed: 1 });
    expect(hashesKept()).toBe(1);
  });

  it("leaves a document that somebody else had sent", async () => {
    daemon.documents.set("theirs", {
      id: "theirs",
      sha256: "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed", // of "one"
      created_at: "2026-01-01T00:00:00.000Z",
      bytes: 3,
      filename: null,
      metadata: {},
    });
    put("a/one.md", "one");
    await look("a");
    rmSync(join(home, "a/one.md"));
    expect(await removeDeleted("a")).toMatchObject({ removed: 0 });
    expect(daemon.documents.has("theirs")).toBe(true);
  });

  it("takes a document for gone that was deleted by hand", async () => {
    put("a/one.md", "one");
    await look("a");
    daemon.documents.clear();
    rmSync(join(home, "a/one.md"));
    expect(await removeDeleted("a")).toMatchObject({ failed: [] });
    put("a/one.md", "one");
    work = await newRun();
    expect(await look("a")).toMatchObject({ added: 1 });
  });

  it("tries again what failed, and not what was refused", async () => {
    put("a/one.md", "one");
    daemon.refuseNext(503);
    expect((await look("a")).failed).toHaveLength(1);
    daemon.refuseNext(422);
    expect((await look("a")).failed).toHaveLength(1);
    expect(await look("a")).toEqual(emptyTally());
    put("a/one.md", "better");
    expect(await look("a")).toMatchObject({ added: 1 });
  });

  it("calls a document as a file that it still stands for", async () => {
    const names = () => [...daemon.documents.values()].map(({ filename }) => filename);
    put("a/old.md", "one");
    await look("a");
    put("a/new.md", "one");
    rmSync(join(home, "a/old.md"));
    expect(await look("a")).toMatchObject({ unchanged: 1, memories: 0 });
    await removeDeleted("a");
    expect(names()).toEqual(["new.md"]);
    put("b/copy.md", "one");
    put("b/other.md", "one");
    await look("b");
    expect(names()).toEqual(["other.md"]);
    rmSync(join(home, "b/other.md"));
    await removeDeleted("b");
    expect(names()).toEqual(["new.md"]);
    rmSync(join(home, "b/copy.md"));
    put("a/new.md", "two");
    put("b/last.md", "one");
    await look("b");
    await removeDeleted("b");
    await look("a");
    expect(names()).toEqual(["last.md", "new.md"]);
  });

  it("keeps a document that another command found in another file meanwhile", async () => {
    put("a/one.md", "one");
    await look("a");
    const watching = work;
    work = await newRun();
    put("b/copy.md", "one");
    await look("b");
    work = watching;
    rmSync(join(home, "a/one.md"));
    expect(await removeDeleted("a")).toMatchObject({ removed: 0 });
    expect(daemon.documents.size).toBe(1);
  });

  it("leaves the rest for the next run once the daemon does not answer", async () => {
    for (const name of ["one", "two", "three", "four"]) put(`a/${name}.md`, name);
    daemon.answers = false;
    const tally = await look("a");
    expect([daemon.sent, tally.failed.length, tally.notTried]).toEqual([1, 1, 3]);
    daemon.answers = true;
    expect(await look("a")).toMatchObject({ added: 4, notTried: 0 });
  });

  it("goes on after files that cannot be sent while the daemon answers, with the one that answers", async () => {
    for (const name of ["one", "two", "three", "four"]) put(`a/${name}.md`, name);
    const another = createFakeDocumentDaemon();
    daemon.answers = false;
    work = { ...work, findApi: async () => (daemon.sent < 3 ? daemon.api : another.api) };
    const tally = await look("a");
    expect([daemon.sent, tally.failed.length, tally.notTried]).toEqual([3, 3, 0]);
    expect([tally.added, another.sent]).toEqual([1, 1]);
  });

  it("shows at most 100 % of a document whose parts became more than foreseen", async () => {
    put("a/one.md", "one");
    const submit = async () => ({ id: "job" }) as never;
    const wait: Run["api"]["jobs"]["wait"] = async (_id, _query, { onProgress } = {}) => {
      onProgress?.({ progress: { stage: "embedding", done: 4, total: 3 } } as never);
      return { deduplicated: false, memory_ids: [], document: { id: "d", sha256: "" } } as never;
    };
    Object.assign(daemon.api.documents, { submit });
    Object.assign(daemon.api.jobs, { wait });
    const before = process.stderr.isTTY;
    process.stderr.isTTY = true;
    const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    try {
      await look("a");
      expect(write.mock.calls.join()).toContain("embedding 100 % 1/1 one.md");
    } finally {
      write.mockRestore();
      process.stderr.isTTY = before;
    }
  });

  it("does not take an emptied or ignored file for a deleted one", async () => {
    put("a/one.md", "one");
    put("a/two.md", "two");
    await look("a");
    put("a/one.md", "");
    put("a/.gitignore", "two.md");
    await look("a");
    expect(await removeDeleted("a")).toMatchObject({ removed: 0 });
    expect(hashesKept()).toBe(2);
  });

  it("looks only below the roots, and names a root that is gone", async () => {
    put("a/one.md", "one");
    put("b/two.md", "two");
    await look("a", "b");
    rmSync(join(home, "a"), { recursive: true });
    const none = { moved: new Map(), lost: new Map() };
    expect(await findGone(work, roots("b"))).toEqual({ known: 1, ...none, missingRoots: [] });
    const { known, lost, missingRoots } = await findGone(work, roots("a"));
    expect([known, [...lost.values()], missingRoots]).toEqual([1, [roots("a/one.md")], roots("a")]);
  });
});
