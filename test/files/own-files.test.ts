import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeFolder } from "../../src/files/own-files.ts";

describe("makeFolder", () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "memoryd-own-"));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it("makes a folder with its parents, and does nothing where it is there", () => {
    for (let times = 0; times < 2; times += 1) makeFolder(join(root, "a", "b", "c"));
    for (const path of ["a", "a/b", "a/b/c"]) expect(existsSync(join(root, path))).toBe(true);
    if (process.platform !== "win32") expect(statSync(join(root, "a", "b")).mode & 0o777).toBe(0o700);
  });

  it("fails where a file is in the way", () => {
    writeFileSync(join(root, "file"), "");
    for (const path of ["file", "file/b"])
      expect(() => makeFolder(join(root, path))).toThrow(/EEXIST|ENOTDIR/);
  });

  it.skipIf(process.platform !== "linux")("ends where a parent that is there refuses with ENOENT", () => {
    expect(() => makeFolder("/proc/memoryd/data")).toThrow(/ENOENT/);
  });
});
