/** Backups that somebody else made: their checksums fit, and what they say need not be true. */
import { CHECKPOINT_FORMAT } from "../../../src/storage/checkpoints/checkpoint.ts";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import "../../support/random-cases.ts";
import { ServiceError } from "../../../src/core/errors.ts";
import { ADDED_FILES, MODEL_MANIFEST, MODEL_SECTORS } from "../../../src/models/added/added-models.ts";
import { type BackupFile, readManifest } from "../../../src/storage/copies/backup-manifest.ts";
import { listBackups, verifyBackup } from "../../../src/storage/copies/backups.ts";
import { restoreBackup } from "../../../src/storage/copies/restore-backup.ts";
import { decodeChecksummed, encodeChecksummed } from "../../../src/storage/files/shapes.ts";
import { nodeDisk } from "../../../src/storage/files/disk.ts";
import { type BackupWorld, createBackupWorld } from "../../support/backup-world.ts";

type Json = Record<string, unknown> & { files: BackupFile[] };

let world: BackupWorld;
let folder: string;
let backup: string;
let home: string;
beforeAll(async () => {
  world = await createBackupWorld();
  await world.add("The spare key is with the neighbour.");
  await world.store.opened.checkpointer.flush();
  await world.backUp("whole");
});
afterAll(() => world.close());
beforeEach(() => {
  folder = join(world.folder, "elsewhere");
  home = join(world.folder, "home");
  for (const path of [folder, home]) {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path);
  }
  backup = join(folder, "one");
  cpSync(join(world.folder, "whole"), backup, { recursive: true });
});

const sha256Of = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");

function valueOf(kind: string, path: string): Json {
  return decodeChecksummed(kind, readFileSync(path))?.value(() => true) as Json;
}

/** Changes the MANIFEST and seals it again. */
function forge(change: (manifest: Json) => unknown): void {
  const manifest = valueOf("backup", join(backup, "MANIFEST"));
  const changed = change(manifest);
  writeFileSync(
    join(backup, "MANIFEST"),
    encodeChecksummed("backup", 1, changed === undefined ? manifest : changed),
  );
}

/** Changes the CHECKPOINT and seals it and the MANIFEST again. */
function forgeCheckpoint(change: (checkpoint: Json) => unknown): void {
  const name = readdirSync(backup).find((each) => each.startsWith("CHECKPOINT-")) ?? "";
  const checkpoint = valueOf("checkpoint", join(backup, name));
  const bytes = encodeChecksummed("checkpoint", CHECKPOINT_FORMAT, change(checkpoint) ?? checkpoint);
  writeFileSync(join(backup, name), bytes);
  forge(({ files, ...rest }) => ({
    ...rest,
    files: files.map((file) =>
      file.path === name ? { ...file, size: bytes.length, sha256: sha256Of(bytes) } : file,
    ),
  }));
}

function addFile(path: string, content = "Exec=sh"): void {
  mkdirSync(join(backup, path, ".."), { recursive: true });
  writeFileSync(join(backup, path), content);
  forge(({ files }) => void files.push({ path, size: content.length, sha256: sha256Of(content) }));
}

const restore = () => restoreBackup(nodeDisk, backup, join(home, "restored"));
const verify = () => verifyBackup(nodeDisk, folder, "one", 1);
const outside = () =>
  readdirSync(world.folder, { recursive: true }).filter((path) => !/restored/.test(String(path)));

async function expectRefused(): Promise<void> {
  const before = outside();
  for (const attempt of [restore, verify])
    await expect(attempt()).rejects.toMatchObject({
      code: "DAMAGED",
      message: expect.stringMatching(/^The backup one is damaged: /) as string,
    });
  expect(readdirSync(home)).toEqual([]);
  expect(outside()).toEqual(before);
}

