import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { link as linkFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Disk, type DiskFile, nodeDisk } from "../../src/storage/disk.ts";
import { hasArrived, whereDataIs } from "../../src/storage/moved.ts";
import { finishRelocation, relocate, type RelocateOptions } from "../../src/storage/relocate.ts";

/** What every move leaves beside the data. */
const OWN = { CAME_FROM: expect.any(String) as string };

const FILES: Readonly<Record<string, string>> = {
  "CHECKPOINT-0000000001": "checkpoint",
  "journal/0000000001.journal": "records ".repeat(1_000),
  "tables/memories.lance/data/a.lance": "rows",
  "tables/memories.lance/data/empty.lance": "",
  "memoryd.log": "lines",
  "notes of mine": "kept",
};

// Some hundred moves.
vi.setConfig({ testTimeout: 120_000 });

let root: string;
let from: string;
let to: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "memoryd-relocate-"));
  from = join(root, "old");
  to = join(root, "new");
  put(from, FILES);
  mkdirSync(join(from, "files"));
  put(from, { lock: "of a process", "daemon.json": "of a run" });
  mkdirSync(to);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

function filesOf(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    files.map((path) => [path.slice(folder.length + 1).replaceAll("\\", "/"), readFileSync(path, "utf8")]),
  );
}

const noLink: typeof linkFile = () =>
  Promise.reject(Object.assign(new Error("another disk"), { code: "EXDEV" }));

const move = (options: Partial<RelocateOptions> = {}) =>
  relocate(from, to, {
    disk: nodeDisk,
    onProgress: () => undefined,
    signal: new AbortController().signal,
    ...options,
  });

describe("relocate", () => {
  it.each([
    ["gives files another name on one file system", undefined, 0],
    ["copies them between two", noLink, Object.values(FILES).join("").length],
  ])("%s, and leaves a mark only", async (_, link, copiedBytes) => {
    const inode = statSync(join(from, "memoryd.log")).ino;
    const seen: number[] = [];
    const report = await move({ ...(link && { link }), onProgress: ({ bytes }) => seen.push(bytes) });
    const bytes = Object.values(FILES).join("").length;
    expect(report).toEqual({ files: 6, bytes, copiedBytes, left: [], untold: [] });
    expect(filesOf(to)).toEqual({ ...FILES, ...OWN });
    expect(existsSync(join(to, "files"))).toBe(true);
    expect(statSync(join(to, "memoryd.log")).ino === inode).toBe(link === undefined);
    expect(Object.keys(filesOf(from)).sort()).toEqual(["MOVED", "lock"]);
    expect(whereDataIs(from)).toBe(to);
    expect(seen.at(-1)).toBe(bytes);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  });

  it("goes back to where it once came from", async () => {
    await move();
    [from, to] = [to, from];
    await move();
    expect(whereDataIs(from)).toBe(to);
    expect(whereDataIs(to)).toBe(to);
    expect(filesOf(to)).toEqual({ ...FILES, ...OWN, lock: "of a process" });
  });

  it("changes nothing when it is interrupted, or the copy is not what was written", async () => {
    const interrupt = new AbortController();
    const onProgress = () => interrupt.abort(new Error("enough"));
    await expect(move({ link: noLink, onProgress, signal: interrupt.signal })).rejects.toThrow("enough");
    expect(filesOf(to)).toEqual({});

    const lying: Disk = {
      ...nodeDisk,
      async open(path, mode) {
        const file = await nodeDisk.open(path, mode);
        if (mode !== "create" || !path.endsWith("a.lance")) return file;
        return {
          ...file,
          write: (bytes, position) =>
            file.write(
              bytes.map((byte) => byte ^ 1),
              position,
            ),
        };
      },
    };
    await expect(move({ link: noLink, disk: lying })).rejects.toThrow(
      "cannot be relied on. Nothing was changed.",
    );
    expect(filesOf(to)).toEqual({});
    expect(whereDataIs(from)).toBe(from);
    expect(filesOf(from)).toMatchObject(FILES);
  });

  it.each(["ENOSPC", "EIO", "EACCES"])("changes nothing at %s", async (code) => {
    const full: Disk = {
      ...nodeDisk,
      async open(path, mode) {
        const file = await nodeDisk.open(path, mode);
        const write = () => Promise.reject(Object.assign(new Error("no"), { code }));
        return path.endsWith(".journal") && mode === "create" ? { ...file, write } : file;
      },
    };
    await expect(move({ link: noLink, disk: full })).rejects.toMatchObject({ code });
    expect(filesOf(to)).toEqual({});
    expect(filesOf(from)).toMatchObject(FILES);
  });

  it("leaves what is not the same in the new place, and says so", async () => {
    await move({ disk: dyingAfterTheMark() }).catch(() => undefined);
    expect(hasArrived(to)).toBe(true);
    put(from, { "late.txt": "written by somebody else" });
    expect((await finishRelocation(nodeDisk, to)).left).toEqual([join(from, "late.txt")]);
    expect(Object.keys(filesOf(from)).sort()).toEqual(["MOVED", "late.txt"]);
  });
});

