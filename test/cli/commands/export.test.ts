import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { putInPlace } from "../../../src/cli/commands/export.ts";
import { FOLDER_INDEX } from "../../../src/cli/import/read-export.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "memoryd-place-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** What an export has written under another name. */
function written(name: string, isFolder: boolean, content: string): string {
  const path = join(folder, name);
  if (isFolder) mkdirSync(path);
  writeFileSync(isFolder ? join(path, FOLDER_INDEX) : path, content);
  return path;
}

it.each([false, true])("replaces nothing that came meanwhile (a folder: %s)", async (isFolder) => {
  const target = written("out", isFolder, "theirs");
  const placing = putInPlace(written("a", isFolder, "new"), target, { isFolder, force: false });
  await expect(placing).rejects.toThrow(/is there already; .*--force/);
  expect(readFileSync(isFolder ? join(target, FOLDER_INDEX) : target, "utf8")).toBe("theirs");
});

it.each([false, true])("replaces an export where that is asked for (a folder: %s)", async (isFolder) => {
  const target = written("out", isFolder, "old");
  await putInPlace(written("a", isFolder, "new"), target, { isFolder, force: true });
  expect(readFileSync(isFolder ? join(target, FOLDER_INDEX) : target, "utf8")).toBe("new");
  expect(readdirSync(folder)).toEqual(["out"]);
});

it("replaces no folder of somebody else's that came meanwhile", async () => {
  const target = join(folder, "out");
  mkdirSync(target);
  const partial = written("a", true, "new");
  await expect(putInPlace(partial, target, { isFolder: true, force: true })).rejects.toThrow(
    /a folder that no export made/,
  );
});
