import type { Dirent } from "node:fs";
import * as fs from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { type Disk, type DiskFile, listFilesBelow, nodeDisk } from "../../src/storage/files/disk.ts";
import { outside, type Range, within } from "./byte-ranges.ts";

/**
 * What a step does instead of its work. Of a write, `short-write` and `ENOSPC` leave the first half behind and
 * `EIO` all of it. So does `crash` with the half, and after it the disk answers nothing more, as after SIGKILL.
 * Any other step is not done at all, and `short-write` is EIO.
 */
export type Fault = "short-write" | "EIO" | "ENOSPC" | "crash";

/**
 * What a power failure leaves of bytes that were written and not synced. `zeroed`: the length, and zeros.
 * `truncated`: the length at the last sync (and of foreign files only those in a synced folder). `kept`: all.
 * `mixed`: each 4 KiB page and each file by lot, folders as they were at some moment since their last sync, and
 * removals that nothing else hangs on by lot.
 */
export type Remains = (typeof EVERY_REMAINS)[number];
export const EVERY_REMAINS = ["zeroed", "truncated", "kept", "mixed"] as const;

export interface FaultyDisk extends Disk {
  /** Changes asked of the disk so far: creations, writes, truncations, syncs, renames, removals, new folders. */
  readonly steps: number;
  /** Their kinds and file names, in order: what a failing test shows. */
  readonly log: readonly string[];
  /**
   * Step number `step` (from 1, counted over the life of the disk) fails, or the next one whose line in the log is like
   * `step`; with `lasting`, so do all after it, or all that are like it.
   */
  failAt(step: number | RegExp, fault: Fault, options?: { readonly lasting?: boolean }): void;
  /** Nothing fails any more. */
  heal(): void;
  /** From now on at most so many bytes below the root; a write beyond is cut short with ENOSPC. */
  limit(bytes: number | undefined): void;
  /** Leaves below the root what a real disk could hold now, and answers nothing more: open a new disk to go on. */
  powerFailure(remains?: Remains, random?: () => number): Promise<void>;
}

export interface FaultyDiskOptions {
  /** Folders, relative to the root, with files that others write: unsynced until they are synced through this disk. */
  readonly foreignFolders?: readonly string[];
}

const PAGE_BYTES = 4096;
let disksMade = 0;

/** Bytes of a file that are not on the disk for certain. */
interface FileState {
  path: string;
  /** Length at the last sync. */
  durableLength: number;
  /** Written since. */
  dirty: Range[];
  /** Written before a sync that failed: the kernel may have dropped it, whatever a later sync says. */
  lost: Range[];
  /** Cut off since: put back where the cut is not certain. */
  cuts: { at: number; bytes: Buffer }[];
}

/** A change of a folder that is not on the disk for certain; the folder's sync makes it so. */
interface EntryChange {
  readonly folder: string;
  /** The files it is about; changes of the same file hang on one another. */
  readonly paths: readonly string[];
  readonly undo: () => Promise<void>;
}

/**
 * A disk over a real folder, which counts what it is asked, fails on request, and remembers what was synced.
 * Everything there when it is made counts as synced. Paths outside of the root are refused.
 */
