import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ApiKey } from "../../../src/core/access/key-ring.ts";
import { nodeDisk } from "../../../src/storage/files/disk.ts";
import { KEY_FILE_NAME, openKeyFile, readKeyFile } from "../../../src/storage/files/key-file.ts";
import { createFaultyDisk } from "../../support/faulty-disk.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "memoryd-keys-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function keyNamed(name: string): ApiKey {
  return {
    id: `id of ${name}`,
    name,
    prefix: "mk_00000001",
    sha256: "ab".repeat(32),
    scope: "read",
    userId: null,
    createdAt: 1,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
  };
}

describe("a key file", () => {
  it("gives back what it was given, and nothing where there never was anything", async () => {
    expect(await readKeyFile(nodeDisk, root)).toBeUndefined();
    await openKeyFile(nodeDisk, root).write([keyNamed("ä \n 😀")]);
    expect(await readKeyFile(nodeDisk, root)).toEqual([keyNamed("ä \n 😀")]);
    await openKeyFile(nodeDisk, root).write([]);
    expect(await readKeyFile(nodeDisk, root)).toEqual([]);
    await openKeyFile(nodeDisk, root).remove();
    expect(await readKeyFile(nodeDisk, root)).toBeUndefined();
  });

  it.skipIf(process.platform === "win32")("can be read by its owner only", async () => {
    await openKeyFile(nodeDisk, root).write([]);
    expect(statSync(join(root, KEY_FILE_NAME)).mode & 0o777).toBe(0o600);
  });

  it("is refused with what to do wherever a byte of it is wrong, and when it is cut", async () => {
    await openKeyFile(nodeDisk, root).write([keyNamed("laptop")]);
    const path = join(root, KEY_FILE_NAME);
    const whole = readFileSync(path);
    const damaged = [
      ...Array.from(whole, (byte, at) => Buffer.from(whole).fill(byte ^ 1, at, at + 1)),
      ...Array.from(whole, (_, length) => whole.subarray(0, length)),
    ];
    for (const bytes of damaged) {
      writeFileSync(path, bytes);
      await expect(readKeyFile(nodeDisk, root)).rejects.toMatchObject({ code: "STORE_UNUSABLE" });
    }
    await expect(readKeyFile(nodeDisk, root)).rejects.toThrow(/damaged.*memoryd auth off/);
  });

  it("of a newer format is refused", async () => {
    await openKeyFile(nodeDisk, root).write([]);
    const path = join(root, KEY_FILE_NAME);
    writeFileSync(path, readFileSync(path, "utf8").replace("memoryd keys 1 ", "memoryd keys 2 "));
    await expect(readKeyFile(nodeDisk, root)).rejects.toThrow(/newer version/);
  });

  it("says when the disk is full", async () => {
    const full = Object.assign(new Error("no space"), { code: "ENOSPC" });
    const file = openKeyFile({ ...nodeDisk, open: () => Promise.reject(full) }, root);
    await expect(file.write([keyNamed("new")])).rejects.toMatchObject({ code: "STORE_FULL" });
  });

  it("has the old keys or the new ones after a power failure at any step", async () => {
    for (let step = 1; step <= 6; step += 1) {
      const directory = join(root, String(step));
      const disk = await createFaultyDisk(directory);
      await disk.makeDirectory(directory);
      const file = openKeyFile(disk, directory);
      await file.write([keyNamed("old")]);
      disk.failAt(disk.steps + step, "crash");
      const written = await file.write([keyNamed("new")]).then(
        () => true,
        () => false,
      );
      await disk.powerFailure("zeroed").catch(() => undefined);
      const kept = await readKeyFile(nodeDisk, directory);
      expect(kept).toHaveLength(1);
      expect(written ? ["new"] : ["old", "new"]).toContain(kept?.[0]?.name);
    }
    expect(existsSync(join(root, "6"))).toBe(true);
  });
});
