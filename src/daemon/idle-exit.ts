import type { Server, ServerResponse } from "node:http";

/** Checks per idle time. */
const CHECKS = 4;

export interface IdleExitOptions {
  /** Milliseconds without activity. */
  readonly afterMs: number;
  /** True while work runs that no request waits for. */
  readonly isBusy: () => boolean;
  readonly onIdle: () => void;
}

/** Calls `onIdle` once nothing was under way for that long, sleep not counted; the answer stops watching. */
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
