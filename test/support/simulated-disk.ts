import type { Dirent } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { setImmediate as turnOfOthers } from "node:timers/promises";
import type { Disk, DiskFile } from "../../src/storage/files/disk.ts";
import { outside, type Range } from "./byte-ranges.ts";
import type { Fault } from "./faulty-disk.ts";

/** A file: what a reader sees, and what a power failure leaves for certain. */
class Inode {
  live: Buffer = Buffer.alloc(0);
  durable: Buffer = Buffer.alloc(0);
  /** Written since the last sync. */
  dirty: Range[] = [];
  /** Written before a sync that failed: whatever a later one says. */
  lost: Range[] = [];
}
class Folder {
  readonly entries = new Map<string, Inode | Folder>();
}

/** A change of folders that is not durable: it is undone with all that came after it. */
interface EntryChange {
  /** Those that are not synced since. */
  readonly folders: Set<Folder>;
  readonly undo: () => void;
}

const PAGE_BYTES = 512;

/**
 * A disk in memory, which one seed drives: how long each call takes against others, what fails, and what a power failure
 * leaves. It is the same for the same seed, whatever the machine does. `/other` is a second disk: no links lead there.
 */
export class SimulatedDisk {
  readonly #random: () => number;
  readonly #root = new Folder();
  #changes: EntryChange[] = [];

  constructor(random: () => number) {
    this.#random = random;
  }

