import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FileStore, HeldFile } from "../../../src/core/documents/document-ports.ts";
import { type Disk, nodeDisk } from "../../../src/storage/files/disk.ts";
import { createFaultyDisk } from "../../support/faulty-disk.ts";
import { DiskFileStore } from "../../../src/storage/files/disk-file-store.ts";

const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");

let directory: string;
let needed: Set<string>;
let wasNeeded: Set<string>;
let store: DiskFileStore;
const open = ({ isAllKnown = false, disk = nodeDisk }: { isAllKnown?: boolean; disk?: Disk } = {}) =>
  DiskFileStore.open({
    disk,
    directory,
    documents: {
      needsFile: (sha256) => needed.has(sha256),
      neededFile: (sha256) => wasNeeded.has(sha256),
    },
    isAllKnown,
  });
const names = () => readdirSync(join(directory, "files")).toSorted();

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "memoryd-files-"));
  needed = new Set();
  wasNeeded = new Set();
  store = await open();
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function keep(files: FileStore, ...pieces: string[]): Promise<HeldFile> {
  const file = await files.create();
  try {
    for (const piece of pieces) await file.write(Buffer.from(piece));
    return await file.keep();
  } catch (error) {
    await file.discard();
    throw error;
  }
}

describe("DiskFileStore", () => {
  it("keeps what came in pieces under its SHA-256, and reads it back", async () => {
    const { sha256, bytes } = await keep(store, "green ", "tea");
    expect([sha256, bytes]).toEqual([hashOf("green tea"), 9]);
    expect(readFileSync(store.pathOf(sha256), "utf8")).toBe("green tea");
    const pieces: Uint8Array[] = [];
    for await (const piece of await store.read(sha256)) pieces.push(piece);
    expect(Buffer.concat(pieces).toString()).toBe("green tea");
  });

  it("refuses bytes that the disk has changed, finds them when it reads all, and mends them with the same file", async () => {
    const { sha256 } = await keep(store, "green tea");
    const whole = await keep(store, "black tea");
    needed.add(sha256).add(whole.sha256);
    writeFileSync(store.pathOf(sha256), "grean tea");
    store = await open();
    expect(await store.scrub(new AbortController().signal)).toEqual([sha256]);
    const refusal = store.read(sha256);
    await expect(refusal).rejects.toMatchObject({ code: "DAMAGED" });
    await expect(refusal).rejects.toThrow(/original .* is damaged .*Ingest the same file again/);
    await keep(store, "green tea");
    expect(store.damaged).toEqual([]);
    const pieces: Uint8Array[] = [];
    for await (const piece of await store.read(sha256)) pieces.push(piece);
    expect(Buffer.concat(pieces).toString()).toBe("green tea");
  });

  it("leaves nothing of what was discarded, or was on its way at the end", async () => {
    const [gone, cut] = [await store.create(), await store.create()];
    await gone.write(Buffer.from("x"));
    await gone.discard();
    await cut.write(Buffer.from("y"));
    expect(names()).toHaveLength(1);
    store = await open();
    expect(names()).toEqual([]);
    await cut.discard();
  });

  it("removes, reads and measures nothing outside of its folder, whatever a store from elsewhere names", async () => {
    writeFileSync(join(directory, "letter"), "x");
    const files = await open({ isAllKnown: true });
    files.hold(["../letter"])();
    await files.removeUnneeded(await files.listUnneeded());
    await expect(files.read("../letter")).rejects.toMatchObject({ code: "DAMAGED" });
    await expect(files.removeUnneeded([{ sha256: "../letter", bytes: 1 }])).rejects.toThrow();
    expect(readFileSync(join(directory, "letter"), "utf8")).toBe("x");
  });

  it("leaves a folder that somebody made there alone", async () => {
    mkdirSync(join(directory, "files", "mine", "deep"), { recursive: true });
    store = await open();
    expect(names()).toEqual(["mine"]);
    rmSync(join(directory, "files", "mine"), { recursive: true });
  });

  it("makes its folder again where that was removed", async () => {
    rmSync(join(directory, "files"), { recursive: true });
    const { sha256 } = await keep(store, "tea");
    expect(names()).toEqual([sha256]);
  });

  it.each<[string, RegExp, "EIO" | "ENOSPC", string]>([
    ["creation", /^(create|remove)/, "EIO", "NOT_READY"],
    ["write", /^(write|remove)/, "ENOSPC", "STORE_FULL"],
    ["sync", /^(sync|remove)/, "EIO", "NOT_READY"],
    ["renaming", /^(rename|remove)/, "EIO", "NOT_READY"],
  ])("says that the disk refused a %s, whatever comes after", async (_, step, fault, code) => {
    const disk = await createFaultyDisk(directory);
    const faulty = await open({ disk });
    disk.failAt(step, fault, { lasting: true });
    await expect(keep(faulty, "tea")).rejects.toMatchObject({ code });
    disk.heal();
    store = await open();
    expect(names()).toEqual([]);
  });

  it("removes at once what no document ever had: when it is let go of, when its job is over, at the next start", async () => {
    const refused = await keep(store, "refused");
    refused.release();
    const failed = await keep(store, "failed");
    needed.add(failed.sha256);
    failed.release();
    const deleted = await keep(store, "deleted");
    wasNeeded.add(deleted.sha256);
    deleted.release();
    store.letGo(deleted.sha256);
    await store.removeUnneeded([]);
    expect(names()).toEqual([deleted.sha256, failed.sha256].toSorted());
    needed.delete(failed.sha256);
    store.letGo(failed.sha256);
    await store.removeUnneeded([]);
    expect(names()).toEqual([deleted.sha256]);

    writeFileSync(store.pathOf(hashOf("orphan")), "orphan");
    // A state before may name it: only the checkpoints tell.
    store = await open();
    expect(names()).toHaveLength(2);
    store = await open({ isAllKnown: true });
    expect(names()).toEqual([deleted.sha256]);
  });

  it("mends a damaged file when the same bytes come again", async () => {
    const { sha256 } = await keep(store, "tea");
    writeFileSync(store.pathOf(sha256), "te");
    await keep(store, "tea");
    expect(readFileSync(store.pathOf(sha256), "utf8")).toBe("tea");
  });

  it("says when the original is gone", async () => {
    await expect(store.read(hashOf("nothing"))).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("says when the disk is full, and leaves nothing behind", async () => {
    const full = Object.assign(new Error("no space"), { code: "ENOSPC" });
    const disk = {
      ...nodeDisk,
      open: async (path: string, mode: "read" | "write" | "create") => ({
        ...(await nodeDisk.open(path, mode)),
        write: () => Promise.reject(full),
      }),
    };
    store = await open({ disk });
    const file = await store.create();
    await expect(file.write(Buffer.from("x"))).rejects.toMatchObject({ code: "STORE_FULL" });
    await file.discard();
    expect(names()).toEqual([]);
  });
});
