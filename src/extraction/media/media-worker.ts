/**
 * The program that decodes foreign recordings without an FFmpeg of the system: no files but the program's own and its standard
 * input, no child processes, no native addons, no environment, and no network where the system has walls. Its arguments are
 * limits and FFmpeg's arguments; sound and subtitles go to its standard output.
 */
import { fstatSync, readFileSync, readSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { lowerPriority, Watchdog, type WorkLimits } from "../../sandbox/watchdog.ts";
import { INPUT, OUTPUT, STARTED } from "./media-source.ts";

/** The file that this process was given: it may open none itself. */
const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
/** Before a full pipe is tried again, where writing to it does not block. */
const FULL_PIPE_MS = 5;
const [limits = "{}", ...args] = process.argv.slice(2);

lowerPriority();
process.on("disconnect", () => process.exit());
writeSync(STDERR, STARTED);
new Watchdog(JSON.parse(limits) as WorkLimits).begin();

/** FFmpeg's program as WebAssembly. It is under the GPL: it runs in a process of its own, as a program would. */
const WASM = "@ffmpeg/core/wasm";

/** The part of it that is used; it is written for a browser's worker, and has no types of its own. */
interface FfmpegCore {
  exec(...args: string[]): number;
  setLogger(log: (entry: { readonly message: string }) => void): void;
  readonly FS: {
    writeFile(name: string, data: Uint8Array): void;
    lookupPath(name: string): { readonly node: { usedBytes: number; stream_ops: object } };
  };
}

/** Runs FFmpeg with these arguments, as its program would; its code of exit. @throws {Error} where the package is not installed. */
async function run(): Promise<number> {
  const core = await load();
  core.setLogger(({ message }) => writeSync(STDERR, `${message}\n`));
  mountInput(core);
  mountOutput(core);
  return core.exec(...args);
}

async function load(): Promise<FfmpegCore> {
  const { resolve } = createRequire(import.meta.url);
  const wasmBinary = readFileSync(resolve(WASM));
  // It looks for the page that started it, as in a browser.
  Object.assign(globalThis, {
    self: globalThis,
    location: { href: "file:///" },
    importScripts: () => undefined,
  });
  // @ts-expect-error It has no types, and may be left out of an installation.
  const module = (await import("@ffmpeg/core")) as { default: (options: object) => Promise<FfmpegCore> };
  return module.default({ wasmBinary, print: () => undefined, printErr: () => undefined });
}

/** A file with the bytes of the one that this process was given, none of them held in memory. */
function mountInput(core: FfmpegCore): void {
  const node = mount(core, INPUT, {
    read: (_: unknown, memory: Int8Array, offset: number, length: number, position: number) =>
      readSync(STDIN, memory, offset, length, position),
  });
  node.usedBytes = fstatSync(STDIN).size;
}

/** A file that passes on what is written to it; FFmpeg writes sound and text from the beginning to the end. */
function mountOutput(core: FfmpegCore): void {
  const node = mount(core, OUTPUT, {
    write: (_: unknown, memory: Int8Array, offset: number, length: number, position: number) => {
      writeSound(memory.subarray(offset, offset + length));
      node.usedBytes = Math.max(node.usedBytes, position + length);
      return length;
    },
  });
}

/** Writes to standard output, and waits until the reader has room. */
function writeSound(bytes: Int8Array): void {
  for (let written = 0; written < bytes.length;) {
    try {
      written += writeSync(STDOUT, bytes, written);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_MS);
    }
  }
}

/**
 * A file in Emscripten's memory file system whose bytes are ours: it takes the size from `usedBytes`.
 * @see https://emscripten.org/docs/api_reference/Filesystem-API.html, which does not describe the operations.
 */
function mount(core: FfmpegCore, name: string, operations: object) {
  core.FS.writeFile(name, new Uint8Array(0));
  const { node } = core.FS.lookupPath(name);
  node.stream_ops = { ...node.stream_ops, ...operations };
  return node;
}

// A decoder's message may quote the file: an error is only an exit code.
run().then(
  (code) => process.exit(code),
  () => process.exit(1),
);