  /** A view for one life of a program. `fail` makes its step number `at` fail, counted from 1. */
  view(fail?: { readonly at: number; readonly fault: Fault }): Disk & { steps: number; off: boolean } {
    const turn = async (): Promise<void> => {
      if (view.off) throw diskError("EIO", "the process has ended");
      for (let turns = Math.floor(this.#random() * 3); turns > 0; turns -= 1) await turnOfOthers();
      if (view.off) throw diskError("EIO", "the process has ended");
    };
    /** Counts a change; the fault that is due. */
    const step = async (): Promise<Fault | undefined> => {
      await turn();
      view.steps += 1;
      if (view.steps !== fail?.at) return undefined;
      if (fail.fault === "crash") view.off = true;
      return fail.fault;
    };
    const change = async (what: string): Promise<void> => {
      const fault = await step();
      if (fault !== undefined) throw diskError(fault === "ENOSPC" ? "ENOSPC" : "EIO", what);
    };
    const open = (path: string, inode: Inode): DiskFile => ({
      write: async (bytes, position) => {
        const fault = await step();
        // Half of it is there after all but an error that is told too late.
        const part = fault === undefined || fault === "EIO" ? bytes : bytes.subarray(0, bytes.length >> 1);
        put(inode, part, position);
        if (fault !== undefined) throw diskError(fault === "ENOSPC" ? "ENOSPC" : "EIO", path);
      },
      read: async (into, position) => {
        await turn();
        return inode.live.copy(into, 0, position, position + into.length);
      },
      readSync: (into, position) => inode.live.copy(into, 0, position, position + into.length),
      truncate: async (length) => {
        await change(`truncate ${path}`);
        inode.dirty.push({ start: length, end: Math.max(inode.live.length, length) });
        inode.live = Buffer.from(inode.live.subarray(0, length));
      },
      sync: async () => {
        if ((await step()) !== undefined) {
          inode.lost.push(...inode.dirty.splice(0));
          throw diskError("EIO", `sync ${path}`);
        }
        sync(inode);
      },
      isAt: async (at) => {
        await turn();
        return this.#find(at) === inode;
      },
      close: async () => {},
    });
    const view: Disk & { steps: number; off: boolean } = {
      steps: 0,
      off: false,
      open: async (path, mode) => {
        if (mode !== "create") {
          await turn();
          return open(path, this.#file(path));
        }
        await change(`create ${path}`);
        if (this.#find(path) !== undefined) throw diskError("EEXIST", path);
        const inode = new Inode();
        this.#set(path, inode);
        return open(path, inode);
      },
      readFile: async (path) => {
        await turn();
        return Buffer.from(this.#file(path).live);
      },
      list: async (path) => {
        await turn();
        const folder = this.#find(path);
        if (!(folder instanceof Folder)) return [];
        return [...folder.entries].map(
          ([name, node]) =>
            ({
              name,
              isFile: () => node instanceof Inode,
              isDirectory: () => node instanceof Folder,
            }) as Dirent,
        );
      },
      size: async (path) => {
        await turn();
        const node = this.#find(path);
        return node instanceof Inode ? node.live.length : node && 4_096;
      },
      rename: async (from, to) => {
        await change(`rename ${from}`);
        const node = this.#find(from);
        if (node === undefined) throw diskError("ENOENT", from);
        const [source, target] = [this.#folder(dirname(from)), this.#folder(dirname(to))];
        const replaced = target.entries.get(basename(to));
        source.entries.delete(basename(from));
        target.entries.set(basename(to), node);
        const folders = new Set([source, target]);
        // A folder that was synced since has what it had then, whatever the other one lost.
        this.#changes.push({
          folders,
          undo: () => {
            if (folders.has(target)) restore(target, basename(to), replaced);
            if (folders.has(source)) source.entries.set(basename(from), node);
          },
        });
      },
      link: async (from, to) => {
        await change(`link ${to}`);
        if (deviceOf(from) !== deviceOf(to)) throw diskError("EXDEV", to);
        if (this.#find(to) !== undefined) throw diskError("EEXIST", to);
        this.#set(to, this.#file(from));
      },
      remove: async (path) => {
        await change(`remove ${path}`);
        if (this.#find(path) instanceof Inode) this.#set(path, undefined);
      },
      removeDirectory: async (path) => {
        await change(`rmdir ${path}`);
        const folder = this.#find(path);
        if (!(folder instanceof Folder)) return;
        if (folder.entries.size > 0) throw diskError("ENOTEMPTY", path);
        this.#set(path, undefined);
      },
      makeDirectory: async (path) => {
        await turn();
        const there = this.#find(path);
        if (there instanceof Folder) {
          if (there.entries.size === 0) await view.syncDirectory(dirname(resolve(path)));
          return;
        }
        await view.makeDirectory(dirname(resolve(path)));
        await change(`mkdir ${path}`);
        if (this.#find(path) === undefined) this.#set(path, new Folder());
        await view.syncDirectory(dirname(resolve(path)));
      },
      syncDirectory: async (path) => {
        await change(`sync ${path}`);
        const folder = this.#folder(path);
        for (const { folders } of this.#changes) folders.delete(folder);
        this.#changes = this.#changes.filter(({ folders }) => folders.size > 0);
      },
      device: async (path) => deviceOf(path),
      freeBytes: async () => 1e12,
    };
    return view;
  }

  /** The disk loses what a file holds: zeros are read. */
  damage(path: string): void {
    const file = this.#file(path);
    file.live = Buffer.alloc(file.live.length);
    file.durable = Buffer.alloc(file.durable.length);
  }

  /** The machine loses its power: folders are as at some moment since their syncs, and of unsynced bytes any may be there. */
  powerFailure(): void {
    const kept = Math.floor(this.#random() * (this.#changes.length + 1));
    for (const { undo } of this.#changes.slice(kept).reverse()) undo();
    this.#changes = [];
    const visit = (folder: Folder): void => {
      for (const node of folder.entries.values())
        if (node instanceof Folder) visit(node);
        else this.#fail(node);
    };
    visit(this.#root);
  }

  #fail(inode: Inode): void {
    const { live, durable } = inode;
    if (inode.dirty.length + inode.lost.length > 0) {
      const lengths = [live.length, durable.length];
      const length = lengths[Math.floor(this.#random() * 2)] ?? 0;
      const left = Buffer.alloc(length);
      durable.copy(left);
      for (const { start, end } of [...inode.dirty, ...inode.lost])
        // Bytes behind the end of a file that was shortened are the ones from before, or none.
        for (let page = start; page < Math.min(end, live.length); page += PAGE_BYTES)
          if (this.#random() < 0.5) live.copy(left, page, page, Math.min(end, page + PAGE_BYTES, length));
      inode.live = left;
    }
    inode.durable = Buffer.from(inode.live);
    inode.dirty = [];
    inode.lost = [];
  }

  #find(path: string): Inode | Folder | undefined {
    let node: Inode | Folder | undefined = this.#root;
    for (const part of resolve(path).split("/").filter(Boolean))
      node = node instanceof Folder ? node.entries.get(part) : undefined;
    return node;
  }

  #file(path: string): Inode {
    const node = this.#find(path);
    if (node instanceof Inode) return node;
    throw diskError(node === undefined ? "ENOENT" : "EISDIR", path);
  }

  #folder(path: string): Folder {
    const node = this.#find(path);
    if (node instanceof Folder) return node;
    throw diskError("ENOENT", path);
  }

  #set(path: string, node: Inode | Folder | undefined): void {
    const folder = this.#folder(dirname(resolve(path)));
    const name = basename(path);
    const before = folder.entries.get(name);
    restore(folder, name, node);
    this.#changes.push({ folders: new Set([folder]), undo: () => restore(folder, name, before) });
  }
}

function restore(folder: Folder, name: string, node: Inode | Folder | undefined): void {
  if (node === undefined) folder.entries.delete(name);
  else folder.entries.set(name, node);
}

function put(inode: Inode, bytes: Uint8Array, position: number): void {
  const end = position + bytes.length;
  if (end > inode.live.length)
    inode.live = Buffer.concat([inode.live, Buffer.alloc(end - inode.live.length)]);
  inode.live.set(bytes, position);
  inode.dirty.push({ start: position, end });
  inode.lost = inode.lost.flatMap((range) => outside(range, { start: position, end }));
}

function sync(inode: Inode): void {
  const durable = Buffer.alloc(inode.live.length);
  inode.durable.copy(durable);
  for (const { start, end } of inode.dirty)
    inode.live.copy(durable, start, start, Math.min(end, durable.length));
  inode.durable = durable;
  inode.dirty = [];
}

function deviceOf(path: string): number {
  return resolve(path).startsWith("/other") ? 2 : 1;
}

function diskError(code: string, what: string): Error {
  return Object.assign(new Error(`${code}: ${what}`), { code });
}
