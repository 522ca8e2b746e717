import { readFileSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { INPUT, type MediaSource, OUTPUT, writeSound } from "./media-source.ts";

/** FFmpeg's program as WebAssembly. It is under the GPL: it runs in a process of its own, as a program would. */
const WASM = "@ffmpeg/core/wasm";
const STDERR = 2;

/** What is used of it; it is written for a browser's worker, and has no types of its own. */
interface FfmpegCore {
  exec(...args: string[]): number;
  setLogger(log: (entry: { readonly message: string }) => void): void;
  readonly FS: {
    writeFile(name: string, data: Uint8Array): void;
    lookupPath(name: string): { readonly node: FsNode };
  };
}
interface FsNode {
  readonly id: number;
  readonly mode: number;
  node_ops: object;
  stream_ops: object;
}

/** Runs FFmpeg with these arguments, as its program would; its code of exit. @throws {Error} where the package is not installed. */
export async function runFfmpegCore({ read, size }: MediaSource, args: readonly string[]): Promise<number> {
  const core = await load();
  core.setLogger(({ message }) => writeSync(STDERR, `${message}\n`));
  mountInput(core, read, size);
  mountOutput(core, writeSound);
  return core.exec(...args);
}

async function load(): Promise<FfmpegCore> {
  const { resolve } = createRequire(import.meta.url);
  const wasmBinary = readFileSync(resolve(WASM));
  // It looks for the page that started it.
  Object.assign(globalThis, {
    self: globalThis,
    location: { href: "file:///" },
    importScripts: () => undefined,
  });
  // @ts-expect-error It has no types, and may be left out of an installation.
  const module = (await import("@ffmpeg/core")) as { default: (options: object) => Promise<FfmpegCore> };
  return module.default({ wasmBinary, print: () => undefined, printErr: () => undefined });
}

/** A file whose bytes are those of the one this process was given: nothing of it is held. */
function mountInput(core: FfmpegCore, read: MediaSource["read"], size: number): void {
  mount(core, INPUT, () => size, {
    read: (_: unknown, memory: Int8Array, offset: number, length: number, position: number) =>
      read(bytesOf(memory, offset, Math.max(0, Math.min(length, size - position))), position),
  });
}

/** A file that gives away what is written to it; FFmpeg writes sound and text from the beginning to the end. */
function mountOutput(core: FfmpegCore, write: (bytes: Uint8Array) => void): void {
  let size = 0;
  mount(core, OUTPUT, () => size, {
    write: (_: unknown, memory: Int8Array, offset: number, length: number, position: number) => {
      write(bytesOf(memory, offset, length));
      size = Math.max(size, position + length);
      return length;
    },
  });
}

function bytesOf({ buffer, byteOffset }: Int8Array, offset: number, length: number): Uint8Array {
  return new Uint8Array(buffer, byteOffset + offset, length);
}

/** @see https://emscripten.org/docs/api_reference/Filesystem-API.html; the operations of a node are not described there. */
function mount(core: FfmpegCore, name: string, sizeOf: () => number, operations: object): void {
  core.FS.writeFile(name, new Uint8Array(0));
  const { node } = core.FS.lookupPath(name);
  const time = new Date(0);
  const unused = {
    dev: 1,
    nlink: 1,
    uid: 0,
    gid: 0,
    rdev: 0,
    blksize: 4_096,
    blocks: 0,
    atime: time,
    mtime: time,
    ctime: time,
  };
  const { id, mode } = node;
  const getattr = () => ({
    ...unused,
    ino: id,
    mode,
    size: sizeOf(),
  });
  node.node_ops = { ...node.node_ops, getattr, setattr: () => undefined };
  node.stream_ops = {
    ...operations,
    llseek: (stream: { readonly position: number }, offset: number, whence: number) =>
      offset + (whence === 1 ? stream.position : whence === 2 ? sizeOf() : 0),
  };
}
