import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "../core/errors.ts";
import type { Disk } from "./disk.ts";

/** Bytes on the file system of the store. */
export interface Space {
  readonly free: number;
  /** What must be free for writes that add. */
  readonly needed: number;
}

export interface DiskSpaceParts {
  readonly disk: Pick<Disk, "freeBytes">;
  readonly directory: string;
  readonly needed: () => number;
  /** Told when room has gone and when it is back. */
  readonly onChange: (change: Space & { readonly isLacking: boolean }) => void;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

/** Whether the disk has the room that must be left free, as of about a second ago. */
export interface DiskSpace {
  /** Undefined while there is room, and where the disk does not say. */
  readonly lack: Space | undefined;
  /** Whether the disk was asked just now. */
  readonly isFresh: boolean;
  /** Asks the disk, unless it is fresh. */
  look(): Promise<void>;
}

/** Who frees space wants to go on at once; more often would be a question for every write. */
const FRESH_MS = 1_000;
/** A disk that does not answer keeps nobody waiting. */
const PATIENCE_MS = 500;

export function watchDiskSpace({
  disk,
  directory,
  needed,
  onChange,
  now = () => performance.now(),
}: DiskSpaceParts): DiskSpace {
  let lack: Space | undefined;
  let lookedAt = -Infinity;
  let looking: Promise<void> | undefined;

  const isFresh = () => looking === undefined && now() - lookedAt < FRESH_MS;

  async function ask(): Promise<void> {
    try {
      const space = { free: await disk.freeBytes(directory), needed: needed() };
      const isLacking = space.free < space.needed;
      const changes = isLacking !== (lack !== undefined);
      lack = isLacking ? space : undefined;
      if (changes) onChange({ ...space, isLacking });
    } catch {
      // The next write finds out.
      lack = undefined;
    }
    lookedAt = now();
    looking = undefined;
  }

  return {
    get lack() {
      return lack;
    },
    get isFresh() {
      return isFresh();
    },
    async look() {
      if (isFresh()) return;
      looking ??= ask();
      const patience = new AbortController();
      await Promise.race([
        looking,
        sleep(PATIENCE_MS, undefined, { ref: false, signal: patience.signal }).catch(() => undefined),
      ]);
      patience.abort();
    },
  };
}

/** For people, as in `59 MB free, 269 MB needed`. */
export function inWords({ free, needed }: Space): string {
  return `${Math.floor(free / 1e6)} MB free, ${Math.ceil(needed / 1e6)} MB needed`;
}

export function noRoom(space: Space, cause?: unknown): ServiceError {
  return new ServiceError(
    "STORE_FULL",
    `The disk is full (${inWords(space)}), so nothing was stored. Free some space; reading and deleting memories still work.`,
    { cause },
  );
}
