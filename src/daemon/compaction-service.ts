import type { PurgeOperations, PurgeProgress, FinishedPurge } from "../core/purge.ts";
import type { Clock } from "../core/ports.ts";
import type { Logger } from "./log.ts";
import type { Purge, Originals } from "../storage/purge.ts";

export interface CompactionService extends PurgeOperations {
  /** Starts the regular check for rows to purge. */
  begin(): void;
  /** Stops one that runs, which loses nothing. */
  close(): Promise<void>;
}

export interface CompactionParts {
  readonly purge: Purge;
  readonly originals: Originals;
  readonly clock: Clock;
  /** Minutes that deleted rows may wait; 0: until a request. */
  readonly afterMinutes: number;
  /** A value that changes with activity. */
  readonly activity: () => unknown;
  readonly log: Pick<Logger, "info" | "warn">;
}

const LOOK_EVERY_MS = 10_000;
/** Pause after a purge, in multiples of its duration: purges take at most a twentieth of the time. */
const REST = 20;
/** After a failure; most need an operator. */
const RETRY_MS = 10 * 60_000;

/** Purges deleted rows after they have waited long enough, in a quiet moment, or on request. */
export function createCompactionService(parts: CompactionParts): CompactionService {
  const { purge, originals, clock, log } = parts;
  const afterMs = parts.afterMinutes * 60_000;
  const closing = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let progress: PurgeProgress | undefined;
  let startedAt = 0;
  let isGentle = false;
  let last: FinishedPurge | undefined;
  let notBefore = 0;
  let lastActivity: unknown;
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    startedAt = clock.now();
    progress = { stage: "preparing", done: 0, total: 0 };
    const begun = performance.now();
    const finished = () => ({ startedAt, tookMs: performance.now() - begun });
    try {
      const report = await purge.run({
        originals,
        isGentle: () => isGentle,
        onProgress: (now) => (progress = now),
        signal: closing.signal,
      });
      last = { ...finished(), report };
      notBefore = clock.now() + REST * last.tookMs;
      log.info({ ms: Math.round(last.tookMs) }, "deleted rows erased");
    } catch (error) {
      notBefore = clock.now() + RETRY_MS;
      if (closing.signal.aborted) return;
      last = { ...finished(), problem: error instanceof Error ? error.message : String(error) };
      log.warn({ err: error }, "erasing failed");
    }
  }

  function start(gently: boolean): boolean {
    isGentle = gently && (running === undefined || isGentle);
    if (running !== undefined || closing.signal.aborted) return false;
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
    const { waiting } = purge;
    const now = clock.now();
    if (waiting === undefined || running !== undefined || now < notBefore) return;
    const waited = now - waiting.since;
    // Waits for a quiet moment, but not for ever.
    if (waited >= 2 * afterMs || (waited >= afterMs && isQuiet)) start(true);
  }

  return {
    begin() {
      if (afterMs > 0) timer = setInterval(look, LOOK_EVERY_MS).unref();
    },
    start: () => start(false),
    status: () => ({
      ...(purge.waiting && { waiting: purge.waiting }),
      ...(progress && { running: { ...progress, startedAt } }),
      ...(last && { last }),
    }),
    async close() {
      clearInterval(timer);
      closing.abort();
      await running;
    },
  };
}
