import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hasCode, listFilesBelow, nodeDisk, replaceFile } from "../../../src/storage/files/disk.ts";
import { createFaultyDisk } from "../../support/faulty-disk.ts";

let top: string;
let root: string;

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), "disk-"));
  root = join(top, "data");
});
afterEach(() => {
  rmSync(top, { recursive: true, force: true });
});

describe("nodeDisk", () => {
  it("writes and reads at positions, up to what there is", async () => {
    await nodeDisk.makeDirectory(root);
    const file = await nodeDisk.open(join(root, "a"), "create");
    await file.write(Buffer.from("hello"), 2);
    await file.sync();
    const into = Buffer.alloc(10, "-");
    expect(await file.read(into, 1)).toBe(6);
    expect(into.toString("latin1")).toBe("\0hello----");
    await file.truncate(4);
    expect(await nodeDisk.size(join(root, "a"))).toBe(4);
    await file.close();
  });

  it.skipIf(process.platform === "win32")("keeps files and folders to this user", async () => {
    await nodeDisk.makeDirectory(join(root, "b", "c"));
    await (await nodeDisk.open(join(root, "b", "c", "d"), "create")).close();
    expect(statSync(join(root, "b", "c")).mode & 0o777).toBe(0o700);
    expect(statSync(join(root, "b", "c", "d")).mode & 0o777).toBe(0o600);
    await nodeDisk.makeDirectory(join(root, "b"));
  });

  it.skipIf(process.platform === "win32")("refuses a pipe or a device at once", async () => {
    await nodeDisk.makeDirectory(root);
    execFileSync("mkfifo", [join(root, "pipe")]);
    for (const path of [join(root, "pipe"), "/dev/zero"]) {
      await expect(nodeDisk.readFile(path)).rejects.toThrow("is not a regular file");
      for (const mode of ["read", "write"] as const)
        await expect(nodeDisk.open(path, mode)).rejects.toThrow("is not a regular file");
    }
  });

  it("does not overwrite what it is to create, nor mind what is missing", async () => {
    await nodeDisk.makeDirectory(root);
    writeFileSync(join(root, "a"), "");
    await expect(nodeDisk.open(join(root, "a"), "create")).rejects.toSatisfy((error) =>
      hasCode(error, "EEXIST"),
    );
    await expect(nodeDisk.open(join(root, "b"), "write")).rejects.toSatisfy((error) =>
      hasCode(error, "ENOENT"),
    );
    await nodeDisk.remove(join(root, "b"));
    expect(await nodeDisk.size(join(root, "b"))).toBeUndefined();
    expect(await nodeDisk.list(join(root, "b"))).toEqual([]);
    expect(await nodeDisk.freeBytes(root)).toBeGreaterThan(0);
  });
});

describe.skipIf(process.platform === "win32")("an open file", () => {
  it("knows whether a path still names it", async () => {
    await nodeDisk.makeDirectory(root);
    const path = join(root, "a");
    const file = await nodeDisk.open(path, "create");
    expect(await file.isAt(path)).toBe(true);

    renameSync(root, `${root}.away`);
    expect(await file.isAt(path)).toBe(false);
    writeFileSync(root, "a file in the way");
    expect(await file.isAt(path)).toBe(false);
    rmSync(root);
    cpSync(`${root}.away`, root, { recursive: true });
    expect(await file.isAt(path)).toBe(false);
    rmSync(root, { recursive: true });
    renameSync(`${root}.away`, root);
    expect(await file.isAt(path)).toBe(true);

    rmSync(path);
    expect(await file.isAt(path)).toBe(false);
    await file.close();
  });
});

describe("listFilesBelow", () => {
  it("names every file at any depth, sorted", async () => {
    await nodeDisk.makeDirectory(join(root, "b", "c"));
    for (const name of ["z", "b/a", "b/c/d"]) writeFileSync(join(root, name), "");
    expect(await listFilesBelow(nodeDisk, root)).toEqual(["b/a", "b/c/d", "z"]);
    expect(await listFilesBelow(nodeDisk, join(root, "none"))).toEqual([]);
  });
});

describe("replaceFile", () => {
  it.each(["crash", "EIO", "ENOSPC"] as const)(
    "leaves the old or the new content, whole, after %s at any step",
    async (fault) => {
      for (let step = 1; step <= 7; step += 1) {
        for (const remains of ["zeroed", "truncated", "kept", "mixed"] as const) {
          rmSync(root, { recursive: true, force: true });
          await nodeDisk.makeDirectory(root);
          const path = join(root, "a");
          writeFileSync(path, "old");
          const disk = await createFaultyDisk(root);
          disk.failAt(step, fault);
          const done = await replaceFile(disk, path, Buffer.from("newer")).then(
            () => true,
            () => false,
          );
          await disk.powerFailure(remains);
          expect(done ? ["newer"] : ["old", "newer"]).toContain(readFileSync(path, "latin1"));
        }
      }
    },
  );

  it("gives back the space of its temporary file when it fails", async () => {
    await nodeDisk.makeDirectory(root);
    const disk = await createFaultyDisk(root);
    disk.limit(2);
    await expect(replaceFile(disk, join(root, "a"), Buffer.from("abc"))).rejects.toMatchObject({
      code: "ENOSPC",
    });
    expect(existsSync(join(root, "a.tmp"))).toBe(false);
  });
});