describe("earlier places", () => {
  const at = (name: string) => join(root, name);
  async function moveOn(name: string, options: Partial<RelocateOptions> = {}) {
    [from, to] = [to, at(name)];
    mkdirSync(to, { recursive: true });
    return await move(options);
  }

  it("are led to the last one, which they reach without those between", async () => {
    await move();
    await moveOn("third");
    await moveOn("fourth", { link: noLink });
    for (const name of ["new", "third"]) rmSync(at(name), { recursive: true });
    expect(whereDataIs(at("old"))).toBe(at("fourth"));
    expect(filesOf(to)).toEqual({ ...FILES, ...OWN });
  });

  it("are led back home, too", async () => {
    await move();
    await moveOn("third");
    await moveOn("old");
    for (const name of ["new", "third", "old"]) expect(whereDataIs(at(name))).toBe(at("old"));
    rmSync(at("third"), { recursive: true });
    expect(whereDataIs(at("new"))).toBe(at("old"));
  });

  it("are named where they are not there, and left alone where they hold something else by now", async () => {
    await move();
    await moveOn("third");
    rmSync(at("old"), { recursive: true });
    put(at("new"), { MOVED: JSON.stringify({ id: "of another store", to: at("elsewhere") }) });
    expect((await moveOn("fourth")).untold).toEqual([join(at("old"), "MOVED")]);
    expect(existsSync(at("old"))).toBe(false);
    expect(readFileSync(join(at("new"), "MOVED"), "utf8")).toContain("elsewhere");
  });

  it("are led there by whoever finishes a move that was killed", async () => {
    await move();
    [from, to] = [to, at("third")];
    mkdirSync(to);
    await move({ disk: dyingAfterTheMark() }).catch(() => undefined);
    await finishRelocation(nodeDisk, to);
    rmSync(from, { recursive: true });
    expect(whereDataIs(at("old"))).toBe(to);
  });
});

/** Nothing can be removed once the data has arrived. */
function dyingAfterTheMark(): Disk {
  const remove = (path: string) =>
    hasArrived(to) ? Promise.reject(new Error("killed")) : nodeDisk.remove(path);
  return { ...nodeDisk, remove };
}

/** Without syncs, which take their time and show in no test. */
const quickDisk: Disk = {
  ...nodeDisk,
  syncDirectory: () => Promise.resolve(),
  async open(path, mode) {
    return { ...(await nodeDisk.open(path, mode)), sync: () => Promise.resolve() };
  },
};

/** Does so many things to the disk and then nothing any more, as a process that is killed. */
function mortalDisk(steps: number): { disk: Disk; link: typeof linkFile; isDead: () => boolean } {
  let left = steps;
  const step = <A extends unknown[], R>(work: (...words: A) => Promise<R>) =>
    async function mortal(...words: A): Promise<R> {
      left -= 1;
      if (left < 0) throw new Error("killed");
      return await work(...words);
    };
  const disk: Disk = {
    ...quickDisk,
    rename: step((one: string, other: string) => quickDisk.rename(one, other)),
    remove: step((path: string) => quickDisk.remove(path)),
    removeDirectory: step((path: string) => quickDisk.removeDirectory(path)),
    makeDirectory: step((path: string) => quickDisk.makeDirectory(path)),
    syncDirectory: step((path: string) => quickDisk.syncDirectory(path)),
    open: step(async (path: string, mode: "read" | "write" | "create") => {
      const file = await quickDisk.open(path, mode);
      const mortalFile: DiskFile = {
        ...file,
        write: step((bytes: Uint8Array, position: number) => file.write(bytes, position)),
        sync: step(() => file.sync()),
      };
      return mortalFile;
    }),
  };
  return { disk, link: step(linkFile), isDead: () => left < 0 };
}

describe.each(["same", "other"])("killed at any step, on the %s file system", (system) => {
  it("has everything in the old place or in the new one, and goes on with it", async () => {
    const changed = { ...FILES, "memoryd.log": "lines and more", "tables/new.lance": "new" };
    let arrived = 0;
    for (let steps = 0; ; steps += 1) {
      rmSync(root, { recursive: true });
      put(from, FILES);
      mkdirSync(to);
      const { disk, link, isDead } = mortalDisk(steps);
      await move({ disk, link: system === "same" ? link : noLink }).catch(() => undefined);
      const place = whereDataIs(from);
      expect(filesOf(place)).toMatchObject(FILES);

      if (place === to) {
        arrived += 1;
        await finishRelocation(quickDisk, to);
        expect(filesOf(to)).toEqual({ ...FILES, ...OWN });
      } else {
        // The daemon that ran there meanwhile has written and removed.
        put(from, changed);
        rmSync(join(from, "tables/memories.lance"), { recursive: true });
        await move({ disk: quickDisk, ...(system === "other" && { link: noLink }) });
        const gone = (path: string) => path.startsWith("tables/memories.lance");
        const wanted = Object.fromEntries(Object.entries(changed).filter(([path]) => !gone(path)));
        expect(filesOf(to)).toEqual({ ...wanted, ...OWN });
      }
      expect(Object.keys(filesOf(from))).toEqual(["MOVED"]);
      expect(whereDataIs(from)).toBe(to);
      if (!isDead()) break;
    }
    expect(arrived).toBeGreaterThan(5);
  });
});
