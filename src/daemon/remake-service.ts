import { setTimeout as sleep } from "node:timers/promises";
import { remake, type RemakeOptions } from "../core/memories/remake.ts";
import type { Logger } from "./log.ts";

export interface RemakeService {
  /** Sentences on vectors and waypoints that are being made again; empty at the end. */
  readonly repairs: readonly string[];
  /** Interrupts it; the next start goes on. */
  stop(): Promise<void>;
}

const RETRY_MS = 30_000;

/** Makes missing vectors and waypoints in the background. */
export function startRemaking(
  parts: Pick<RemakeOptions, "store" | "embedder" | "followUps">,
  log: Logger,
): RemakeService {
  const { store } = parts;
  const stopping = new AbortController();
  const { signal } = stopping;
  let left = 0;

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        await remake({ ...parts, signal, onProgress: (lacking) => (left = lacking) });
        return;
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ err: error }, "vectors and waypoints not made again yet");
        await sleep(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
  }
  const running = run();
  return {
    get repairs() {
      return [
        ...(left > 0
          ? [`The vectors of ${left} memories are made again; until then words alone find these.`]
          : []),
        ...(store.lacksEdges ? ["Waypoints between memories are made again."] : []),
      ];
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