export async function createFaultyDisk(root: string, options: FaultyDiskOptions = {}): Promise<FaultyDisk> {
  // Beside the root, so that what is removed can come back; made when it is needed.
  const limbo = join(
    dirname(resolve(root)),
    `.limbo-of-${basename(root)}-${process.pid}-${(disksMade += 1)}`,
  );
  const foreignRoots = (options.foreignFolders ?? []).map((folder) => join(root, folder));
  const states = new Map<string, FileState>();
  const pending: EntryChange[] = [];
  const foreignSynced = new Map<string, string>();
  const foreignEntries = new Map<string, ReadonlySet<string>>();
  const log: string[] = [];
  const running = new Set<Promise<unknown>>();
  let planned: { step: number | RegExp; fault: Fault; lasting: boolean } | undefined;
  let limitBytes: number | undefined;
  let off = false;
  let limboCount = 0;

  for (const folder of foreignRoots) {
    for (const path of await listFilesBelow(nodeDisk, folder)) {
      foreignSynced.set(join(folder, path), await fingerprint(join(folder, path)));
    }
    await rememberFolders(folder);
  }

  async function rememberFolders(folder: string): Promise<void> {
    const entries = await nodeDisk.list(folder);
    foreignEntries.set(folder, new Set(entries.map(({ name }) => name)));
    for (const entry of entries) if (entry.isDirectory()) await rememberFolders(join(folder, entry.name));
  }

  /** The same object, whose running calls a power failure waits for: what the kernel was asked is done. */
  function tracked<T extends object>(target: T): T {
    for (const [name, method] of Object.entries(target)) {
      if (typeof method !== "function") continue;
      const call = async (...given: unknown[]): Promise<unknown> => {
        const result = Promise.resolve(method.apply(target, given));
        const settled = result.catch(() => undefined);
        running.add(settled);
        await settled;
        running.delete(settled);
        return result;
      };
      Object.assign(target, { [name]: call });
    }
    return target;
  }

  const isForeign = (path: string) =>
    foreignRoots.some((folder) => path === folder || path.startsWith(`${folder}/`));

  /** Files of foreign folders are read on through open handles, as others do who read them. */
  function ensureOn(): void {
    if (off) throw diskError("EIO", "the machine is off");
  }

  /** Counts a step; the fault that is due, for the step to carry out. */
  function step(name: string, path: string): Fault | undefined {
    ensureOn();
    log.push(`${name} ${basename(path)}`);
    if (planned === undefined) return undefined;
    const { step: at, lasting } = planned;
    const isLike = typeof at === "number" ? log.length === at : at.test(log.at(-1) ?? "");
    if (!isLike && !(lasting && log.length > Number(at))) return undefined;
    const { fault } = planned;
    if (!lasting && typeof at !== "number") planned = undefined;
    if (fault === "crash") off = true;
    return fault;
  }

  /** For steps that a fault prevents as a whole. */
  function stepOrThrow(name: string, path: string): void {
    const fault = step(name, path);
    if (fault !== undefined) throw diskError(fault === "ENOSPC" ? "ENOSPC" : "EIO", `${name} ${path}`);
  }

  async function stateOf(path: string): Promise<FileState> {
    let state = states.get(path);
    if (state === undefined) {
      state = { path, durableLength: (await nodeDisk.size(path)) ?? 0, dirty: [], lost: [], cuts: [] };
      states.set(path, state);
    }
    return state;
  }

  function moveState(from: string, to: string): void {
    const state = states.get(from);
    states.delete(from);
    states.delete(to);
    if (state === undefined) return;
    state.path = to;
    states.set(to, state);
  }

  async function toLimbo(path: string): Promise<string> {
    // Before any waiting: two at once are two files.
    const kept = join(limbo, String((limboCount += 1)));
    await fs.mkdir(limbo, { recursive: true });
    await fs.rename(path, kept);
    moveState(path, kept);
    return kept;
  }

  async function fromLimbo(kept: string, path: string): Promise<void> {
    await fs.rename(kept, path);
    moveState(kept, path);
  }

  async function usedBytes(): Promise<number> {
    let used = 0;
    for (const path of await listFilesBelow(nodeDisk, root))
      used += (await nodeDisk.size(join(root, path))) ?? 0;
    return used;
  }

  function wrap(file: DiskFile, state: FileState): DiskFile {
    async function writePart(bytes: Uint8Array, position: number): Promise<void> {
      if (bytes.length === 0) return;
      const end = position + bytes.length;
      const before = Buffer.alloc(bytes.length);
      const isSame = (await file.read(before, position)) === bytes.length && before.equals(bytes);
      // The same bytes over themselves cannot be lost; but where they never reached the disk they are written now.
      if (!isSame) state.dirty.push({ start: position, end });
      else state.dirty.push(...state.lost.flatMap((range) => within(range, { start: position, end })));
      state.lost = state.lost.flatMap((range) => outside(range, { start: position, end }));
      await file.write(bytes, position);
    }
    const whole = tracked<Omit<DiskFile, "readSync">>({
      async write(bytes, position) {
        const fault = step("write", state.path);
        if (fault !== undefined) {
          await writePart(fault === "EIO" ? bytes : bytes.subarray(0, bytes.length >> 1), position);
          throw diskError(fault === "ENOSPC" ? "ENOSPC" : "EIO", state.path);
        }
        if (limitBytes !== undefined) {
          const size = (await nodeDisk.size(state.path)) ?? 0;
          const room = Math.max(0, limitBytes - (await usedBytes()));
          const wanted = Math.max(0, position + bytes.length - size);
          if (wanted > room) {
            await writePart(bytes.subarray(0, bytes.length - (wanted - room)), position);
            throw diskError("ENOSPC", state.path);
          }
        }
        await writePart(bytes, position);
      },
      async read(into, position) {
        if (!isForeign(state.path)) ensureOn();
        return file.read(into, position);
      },
      async truncate(length) {
        stepOrThrow("truncate", state.path);
        const size = (await nodeDisk.size(state.path)) ?? 0;
        if (length < size) {
          const bytes = Buffer.alloc(size - length);
          await file.read(bytes, length);
          state.cuts.push({ at: length, bytes });
        }
        await file.truncate(length);
      },
      async sync() {
        if (step("sync", state.path) !== undefined) {
          state.lost.push(...state.dirty.splice(0));
          throw diskError("EIO", `sync ${state.path}`);
        }
        await file.sync();
        state.durableLength = (await nodeDisk.size(state.path)) ?? 0;
        state.dirty = [];
        state.cuts = [];
        if (isForeign(state.path)) foreignSynced.set(state.path, await fingerprint(state.path));
      },
      async isAt(path) {
        ensureOn();
        return file.isAt(path);
      },
      // A file can be closed on a machine that is off: the test's own cleaning up.
      close: () => file.close(),
    });
    return {
      ...whole,
      readSync(into, position) {
        if (!isForeign(state.path)) ensureOn();
        return file.readSync(into, position);
      },
    };
  }

  async function powerFailure(
    remains: Remains = "zeroed",
    random: () => number = Math.random,
  ): Promise<void> {
    off = true;
    await Promise.all(running);
    if (remains !== "kept") {
      const kept = remains === "mixed" ? Math.floor(random() * (pending.length + 1)) : 0;
      const touches = (change: EntryChange, paths: readonly string[]) =>
        paths.some((path) => change.paths.includes(path));
      const alone = (change: EntryChange) =>
        pending.filter((other) => touches(change, other.paths)).length === 1;
      const undone = pending.filter((change, i) =>
        remains === "mixed" && alone(change) ? random() < 0.5 : i >= kept,
      );
      for (const change of undone.toReversed()) await change.undo();
      for (const state of states.values()) await spoil(state, remains, random);
      for (const folder of foreignRoots) await spoilForeign(folder, remains, random);
    }
    await fs.rm(limbo, { recursive: true, force: true });
  }

  async function spoil(state: FileState, remains: Remains, random: () => number): Promise<void> {
    if (!state.path.startsWith(root) || (await nodeDisk.size(state.path)) === undefined) return;
    const handle = await fs.open(state.path, "r+");
    try {
      const uncut = remains !== "mixed" || random() < 0.5;
      if (uncut) {
        for (const { at, bytes } of state.cuts.toReversed()) await handle.write(bytes, 0, bytes.length, at);
      }
      const { size } = await handle.stat();
      for (const { start, end } of [...state.dirty, ...state.lost]) {
        for (let at = start; at < Math.min(end, size);) {
          const pageEnd = Math.min(end, size, (Math.floor(at / PAGE_BYTES) + 1) * PAGE_BYTES);
          if (remains !== "mixed" || random() < 0.5)
            await handle.write(Buffer.alloc(pageEnd - at), 0, pageEnd - at, at);
          at = pageEnd;
        }
      }
      const shorten = remains === "truncated" || (remains === "mixed" && random() < 0.3);
      if (shorten && size > state.durableLength) await handle.truncate(state.durableLength);
    } finally {
      await handle.close();
    }
  }

  async function spoilForeign(folder: string, remains: Remains, random: () => number): Promise<void> {
    for (const relative of await listFilesBelow(nodeDisk, folder)) {
      const path = join(folder, relative);
      if (remains === "mixed" && random() < 0.5) continue;
      if (remains === "truncated" && !isEntered(path, folder)) {
        await fs.rm(path);
        continue;
      }
      if (foreignSynced.get(path) === (await fingerprint(path))) continue;
      if (remains === "truncated") await fs.truncate(path);
      else await fs.writeFile(path, Buffer.alloc((await nodeDisk.size(path)) ?? 0));
    }
  }

  /** Whether the file and all folders above it, below the foreign one, stand in a folder that was synced since. */
  function isEntered(path: string, folder: string): boolean {
    for (let at = path; at !== folder; at = dirname(at)) {
      if (foreignEntries.get(dirname(at))?.has(basename(at)) !== true) return false;
    }
    return true;
  }

  const disk = tracked<Disk>({
    async open(path, mode) {
      if (!path.startsWith(root)) throw new RangeError(`${path} is outside of the disk`);
      ensureOn();
      if (mode !== "create") return wrap(await nodeDisk.open(path, mode), await stateOf(path));
      stepOrThrow("create", path);
      const file = await nodeDisk.open(path, "create");
      states.delete(path);
      const state = await stateOf(path);
      pending.push({
        folder: dirname(path),
        paths: [path],
        undo: async () => {
          // Wherever renames have taken it since, they are undone by now.
          await fs.rm(path, { force: true });
          states.delete(path);
        },
      });
      return wrap(file, state);
    },
    async readFile(path) {
      ensureOn();
      return nodeDisk.readFile(path);
    },
    async list(path): Promise<Dirent[]> {
      ensureOn();
      return nodeDisk.list(path);
    },
    async size(path) {
      ensureOn();
      return nodeDisk.size(path);
    },
    async rename(from, to) {
      stepOrThrow("rename", to);
      const replaced = (await nodeDisk.size(to)) === undefined ? undefined : await toLimbo(to);
      await nodeDisk.rename(from, to);
      moveState(from, to);
      const undo = async () => {
        await nodeDisk.rename(to, from);
        moveState(to, from);
        if (replaced !== undefined) await fromLimbo(replaced, to);
      };
      pending.push({ folder: dirname(to), paths: [from, to], undo });
    },
    async link(from, to) {
      stepOrThrow("link", to);
      await nodeDisk.link(from, to);
      pending.push({ folder: dirname(to), paths: [to], undo: () => fs.rm(to, { force: true }) });
    },
    async device(path) {
      ensureOn();
      return nodeDisk.device(path);
    },
    async remove(path) {
      stepOrThrow("remove", path);
      if ((await nodeDisk.size(path)) === undefined) return;
      const kept = await toLimbo(path);
      pending.push({ folder: dirname(path), paths: [path], undo: () => fromLimbo(kept, path) });
    },
    async removeDirectory(path) {
      stepOrThrow("rmdir", path);
      await nodeDisk.removeDirectory(path);
    },
    async makeDirectory(path) {
      stepOrThrow("mkdir", path);
      await nodeDisk.makeDirectory(path);
    },
    async syncDirectory(path) {
      stepOrThrow("sync-folder", path);
      await nodeDisk.syncDirectory(path);
      for (let i = pending.length - 1; i >= 0; i -= 1) if (pending[i]?.folder === path) pending.splice(i, 1);
      if (isForeign(path))
        foreignEntries.set(path, new Set((await nodeDisk.list(path)).map(({ name }) => name)));
    },
    async freeBytes(path) {
      ensureOn();
      return limitBytes === undefined
        ? nodeDisk.freeBytes(path)
        : Math.max(0, limitBytes - (await usedBytes()));
    },
  });

  return {
    ...disk,
    get steps() {
      return log.length;
    },
    log,
    failAt(at, fault, { lasting = false } = {}) {
      planned = { step: at, fault, lasting };
    },
    heal() {
      planned = undefined;
    },
    limit(bytes) {
      limitBytes = bytes;
    },
    powerFailure,
  };
}

/** Tells one state of a file that others write from the next. */
async function fingerprint(path: string): Promise<string> {
  const { ino, size, mtimeMs } = await fs.stat(path);
  return `${ino} ${size} ${mtimeMs}`;
}

function diskError(code: string, what: string): Error {
  return Object.assign(new Error(`${code}: ${what}`), { code });
}
