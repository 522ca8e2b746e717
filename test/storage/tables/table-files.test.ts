import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { crc32 } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Change } from "../../../src/core/rows.ts";
import { digest, nodeDisk } from "../../../src/storage/files/disk.ts";
import { COMPACTION_THRESHOLDS } from "../../../src/storage/tables/table-spec.ts";
import {
  filesOfVersion,
  manifestName,
  moveOthers,
  syncFiles,
} from "../../../src/storage/tables/table-files.ts";
import type { TableState } from "../../../src/storage/tables/table-spec.ts";
import { openTables, type Tables } from "../../../src/storage/tables/tables.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "memoryd-files-"));
});
afterEach(() => rm(directory, { recursive: true }));

const signals = (id: number, salience: number): Change => ({
  table: "signals",
  id: `${id}`,
  row: { salience, lastSeenAt: 1 },
});

async function allOf(tables: Tables): Promise<Map<string, number>> {
  const rows = new Map<string, number>();
  for await (const batch of tables.scan("signals"))
    for (const { id, row } of batch) rows.set(id, row.salience);
  return rows;
}

describe("filesOfVersion", () => {
  it("names all that a version needs: a copy of these files alone opens and answers", async () => {
    const tables = await openTables(directory, []);
    const moments: { state: TableState; rows: Map<string, number> }[] = [];
    const note = async () => {
      const [state] = await tables.states();
      if (state !== undefined) moments.push({ state, rows: await allOf(tables) });
    };
    // An index, deletion files as lists and as bitmaps, several fragments, and compaction over all of it.
    await tables.apply(Array.from({ length: 2_000 }, (_, i) => signals(i, 0.5)));
    await note();
    await tables.apply([signals(3, 0.9), { table: "signals", id: "4", row: null }]);
    await tables.apply(Array.from({ length: 900 }, (_, i) => signals(2 * i, 0.7)));
    await note();
    expect(await tables.compact({ ...COMPACTION_THRESHOLDS, fragments: 2 })).toBe(true);
    await note();
    await tables.apply([signals(5, 0.1)]);
    await note();

    for (const { state, rows } of moments) {
      const copy = join(directory, "copy", String(state.version));
      const files = await filesOfVersion(nodeDisk, directory, state);
      for (const file of files) {
        await mkdir(dirname(join(copy, file)), { recursive: true });
        await copyFile(join(directory, file), join(copy, file));
      }
      const copied = await openTables(copy, [state]);
      expect(await allOf(copied)).toEqual(rows);
      expect((await copied.read("signals", ["3", "4", "5", "1800"])).size).toBe(rows.has("4") ? 4 : 3);
      await copied.close();
    }
    // And not much else: what compaction has replaced is no longer named once another version follows.
    const [before, , last] = moments.slice(1).map(({ state }) => state);
    if (before === undefined || last === undefined) throw new Error("no moments");
    const data = (paths: string[]) => paths.filter((path) => path.includes("/data/"));
    const now = data(await filesOfVersion(nodeDisk, directory, last));
    expect(data(await filesOfVersion(nodeDisk, directory, before)).some((path) => now.includes(path))).toBe(
      false,
    );
    await tables.close();
  });

  it("fails without the manifest", async () => {
    const state = { name: "signals-g1", version: 1, rows: 0 };
    await expect(filesOfVersion(nodeDisk, directory, state)).rejects.toMatchObject({ code: "ENOENT" });
  });
});

describe("manifestName", () => {
  it("counts down from the largest number of 64 bits", () => {
    expect(manifestName(1)).toBe("18446744073709551614.manifest");
  });
});

describe("digest and syncFiles", () => {
  it("take a file of several pieces, and one that ends with a piece", async () => {
    for (const length of [0, 5, 1024 * 1024, 2 * 1024 * 1024 + 3]) {
      const bytes = Buffer.alloc(length, "abc");
      await writeFile(join(directory, "file"), bytes);
      const whole = { size: length, crc32: crc32(bytes) };
      expect(await digest(nodeDisk, join(directory, "file"))).toMatchObject(whole);
      expect(await syncFiles(nodeDisk, directory, ["file"], new Map())).toEqual([{ path: "file", ...whole }]);
    }
  });

  it("do not read again what is known", async () => {
    const known = { path: "gone", size: 3, crc32: 4 };
    expect(await syncFiles(nodeDisk, directory, ["gone"], new Map([["gone", known]]))).toEqual([known]);
  });
});

describe("moveOthers", () => {
  it("moves what is not kept, LanceDB's note of its newest version too, and back", async () => {
    const from = join(directory, "tables");
    const versions = join(from, "a.lance", "_versions");
    await mkdir(versions, { recursive: true });
    for (const name of ["1.manifest", "2.manifest", "latest_version_hint.json"])
      await writeFile(join(versions, name), name);
    const aside = join(directory, "aside");
    await moveOthers(nodeDisk, from, aside, new Set(["a.lance/_versions/1.manifest"]));
    expect(await readdir(versions)).toEqual(["1.manifest"]);
    const others = ["2.manifest", "latest_version_hint.json"];
    expect((await readdir(join(aside, "a.lance", "_versions"))).sort()).toEqual(others);
    await moveOthers(nodeDisk, aside, from);
    expect((await readdir(versions)).sort()).toEqual(["1.manifest", ...others]);
  });
});
