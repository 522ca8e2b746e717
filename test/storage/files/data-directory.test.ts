import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { refuseForeignDirectory } from "../../../src/storage/files/data-directory.ts";
import { nodeDisk } from "../../../src/storage/files/disk.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "memoryd-directory-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe("refuseForeignDirectory", () => {
  it("lets an empty folder pass, and one with a store", async () => {
    await refuseForeignDirectory(nodeDisk, directory);
    mkdirSync(join(directory, "journal"));
    writeFileSync(join(directory, "notes.txt"), "mine");
    await refuseForeignDirectory(nodeDisk, directory);
  });

  it("lets a folder pass in which a start has only begun, and an agent has ended a session", async () => {
    for (const name of ["memoryd.log", "lock.starting", "hooks.json", "ended"])
      writeFileSync(join(directory, name), "");
    await refuseForeignDirectory(nodeDisk, directory);
  });

  it.each([[], ["memoryd.log", "lock.starting"]])("refuses a folder of other things", async (...started) => {
    for (const name of ["notes.txt", ...started]) writeFileSync(join(directory, name), "mine");
    await expect(refuseForeignDirectory(nodeDisk, directory)).rejects.toMatchObject({
      code: "STORE_UNUSABLE",
    });
  });
});
