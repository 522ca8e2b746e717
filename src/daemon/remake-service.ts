import { setTimeout as sleep } from "node:timers/promises";
import { remake, type RemakeOptions } from "../core/memories/remake.ts";
import type { Logger } from "./log.ts";

export interface RemakeService {
  /** Sentences on vectors and waypoints that are being made again; empty at the end. */
  readonly repairs: readonly string[];
  /** Whether it failed and is tried again shortly. */
  readonly isWaiting: boolean;
  /** More is lacking. */
  wake(): void;
  /** Interrupts it; the next start goes on. */
  stop(): Promise<void>;
}

const RETRY_MS = 30_000;

/**
 * Makes missing vectors and waypoints in the background, again when it is woken.
 *
 * @param onDone is called whenever nothing is missing.
 */
export function startRemaking(
  parts: Pick<RemakeOptions, "store" | "embedder" | "followUps">,
  log: Logger,
  onDone: () => Promise<void>,
): RemakeService {
  const { store } = parts;
  const stopping = new AbortController();
  const { signal } = stopping;
  let left = 0;
  let isWaiting = false;
  let isWoken = true;
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    while (isWoken && !signal.aborted) {
      isWoken = false;
      try {
        await remake({ ...parts, signal, onProgress: (lacking) => (left = lacking) });
        if (!isWoken) await onDone();
      } catch (error) {
        isWoken = true;
        if (signal.aborted) return;
        log.warn({ err: error }, "vectors and waypoints not made again yet");
        isWaiting = true;
        await sleep(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
        isWaiting = false;
      }
    }
  }
  const wake = () => {
    isWoken = true;
    running ??= run().finally(() => (running = undefined));
  };
  wake();
  return {
    get repairs() {
      return [
        ...(left > 0 ? [`The vectors of ${left} memories are made again.`] : []),
        ...(store.lacksEdges ? ["Waypoints between memories are made again."] : []),
      ];
    },
    get isWaiting() {
      return isWaiting;
    },
    wake,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