describe("a backup from elsewhere", () => {
  it("is restored and verified as it is where nothing was changed", async () => {
    forge(() => undefined);
    await expect(verify()).resolves.toMatchObject({ memories: 1 });
    await expect(restore()).resolves.toMatchObject({ memories: 1 });
  });

  it.each([
    "../.config/autostart/x.desktop",
    "files/../../.config/x",
    "watched-folders.json",
    "daemon.json",
    "hooks.json",
    "memoryd.log",
    "files/readme.txt",
    "models/x/run.sh",
    "tables/memories-g1.lance/data/../../../x",
    "tables/memories-g1.lance/extra.lance",
    "KEYS.tmp",
  ])("is refused where it lists %s", async (path) => {
    addFile(path);
    await expectRefused();
  });

  it.each(["/tmp/x", "C:\\x", "tables\\..\\x", "", ".", "..", "files/", `files/${"a".repeat(64)}\n`])(
    "is refused where it lists %j, which need not be there",
    async (path) => {
      forge(({ files }) => void files.push({ path, size: 0, sha256: sha256Of("") }));
      await expectRefused();
    },
  );

  it.each<[string, (manifest: Json) => unknown]>([
    ["no files", (manifest) => ({ ...manifest, files: null })],
    ["a path that is a number", (manifest) => ({ ...manifest, files: [{ ...manifest.files[0], path: 5 }] })],
    ["a time that is none", (manifest) => ({ ...manifest, createdAt: 1e300 })],
    ["a store's id that is a path", (manifest) => ({ ...manifest, storeId: "/../../home" })],
    ["an ancestor that is none", (manifest) => ({ ...manifest, ancestors: [5] })],
    ["a list", () => []],
    ["nothing", () => null],
    ["a file twice", (manifest) => ({ ...manifest, files: [...manifest.files, manifest.files[0]] })],
    ["no checkpoint", (manifest) => ({ ...manifest, files: [] })],
  ])("is refused, and listed as damaged, with %s in its MANIFEST", async (_, change) => {
    forge(change);
    await expectRefused();
    await expect(listBackups(nodeDisk, folder)).resolves.toBeDefined();
  });

  it.each<[string, (checkpoint: Json) => unknown]>([
    ["another store", (checkpoint) => ({ ...checkpoint, storeId: "another" })],
    ["no tables", (checkpoint) => ({ ...checkpoint, tables: [] })],
    ["tables that are none", (checkpoint) => ({ ...checkpoint, tables: [{ name: "../x", files: [] }] })],
    [
      "a file of a table outside of it",
      ({ tables, ...rest }) => ({
        ...rest,
        tables: (tables as { files: object[] }[]).map((table) => ({
          ...table,
          files: table.files.map((file) => ({ ...file, path: "../../../home/x" })),
        })),
      }),
    ],
  ])("is refused with %s in its CHECKPOINT", async (_, change) => {
    forgeCheckpoint(change);
    await expectRefused();
  });

  it.skipIf(process.platform === "win32")("is refused with a link, and at once with a pipe", async () => {
    addFile("KEYS");
    rmSync(join(backup, "KEYS"));
    writeFileSync(join(home, "..", "secret"), "Exec=sh");
    symlinkSync(join(home, "..", "secret"), join(backup, "KEYS"));
    await expectRefused();
    rmSync(join(backup, "KEYS"));
    execFileSync("mkfifo", [join(backup, "KEYS")]);
    await expectRefused();
    rmSync(join(backup, "MANIFEST"));
    execFileSync("mkfifo", [join(backup, "MANIFEST")]);
    await expectRefused();
  });

  it("keeps the files of added models, by the names that the program gives them", async () => {
    const names = [...Object.values(ADDED_FILES), MODEL_SECTORS, MODEL_MANIFEST];
    for (const name of names) addFile(`models/bge-small.en/${name}`);
    const { files } = await readManifest(nodeDisk, folder, "one");
    expect(files.filter(({ path }) => path.startsWith("models/"))).toHaveLength(names.length);
  });

  it("is restored into its folder or refused with a sentence, whatever its MANIFEST or CHECKPOINT hold", async () => {
    const strange = fc.oneof(
      fc.constantFrom("../x", "/tmp/x", "..", "", null, 5, -1, 1e300, 0.5, true, [], {}, "KEYS", "MANIFEST"),
      fc.jsonValue(),
    );
    /** Puts a value at a place in a tree that the numbers choose. */
    const put = (tree: unknown, route: readonly number[], value: unknown): unknown => {
      const [turn, ...rest] = route;
      if (turn === undefined || typeof tree !== "object" || tree === null) return value;
      const keys = Object.keys(tree);
      const key = keys[turn % keys.length];
      if (key === undefined) return value;
      const copy = (Array.isArray(tree) ? [...(tree as unknown[])] : { ...tree }) as Record<string, unknown>;
      copy[key] = put(copy[key], rest, value);
      return copy;
    };
    const whole = new Map(
      readdirSync(backup)
        .filter((name) => /^(MANIFEST|CHECKPOINT)/.test(name))
        .map((name) => [name, readFileSync(join(backup, name))]),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.boolean(),
        fc.array(fc.nat(40), { maxLength: 5 }),
        strange,
        async (inManifest, route, value) => {
          for (const [name, bytes] of whole) writeFileSync(join(backup, name), bytes);
          rmSync(join(home, "restored"), { recursive: true, force: true });
          (inManifest ? forge : forgeCheckpoint)((tree) => put(tree, route, value) ?? [null]);
          const before = outside();
          for (const attempt of [restore, verify])
            await attempt().catch((error: unknown) => expect(error).toBeInstanceOf(ServiceError));
          expect(outside()).toEqual(before);
        },
      ),
    );
  });
});
