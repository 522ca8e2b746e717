import { mkdtemp, rm, symlink } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { hasCode } from "./disk.ts";
import type { Liveness } from "./process-identity.ts";

/**
 * A socket that is open for as long as its process lives: whoever reaches it knows that the process does, from any
 * namespace of the machine.
 */
export interface LockSocket {
  /** A file in the directory that is locked; on Windows a named pipe. */
  readonly name: string;
  close(): Promise<void>;
}

/** Anything else in a lock file is not ours. */
export const SOCKET_NAME = /^(lock\.socket-[0-9a-f]{8}|\\\\\.\\pipe\\memoryd-[0-9a-f-]{36})$/;
/** 107 on Linux, 103 on macOS; Node cuts longer paths off without an error. */
const MAX_PATH_BYTES = 103;
const CONNECT_MS = 5_000;

/** Undefined where the file system of the directory has no sockets. */
export async function openLockSocket(directory: string, token: string): Promise<LockSocket | undefined> {
  const name =
    process.platform === "win32" ? String.raw`\\.\pipe\memoryd-${token}` : `lock.socket-${token.slice(0, 8)}`;
  const server = createServer((connection) => connection.destroy());
  try {
    await withPath(directory, name, (path) => listen(server, path));
  } catch {
    server.close();
    return undefined;
  }
  // A failed accept must not end the process; the listening socket is what counts.
  server.on("error", () => {});
  server.unref();
  return {
    name,
    async close() {
      await new Promise((done) => server.close(done));
      await removeLockSocket(directory, name);
    },
  };
}

/**
 * State of a socket that a process on this kernel opened. "unknown" where the socket has gone or may
 * not be reached.
 */
export async function livenessBySocket(directory: string, name: string): Promise<Liveness> {
  try {
    await withPath(directory, name, reach);
    return "alive";
  } catch (error) {
    if (hasCode(error, "ECONNREFUSED")) return "ended";
    // A named pipe goes with its process; the file of a socket can be removed under it.
    return process.platform === "win32" && hasCode(error, "ENOENT") ? "ended" : "unknown";
  }
}

/** Removes the file of a socket whose process has ended. */
export async function removeLockSocket(directory: string, name: string): Promise<void> {
  if (process.platform !== "win32") await rm(join(directory, name), { force: true });
}

/** A path to a socket that is short enough: where the directory's own is too long, through a link that is gone afterwards. */
async function withPath<T>(directory: string, name: string, use: (path: string) => Promise<T>): Promise<T> {
  if (process.platform === "win32") return use(name);
  const path = join(directory, name);
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return use(path);
  const folder = await mkdtemp(join(tmpdir(), "memoryd-"));
  try {
    const link = join(folder, "d");
    await symlink(resolve(directory), link);
    const short = join(link, name);
    if (Buffer.byteLength(short) > MAX_PATH_BYTES) throw new Error(`${short} is too long for a socket`);
    return await use(short);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((done, fail) => {
    server.once("error", fail);
    server.listen(path, () => {
      server.off("error", fail);
      done();
    });
  });
}

function reach(path: string): Promise<void> {
  return new Promise((done, fail) => {
    const connection = connect(path);
    connection.setTimeout(CONNECT_MS, () => {
      connection.destroy();
      fail(new Error("no answer"));
    });
    connection.once("connect", () => {
      connection.destroy();
      done();
    });
    connection.once("error", fail);
  });
}
