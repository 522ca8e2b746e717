import { randomUUID } from "node:crypto";
import * as fs from "node:fs/promises";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ServiceError, storeUnusable } from "../../core/errors.ts";
import { hasCode } from "./disk.ts";
import {
  kernelOf,
  livenessByPid,
  ownIdentity,
  type ProcessIdentity,
  type Liveness,
} from "./process-identity.ts";

export interface DirectoryLock {
  /** Lets others in. Idempotent; never removes a lock that someone else holds by now. */
  release(): Promise<void>;
}

/** Contents of a lock file. */
interface Claim extends ProcessIdentity {
  /** Unlike every other claim's, ever. */
  readonly token: string;
  /** When it was made, ISO 8601; for people. */
  readonly since: string;
  /** See `openLockSocket`; null where there can be none. */
  readonly socket: string | null;
  /** Device and inode of the directory, as its process sees it. */
  readonly directory: string;
}

const LOCK_NAME = "lock";

interface Place {
  readonly directory: string;
  readonly link: typeof fs.link;
}

export interface LockOptions {
  readonly link?: typeof fs.link;
  readonly openSocket?: typeof openLockSocket;
}

/** How long a claim may stay unreadable while its maker is still writing it, where files cannot appear whole. */
const WRITING_MS = 1_000;
const RETRY_MS = 20;

/**
 * Makes this process the only one in a data directory, until it releases the lock or ends.
 *
 * A lock file appears whole and under its name only if nobody has it (link(2)). One that was left behind is removed when
 * its process is certainly gone (see `hasEnded`): from another namespace of the machine the pid says nothing, and the
 * socket beside the lock does. A process that cannot be judged counts as alive.
 *
 * @throws {ServiceError} STORE_UNUSABLE if another process holds it (who, since when, and what to do), or if the
 *   directory cannot be written to.
 */
export async function lockDataDirectory(
  directory: string,
  options: LockOptions = {},
): Promise<DirectoryLock> {
  const lock = await lockAs(directory, LOCK_NAME, options);
  if ("release" in lock) return lock;
  throw heldBy(lock, directory, lock.directory !== (await identityOf(directory)));
}

/**
 * A further lock of a directory, by name, which one process has at a time; undefined while another has it.
 *
 * @throws {ServiceError} STORE_UNUSABLE if the directory cannot be written to.
 */
export async function tryLock(directory: string, name: string): Promise<DirectoryLock | undefined> {
  const lock = await lockAs(directory, `${LOCK_NAME}.${name}`);
  return "release" in lock ? lock : undefined;
}

/** The lock, or who holds it and may be alive. */
async function lockAs(
  directory: string,
  name: string,
  { link = fs.link, openSocket = openLockSocket }: LockOptions = {},
): Promise<DirectoryLock | Claim> {
  const token = randomUUID();
  const socket = await openSocket(directory, token);
  try {
    const own: Claim = {
      ...(await ownIdentity()),
      token,
      since: new Date().toISOString(),
      socket: socket?.name ?? null,
      directory: await identityOf(directory),
    };
    const holder = await claim({ directory, link }, name, own);
    if (holder === undefined)
      return {
        async release() {
          await removeClaim(join(directory, name), own);
          await socket?.close();
        },
      };
    await socket?.close();
    return holder;
  } catch (error) {
    await socket?.close();
    throw notLockable(error, directory);
  }
}

/** True if the holder of a lock is certainly gone. */
async function hasEnded(directory: string, holder: Claim, own: Claim): Promise<boolean> {
  const kernel = kernelOf(holder, own);
  if (kernel !== "same") return kernel === "ended";
  const byPid = await livenessByPid(holder, own);
  if (byPid !== "unknown") return byPid === "ended";
  // Through another file system (an overlay, a shared folder) the file of a socket is there, and nobody ever listens at it.
  if (typeof holder.socket !== "string" || holder.directory !== own.directory) return false;
  return (await livenessBySocket(directory, holder.socket)) === "ended";
}

