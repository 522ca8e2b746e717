import type { Server, ServerResponse } from "node:http";

/** Checks per idle time. */
const CHECKS = 4;

export interface IdleExitOptions {
  /** Milliseconds without activity. */
  readonly afterMs: number;
  /** Whether work is under way that no request waits for. */
  readonly isBusy: () => boolean;
  readonly onIdle: () => void;
}

/**
 * Calls `onIdle` once no request has been under way, and nothing else, for that long. Time that the machine sleeps does
 * not count: no client could have called.
 *
 * @returns stops watching.
 */
export function exitWhenIdle(server: Server, { afterMs, isBusy, onIdle }: IdleExitOptions): () => void {
  const answers = new Set<ServerResponse>();
  let quietChecks = 0;
  const onRequest = (_request: unknown, answer: ServerResponse): void => {
    quietChecks = 0;
    answers.add(answer);
    answer.once("close", () => {
      answers.delete(answer);
      quietChecks = 0;
    });
  };
  server.on("request", onRequest);
  // Counted in ticks of a timer, which stands still while the machine sleeps.
  const timer = setInterval(
    () => {
      quietChecks = answers.size > 0 || isBusy() ? 0 : quietChecks + 1;
      if (quietChecks <= CHECKS) return;
      clearInterval(timer);
      onIdle();
    },
    Math.max(1, afterMs / CHECKS),
  ).unref();
  return () => {
    clearInterval(timer);
    server.off("request", onRequest);
  };
}
