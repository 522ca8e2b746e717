import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nodeDisk } from "../../src/storage/disk.ts";
import { writeIncoming, writeMoved } from "../../src/storage/moved.ts";
import { contentsOf } from "../../src/storage/relocation-contents.ts";
import { checkTarget } from "../../src/storage/relocation-target.ts";

/** Usually another file system than the one for temporary files. */
const OTHER = "/dev/shm";

let root: string;
let from: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "memoryd-target-"));
  from = join(root, "outer", "old");
  mkdirSync(join(from, "journal"), { recursive: true });
  writeFileSync(join(from, "journal", "1"), "x".repeat(1_000));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const check = async (to: string, disk = nodeDisk) => checkTarget(disk, from, to, await contentsOf(from));

describe("checkTarget", () => {
  it("takes a new folder, an empty one and an unfinished move of the same", async () => {
    expect(await check(join(root, "new/deep"))).toEqual({ isHere: false, exists: false, toCopy: 0 });
    mkdirSync(join(root, "empty"));
    expect(await check(join(root, "empty"))).toMatchObject({ isHere: false, exists: true });
    await writeIncoming(nodeDisk, join(root, "empty"), from);
    writeFileSync(join(root, "empty", "half"), "");
    expect(await check(join(root, "empty"))).toMatchObject({ isHere: false, exists: true });
  });

  it("takes the place that the data once came from, and no other with a mark", async () => {
    const [once, elsewhere] = [join(root, "once"), join(root, "elsewhere")];
    for (const folder of [once, elsewhere, join(root, "b"), join(root, "b/journal")]) mkdirSync(folder);
    await writeMoved(nodeDisk, once, { id: "1", to: from });
    await writeMoved(nodeDisk, elsewhere, { id: "1", to: join(root, "b") });
    expect(await check(once)).toMatchObject({ exists: true });
    await expect(check(elsewhere)).rejects.toThrow("MOVED is there");
  });

  it("knows its own place by any name", async () => {
    symlinkSync(from, join(root, "link"), "junction");
    expect(await check(from)).toMatchObject({ isHere: true });
    expect(await check(join(root, "link"))).toMatchObject({ isHere: true });
  });

  it.each<[string, () => string, RegExp]>([
    ["inside of the data", () => join(from, "journal/new"), /lies inside the data directory/],
    ["inside of it through a link", () => join(linkTo(from), "new"), /lies inside the data directory/],
    ["around the data", () => join(root, "outer"), /lies inside .+outer; choose an empty folder/],
    ["with something in it", () => root, /lies inside/],
    ["of another's", () => filled(), /is not empty \(notes\.txt is there\)/],
    ["that is a file", () => join(filled(), "notes.txt"), /is a file; name a folder/],
    ["below a file", () => join(filled(), "notes.txt", "new"), /is a file, so that there can be no folder/],
    ["that is a link to nothing", () => linkTo(join(root, "nothing")), /link to a place that is not there/],
  ])("refuses a place %s", async (_, place, message) => {
    const refusal = check(place());
    await expect(refusal).rejects.toThrow(message);
    await expect(refusal).rejects.toThrow(/Nothing was changed\.$/);
  });

  it("refuses an unfinished move of others", async () => {
    mkdirSync(join(root, "new"));
    await writeIncoming(nodeDisk, join(root, "new"), join(root, "elsewhere"));
    await expect(check(join(root, "new"))).rejects.toThrow(/unfinished move from .+elsewhere/);
  });

  it.skipIf(process.platform === "win32" || process.getuid?.() === 0)(
    "refuses a place that may not be written to (skipped for root and on Windows)",
    async () => {
      mkdirSync(join(root, "closed"), { mode: 0o500 });
      await expect(check(join(root, "closed/new"))).rejects.toThrow("you may not write there");
    },
  );

  it.skipIf(statSync(OTHER, { throwIfNoEntry: false })?.dev === statSync(tmpdir()).dev || !isThere(OTHER))(
    "asks for room on another disk (skipped without /dev/shm)",
    async () => {
      expect(await check(join(OTHER, "memoryd-none"))).toMatchObject({ toCopy: 1_000 });
      const full = { ...nodeDisk, freeBytes: () => Promise.resolve(999) };
      await expect(check(join(OTHER, "memoryd-none"), full)).rejects.toThrow(
        /has 0\.0 MB free, and 33\.6 MB/,
      );
    },
  );
});

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function linkTo(path: string): string {
  symlinkSync(path, join(root, "link"), "junction");
  return join(root, "link");
}

function filled(): string {
  mkdirSync(join(root, "filled"));
  writeFileSync(join(root, "filled", "notes.txt"), "");
  return join(root, "filled");
}

it("finds what cannot be moved", async () => {
  symlinkSync(join(root, "outer"), join(from, "files"), "junction");
  await expect(contentsOf(from)).rejects.toThrow(/files is a symbolic link/);
});