async function identityOf(directory: string): Promise<string> {
  const { dev, ino } = await fs.stat(directory, { bigint: true });
  return `${dev}:${ino}`;
}

/** Removes a claim if it still stands there; whether it did. */
async function removeClaim(path: string, { token }: Claim): Promise<boolean> {
  const current = await readClaim(path);
  if (current === undefined || current === "unreadable" || current.token !== token) return false;
  await removeFile(path);
  return true;
}

function notLockable(error: unknown, directory: string): ServiceError {
  if (error instanceof ServiceError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  const advice = hasCode(error, "ENOSPC", "EDQUOT")
    ? "The disk is full: free some space, and start again."
    : "Check that it is there and that you may write to it.";
  return storeUnusable(`The data directory ${directory} cannot be locked: ${reason}. ${advice}`, {
    cause: error,
  });
}

/** Puts a claim under a name; undefined on success, else who holds it and may be alive. */
async function claim(place: Place, name: string, own: Claim): Promise<Claim | undefined> {
  const path = join(place.directory, name);
  for (let unreadableFor = 0; ;) {
    if (await createWhole(place, path, JSON.stringify(own))) return undefined;
    const holder = await readClaim(path);
    if (holder === undefined) continue;
    if (holder === "unreadable") {
      if (unreadableFor >= WRITING_MS) throw unreadable(path);
      await delay(RETRY_MS);
      unreadableFor += RETRY_MS;
    } else if (!(await hasEnded(place.directory, holder, own))) {
      return holder;
    } else {
      await removeStale(place, name, holder, own);
    }
  }
}

/**
 * Removes a claim whose holder is gone, unless someone was faster.
 *
 * Two who both found it stale must not both remove it: the second could remove the first one's new lock. So the
 * right to remove is itself claimed, under a name that belongs to this one stale claim, and whoever has it looks
 * again. That claim can be left behind like any other, and is then removed in the same way.
 */
async function removeStale(place: Place, name: string, stale: Claim, own: Claim): Promise<void> {
  const { directory } = place;
  const right = `${LOCK_NAME}.stale-${stale.token}`;
  const other = await claim(place, right, { ...own, token: randomUUID() });
  if (other !== undefined) {
    await delay(RETRY_MS);
    return;
  }
  try {
    if ((await removeClaim(join(directory, name), stale)) && typeof stale.socket === "string")
      await removeLockSocket(directory, stale.socket);
  } finally {
    await removeFile(join(directory, right));
  }
}

/** Creates a file with its content in one step; false if the name is taken. */
async function createWhole({ directory, link }: Place, path: string, content: string): Promise<boolean> {
  const temporary = join(directory, `${LOCK_NAME}.new-${process.pid}-${randomUUID()}`);
  try {
    await writeNew(temporary, content);
    await link(temporary, path);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    // FAT, exFAT and some network and Android file systems have no links.
    if (!hasCode(error, "EPERM", "ENOTSUP", "ENOSYS", "EOPNOTSUPP", "EMLINK", "EINVAL")) throw error;
  } finally {
    await removeFile(temporary);
  }
  return writeNew(path, content).then(
    () => true,
    (error: unknown) => {
      if (hasCode(error, "EEXIST")) return false;
      throw error;
    },
  );
}

/** Synced, so that a power failure cannot leave an unreadable lock. */
async function writeNew(path: string, content: string): Promise<void> {
  const file = await fs.open(path, "wx", 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function readClaim(path: string): Promise<Claim | "unreadable" | undefined> {
  let text: string;
  try {
    text = await fs.readFile(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
  try {
    const value: unknown = JSON.parse(text);
    return isClaim(value) ? value : "unreadable";
  } catch {
    return "unreadable";
  }
}

function isClaim(value: unknown): value is Claim {
  const claim = Object(value) as Partial<Claim>;
  const { pid, startTime, bootId, host, token, since, socket, pidNamespace } = claim;
  return (
    Number.isInteger(pid) &&
    [startTime, bootId, pidNamespace].every((field) => field === null || typeof field === "string") &&
    [host, since].every((field) => typeof field === "string") &&
    /^[0-9a-f-]{36}$/.test(String(token)) &&
    (socket === null || SOCKET_NAME.test(String(socket)))
  );
}

function removeFile(path: string): Promise<void> {
  return fs.rm(path, { force: true });
}

function heldBy({ pid, since, host }: Claim, directory: string, isOfAnother: boolean): ServiceError {
  const holder = `another memoryd (process ${pid} on ${host}, since ${since})`;
  const path = join(directory, LOCK_NAME);
  if (isOfAnother)
    return storeUnusable(
      `The lock of the data directory ${directory} was made in another directory, by ${holder}. If this is a copy of that one, ` +
        `remove ${path}. If it is the same, seen from elsewhere, stop that memoryd.`,
    );
  return storeUnusable(
    `The data directory ${directory} is in use by ${holder}. Stop that one with ` +
      "`memoryd stop`, or choose another directory with --data-dir. If you are certain that it no longer runs, remove " +
      `${path}.`,
    // It may be on its way out.
    { retryAfterSeconds: 1 },
  );
}

function unreadable(path: string): ServiceError {
  return storeUnusable(
    `The lock file ${path} cannot be read, so it is not known whether another memoryd uses the directory. If you are ` +
      "certain that none does, remove that file.",
  );
}

/** Anything else in a lock file is not ours. */
const SOCKET_NAME = /^(lock\.socket-[0-9a-f]{8}|\\\\\.\\pipe\\memoryd-[0-9a-f-]{36})$/;
/** 107 on Linux, 103 on macOS; Node cuts longer paths off without an error. */
const MAX_PATH_BYTES = 103;
const CONNECT_MS = 5_000;

/**
 * A socket that is open for as long as its process lives: whoever reaches it knows that the process does, from any
 * namespace of the machine. Undefined where the file system of the directory has none, and where its path is too long.
 */
async function openLockSocket(directory: string, token: string) {
  const name = IS_WINDOWS ? String.raw`\\.\pipe\memoryd-${token}` : `lock.socket-${token.slice(0, 8)}`;
  const server = createServer((connection) => connection.destroy());
  const path = socketPath(directory, name);
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return undefined;
  try {
    await once(server.listen(path), "listening");
  } catch {
    return undefined;
  }
  // A failed accept must not end the process; the listening socket is what counts.
  server.on("error", () => {});
  server.unref();
  return {
    /** A file in the directory that is locked; on Windows a named pipe. */
    name,
    async close() {
      await new Promise((done) => server.close(done));
      await removeLockSocket(directory, name);
    },
  };
}

const IS_WINDOWS = process.platform === "win32";

/** A named pipe is in no folder. */
const socketPath = (directory: string, name: string): string => (IS_WINDOWS ? name : join(directory, name));

/**
 * State of a socket that a process on this kernel opened. "unknown" where the socket has gone or may
 * not be reached.
 */
async function livenessBySocket(directory: string, name: string): Promise<Liveness> {
  const connection = connect(socketPath(directory, name));
  try {
    await once(connection, "connect", { signal: AbortSignal.timeout(CONNECT_MS) });
    return "alive";
  } catch (error) {
    if (hasCode(error, "ECONNREFUSED")) return "ended";
    // A named pipe goes with its process; the file of a socket can be removed under it.
    return IS_WINDOWS && hasCode(error, "ENOENT") ? "ended" : "unknown";
  } finally {
    connection.destroy();
  }
}

/** Removes the file of a socket whose process has ended. */
async function removeLockSocket(directory: string, name: string): Promise<void> {
  if (!IS_WINDOWS) await removeFile(join(directory, name));
}
