import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findDocuments } from "../../../src/cli/ingest/find-documents.ts";
import { findGone } from "../../../src/cli/ingest/gone-files.ts";
import { knownDocuments } from "../../../src/cli/ingest/known-documents.ts";
import { Ledger } from "../../../src/cli/ingest/ledger.ts";
import { emptyTally, removeGone, takeIn, type Tally, type Work } from "../../../src/cli/ingest/take-in.ts";
import { createFakeDocumentDaemon, type FakeDocumentDaemon } from "../../support/fake-document-daemon.ts";

let home: string;
let daemon: FakeDocumentDaemon;
let work: Work;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "memoryd-ingest-"));
  for (const folder of ["a", "b", "data"]) mkdirSync(join(home, folder));
  daemon = createFakeDocumentDaemon();
  work = await newRun();
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

async function newRun(): Promise<Work> {
  const documents = await knownDocuments(daemon.client, { user: null, project: null });
  return {
    daemon: daemon.client,
    ledger: Ledger.open(join(home, "data"), { user: null, project: null }, (id) => documents.has(id)),
    pathOf: (id) => documents.get(id),
    seen: new Map(),
    options: {},
    signal: new AbortController().signal,
    show: () => {},
  };
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
  await takeIn(work, (await findDocuments(roots(...names))).files, tally);
  return tally;
}

async function removeDeleted(...names: string[]): Promise<Tally> {
  const tally = emptyTally();
  await removeGone(work, (await findGone(roots(...names), work.ledger.paths())).gone, tally);
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

  it("replaces what has changed", async () => {
    put("a/one.md", "one");
    await look("a");
    put("a/one.md", "changed");
    expect(await look("a")).toMatchObject({ replaced: 1 });
    expect(hashesKept()).toBe(1);
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
      metadata: {},
    });
    put("a/one.md", "one");
    await look("a");
    rmSync(join(home, "a/one.md"));
    expect(await removeDeleted("a")).toMatchObject({ removed: 0 });
    expect(daemon.documents.has("theirs")).toBe(true);
  });

  it("knows a file again whose run was killed before it could write it down", async () => {
    put("a/one.md", "one");
    await look("a");
    rmSync(join(home, "data/ingested.ndjson"));
    work = await newRun();
    await look("a");
    put("a/one.md", "changed");
    await look("a");
    expect(hashesKept()).toBe(1);
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
    expect(await findGone(roots("b"), work.ledger.paths())).toEqual({ known: 1, gone: [], missingRoots: [] });
    expect(await findGone(roots("a"), work.ledger.paths())).toEqual({
      known: 1,
      gone: roots("a/one.md"),
      missingRoots: roots("a"),
    });
  });
});

describe("the ledger", () => {
  const open = (user: string | null = null) =>
    Ledger.open(join(home, "data"), { user, project: null }, (id) => id !== "gone");
  const entry = (documentId: string) => ({ documentId, sha256: "0", isOwn: true });

  it("keeps users apart", () => {
    open("ada").set("/x", entry("d1"));
    expect(open("bob").paths()).toEqual([]);
    expect(open("ada").paths()).toEqual(["/x"]);
  });

  it("reads what stands after a line that was cut short", () => {
    open().set("/x", entry("d1"));
    writeFileSync(join(home, "data/ingested.ndjson"), '\n{"path":"/tor', { flag: "a" });
    open().set("/y", entry("d2"));
    expect(open().paths()).toEqual(["/x", "/y"]);
  });

  it("forgets what is gone", () => {
    const ledger = open();
    ledger.set("/x", entry("gone"));
    ledger.set("/y", entry("d2"));
    ledger.set("/z", entry("d3"));
    ledger.remove("/z");
    expect(open().paths()).toEqual(["/y"]);
  });
});
