import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { replaceFile } from "../../src/storage/files/disk.ts";
import { createFaultyDisk, type FaultyDisk, type Remains } from "./faulty-disk.ts";

let top: string;
let root: string;

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), "faulty-disk-"));
  root = join(top, "data");
  mkdirSync(join(root, "tables"), { recursive: true });
  writeFileSync(join(root, "old"), "old content");
});
afterEach(() => {
  rmSync(top, { recursive: true, force: true });
});

const at = (name: string) => join(root, name);
const content = (name: string) => (existsSync(at(name)) ? readFileSync(at(name), "latin1") : undefined);

async function write(disk: FaultyDisk, name: string, text: string, { synced = false, position = 0 } = {}) {
  const file = await disk.open(at(name), existsSync(at(name)) ? "write" : "create");
  try {
    await file.write(Buffer.from(text), position);
    if (synced) await file.sync();
  } finally {
    await file.close();
  }
}

describe("a power failure", () => {
  it.each<[Remains, string]>([
    ["zeroed", "syn\0\0\0\0\0\0"],
    ["truncated", "syn\0\0"],
    ["kept", "synTAILED"],
  ])("(%s) leaves of bytes that were not synced: %j", async (remains, left) => {
    const disk = await createFaultyDisk(root);
    await write(disk, "a", "synch", { synced: true });
    await disk.syncDirectory(root);
    await write(disk, "a", "TAILED", { position: 3 });
    await disk.powerFailure(remains);
    expect(content("a")).toBe(left);
    await expect(disk.size(at("a"))).rejects.toMatchObject({ code: "EIO" });
  });

  it("leaves what was synced, even by another handle", async () => {
    const disk = await createFaultyDisk(root);
    await write(disk, "old", "new");
    const file = await disk.open(at("old"), "read");
    await file.sync();
    await file.close();
    await disk.powerFailure();
    expect(content("old")).toBe("new content");
  });

  it("loses what was written before a sync that failed, whatever a later sync says", async () => {
    const disk = await createFaultyDisk(root);
    const file = await disk.open(at("old"), "write");
    await file.write(Buffer.from("new"), 0);
    disk.failAt(disk.steps + 1, "EIO");
    await expect(file.sync()).rejects.toMatchObject({ code: "EIO" });
    await file.sync();
    await disk.powerFailure();
    await file.close();
    expect(content("old")).toBe("\0\0\0 content");
  });

  it("undoes creations, renames, replacements and removals in a folder that was not synced", async () => {
    const disk = await createFaultyDisk(root);
    await write(disk, "created", "x", { synced: true });
    await replaceFile(disk, at("kept"), Buffer.from("kept"));
    await disk.rename(at("kept"), at("old"));
    await disk.remove(at("old"));
    await write(disk, "old", "again", { synced: true });
    expect(content("old")).toBe("again");
    await disk.powerFailure();
    expect(readdirSync(root).sort()).toEqual(["created", "kept", "old", "tables"]);
    expect(content("old")).toBe("old content");
    expect(content("kept")).toBe("kept");
    expect(readdirSync(top)).toEqual(["data"]);
  });

  it("brings back what was cut off, unless the cut was synced", async () => {
    const disk = await createFaultyDisk(root);
    const file = await disk.open(at("old"), "write");
    await file.truncate(3);
    await file.sync();
    await file.truncate(1);
    await disk.powerFailure();
    await file.close();
    expect(content("old")).toBe("old");
  });
});

describe("files that others write", () => {
  it.each<[Remains, string | undefined, string | undefined]>([
    ["zeroed", "\0\0", "\0\0"],
    ["truncated", "", undefined],
    ["kept", "xx", "xx"],
  ])("(%s) count as unsynced until this disk syncs them", async (remains, entered, fresh) => {
    writeFileSync(at("tables/before"), "before");
    const disk = await createFaultyDisk(root, { foreignFolders: ["tables"] });
    for (const name of ["synced", "entered"]) writeFileSync(at(`tables/${name}`), "xx");
    const file = await disk.open(at("tables/synced"), "write");
    await file.sync();
    await file.close();
    await disk.syncDirectory(at("tables"));
    writeFileSync(at("tables/fresh"), "xx");
    await disk.powerFailure(remains);
    expect(content("tables/before")).toBe("before");
    expect(content("tables/synced")).toBe("xx");
    expect(content("tables/entered")).toBe(entered);
    expect(content("tables/fresh")).toBe(fresh);
  });
});

describe("a fault", () => {
  it("comes at its step, once, or from there on", async () => {
    const disk = await createFaultyDisk(root);
    disk.failAt(2, "EIO");
    await disk.syncDirectory(root);
    await expect(disk.rename(at("old"), at("new"))).rejects.toMatchObject({ code: "EIO" });
    await disk.rename(at("old"), at("new"));
    disk.failAt(4, "ENOSPC", { lasting: true });
    for (let i = 0; i < 3; i += 1)
      await expect(disk.remove(at("new"))).rejects.toMatchObject({ code: "ENOSPC" });
    disk.heal();
    await disk.remove(at("new"));
    expect(disk.steps).toBe(7);
    expect(disk.log.slice(0, 3)).toEqual(["sync-folder data", "rename new", "rename new"]);
  });

  it.each([
    ["short-write", "EIO", "new"],
    ["EIO", "EIO", "newnew"],
    ["ENOSPC", "ENOSPC", "new"],
    ["crash", "EIO", "new"],
  ] as const)("(%s) in a write fails it with %s and leaves %j", async (fault, code, left) => {
    const disk = await createFaultyDisk(root);
    disk.failAt(2, fault);
    await expect(write(disk, "a", "newnew")).rejects.toMatchObject({ code });
    expect(content("a")).toBe(left);
    if (fault === "crash") await expect(disk.readFile(at("old"))).rejects.toMatchObject({ code: "EIO" });
    else expect(await disk.readFile(at("old"))).toHaveLength(11);
  });

  it("is a full disk where there is a limit", async () => {
    const disk = await createFaultyDisk(root);
    disk.limit(15);
    expect(await disk.freeBytes(root)).toBe(4);
    await expect(write(disk, "a", "123456")).rejects.toMatchObject({ code: "ENOSPC" });
    expect(content("a")).toBe("1234");
    await write(disk, "a", "4321");
    await disk.remove(at("old"));
    await write(disk, "a", "123456");
  });
});
