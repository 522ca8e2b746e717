import { FollowUps } from "../core/memories/follow-ups.ts";
import type { MemoryStore } from "../core/ports.ts";
import { type Logger, nextTurn } from "./system.ts";

/** Delay of follow-ups to answered calls, so that few records hold them. */
const FOLLOW_UP_DELAY_MS = 500;

/** Memories for which `FollowUps` still works when the daemon stops: 1 s at most. */
const INFERRED_AT_STOP = 200;

/** The follow-ups of a store, done a moment after the calls that ask for them. */
export function scheduledFollowUps(store: MemoryStore, isBusy: () => boolean, log: Pick<Logger, "warn">) {
  let timer: NodeJS.Timeout | undefined;
  const followUps = new FollowUps(store, {
    onPending: () => {
      timer = setTimeout(() => {
        followUps.flush().catch((error: unknown) => log.warn({ err: error }, "follow-ups dropped"));
      }, FOLLOW_UP_DELAY_MS).unref();
    },
    isBusy,
    nextTurn,
  });
  return {
    followUps,
    /** Does what waits, but for what would take long. */
    async stop(): Promise<void> {
      clearTimeout(timer);
      await followUps.flush(INFERRED_AT_STOP);
      clearTimeout(timer);
    },
  };
}
