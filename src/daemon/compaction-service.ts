import type { PurgeProgress, PurgeReport } from "../core/status.ts";
import type { Clock } from "../core/ports.ts";
import { notReady } from "../core/errors.ts";
import type { BackupCopies, BackupService } from "./backup-service.ts";
import type { Logger } from "./system.ts";
import type { Purge, Originals } from "../storage/checkpoints/purge.ts";
import { messageOf } from "../config/narrow.ts";

export interface CompactionParts {
  readonly purge: Purge;
  readonly originals: Originals;
  readonly backups: Pick<BackupService, "copies" | "renew">;
  readonly clock: Clock;
  /** Minutes that deleted rows may wait; 0: until a request. */
  readonly afterMinutes: number;
  /** A value that changes with activity. */
  readonly activity: () => unknown;
  readonly log: Pick<Logger, "info" | "warn">;
}

/** A purge that ended; without its report it failed, and the store is as before or already switched. */
export interface FinishedPurge {
  readonly startedAt: number;
  readonly tookMs: number;
  readonly report?: PurgeReport;
  readonly problem?: string;
  readonly backups?: BackupCopies;
}

const LOOK_EVERY_MS = 10_000;
/** Pause after a purge, in multiples of its duration: purges take at most a twentieth of the time. */
const REST = 20;
/** After a failure; most need an operator. */
const RETRY_MS = 10 * 60_000;

/** Purges deleted rows after they have waited long enough, in a quiet moment, or on request. */
export function createCompactionService(parts: CompactionParts) {
  const { purge, originals, backups, clock, log } = parts;
  const afterMs = parts.afterMinutes * 60_000;
  const closing = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let progress: PurgeProgress | undefined;
  let startedAt = 0;
  let isGentle = false;
  let renewsBackups = false;
  let last: FinishedPurge | undefined;
  let notBefore = 0;
  let lastActivity: unknown;
  let running: Promise<FinishedPurge | undefined> | undefined;

  /** @returns undefined where it was stopped before anything was purged. */
  async function run(): Promise<FinishedPurge | undefined> {
    startedAt = clock.now();
    progress = { stage: "preparing", done: 0, total: 0 };
    const begun = performance.now();
    const finished = () => ({ startedAt, tookMs: performance.now() - begun });
    let purged: FinishedPurge | undefined;
    try {
      const report = await purge.run({
        originals,
        isGentle: () => isGentle,
        onProgress: (now) => (progress = now),
        signal: closing.signal,
      });
      last = purged = { ...finished(), report };
      notBefore = clock.now() + REST * purged.tookMs;
      log.info({ ms: Math.round(purged.tookMs) }, "deleted rows erased");
      return (last = { ...purged, backups: await (renewsBackups ? backups.renew() : backups.copies()) });
    } catch (error) {
      notBefore = clock.now() + RETRY_MS;
      if (closing.signal.aborted) return purged;
      const message = messageOf(error);
      const problem = purged
        ? `What was deleted is purged, but older backups still hold it: ${message}`
        : message;
      log.warn({ err: error }, "erasing failed");
      return (last = { ...finished(), problem });
    }
  }

  function start(gently: boolean, renews = false): boolean {
    isGentle = gently && (running === undefined || isGentle);
    if (running !== undefined || closing.signal.aborted) return false;
    renewsBackups = renews;
    running = run().finally(() => {
      running = undefined;
      progress = undefined;
    });
    return true;
  }

  function look(): void {
    const activity = parts.activity();
    const isQuiet = activity === lastActivity;
    lastActivity = activity;
    if (running !== undefined) return;
    const { waiting } = purge;
    const now = clock.now();
    const waited = waiting === undefined || now < notBefore ? -Infinity : now - waiting.since;
    // Waits for a quiet moment, but not for ever.
    if (afterMs > 0 && (waited >= 2 * afterMs || (waited >= afterMs && isQuiet))) start(true);
  }

  return {
    /** Starts the regular check for rows to purge. */
    begin(): void {
      timer = setInterval(look, LOOK_EVERY_MS).unref();
    },
    /** Begins a purge, renewing the backups too where asked; false if one runs already. */
    start: (options?: { readonly renewsBackups: boolean }) => start(false, options?.renewsBackups),
    /** Purges, and replaces the backups by a new one. @throws {ServiceError} NOT_READY, STORE_FULL, DAMAGED. */
    async purgeWithBackups(): Promise<BackupCopies> {
      while (!start(false, true)) {
        if (closing.signal.aborted) throw notReady("The daemon is stopping.");
        await running;
      }
      const ended = await running;
      if (ended?.backups !== undefined) return ended.backups;
      throw notReady(
        `All of it is deleted. ${ended?.problem ?? "The daemon is stopping."} Repeat the request to replace the backups.`,
      );
    },
    status: () => ({
      waiting: purge.waiting,
      running: progress && { ...progress, startedAt },
      last: last && { ...last.report, ...last, tookMs: Math.round(last.tookMs) },
    }),
    /** Stops one that runs, which loses nothing. */
    async close(): Promise<void> {
      clearInterval(timer);
      closing.abort();
      await running;
    },
  };
}
