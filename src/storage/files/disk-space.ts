import { setTimeout as sleep } from "node:timers/promises";
import { type ServiceError, storeFull } from "../../core/errors.ts";
import type { Disk } from "./disk.ts";

/** Bytes on the file system of the store. */
export interface Space {
  readonly free: number;
  /** Free space that writes that add need. */
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

/** Tells whether the required space is free, as of about a second ago. */
export interface DiskSpace {
  /** Undefined while there is room, and where the disk does not say. */
  readonly lack: Space | undefined;
  /** True if the disk was measured just now. */
  readonly isFresh: boolean;
  /** Asks the disk, unless it is fresh. */
  look(): Promise<void>;
}

/** Interval of measurements: short, so that writes resume soon after space is freed, but not one per write. */
const FRESH_MS = 1_000;
/** A disk that does not answer by then is not waited for. */
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

/** Left free for LanceDB at least. */
export const LEAST_FREE_BYTES = 256 * 1024 ** 2;

/** Bytes that must be free for writes that add: compaction writes the largest table anew. */
export function roomNeededFor(
  tables: readonly { readonly files: readonly { readonly size: number }[] }[],
  least = LEAST_FREE_BYTES,
): number {
  const sizes = tables.map(({ files }) => files.reduce((sum, { size }) => sum + size, 0));
  return Math.max(least, 2 * Math.max(0, ...sizes));
}

/** For people, as in `59 MB free, 269 MB needed`. */
export function inWords({ free, needed }: Space): string {
  return `${Math.floor(free / 1e6)} MB free, ${Math.ceil(needed / 1e6)} MB needed`;
}

export function noRoom(space: Space, cause?: unknown): ServiceError {
  return storeFull(
    `The disk is full (${inWords(space)}), so nothing was stored. Free some space; reading and deleting memories for good still work.`,
    { cause },
  );
}
