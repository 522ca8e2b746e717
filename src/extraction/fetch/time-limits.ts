import { ServiceError } from "../../core/errors.ts";

/** Milliseconds of a monotonic clock, so that a clock that is set, or a machine that slept, ends nothing. */
export interface FetchTimeouts {
  /** To find the address of a host, connect and agree on encryption; again for every redirect. */
  readonly reachMs: number;
  /** From the request to the whole head of the answer; again for every redirect. */
  readonly answerMs: number;
  /** Between two pieces of the body. */
  readonly idleMs: number;
  /** For everything. */
  readonly totalMs: number;
}

export const DEFAULT_TIMEOUTS: FetchTimeouts = {
  // Being offline is to be answered within 10 s.
  reachMs: 9_000,
  answerMs: 20_000,
  idleMs: 20_000,
  totalMs: 300_000,
};

type Stage = "reach" | "answer" | "idle";

/** The time limits of one fetch, and its caller's wish to end it, as one signal. */
export class TimeLimits {
  readonly #timeouts: FetchTimeouts;
  readonly #caller: AbortSignal | undefined;
  readonly #controller = new AbortController();
  readonly #onCallerAbort = () => this.#controller.abort(this.#caller?.reason);
  readonly #total: NodeJS.Timeout;
  #stage: NodeJS.Timeout | undefined;

  constructor(timeouts: FetchTimeouts, caller?: AbortSignal) {
    this.#timeouts = timeouts;
    this.#caller = caller;
    this.#total = setTimeout(() => {
      this.#expire(
        "FETCH_TIMEOUT",
        `The URL could not be fetched whole within ${seconds(timeouts.totalMs)}.`,
      );
    }, timeouts.totalMs);
    if (caller?.aborted === true) this.#onCallerAbort();
    else caller?.addEventListener("abort", this.#onCallerAbort, { once: true });
  }

  /** Its reason is what the fetch is to reject with. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Begins a stage; it ends with the next one, or with `pause`. */
  begin(stage: Stage, host: string): void {
    this.pause();
    this.#stage = setTimeout(() => this.#expireStage(stage, host), this.#timeouts[`${stage}Ms`]);
  }

  /** Something arrived: the stage's time begins again. */
  touch(): void {
    this.#stage?.refresh();
  }

  /** Until the next stage, only the limit for everything holds: the other side is not what we wait for. */
  pause(): void {
    clearTimeout(this.#stage);
    this.#stage = undefined;
  }

  end(): void {
    this.pause();
    clearTimeout(this.#total);
    this.#caller?.removeEventListener("abort", this.#onCallerAbort);
  }

  #expireStage(stage: Stage, host: string): void {
    const limit = seconds(this.#timeouts[`${stage}Ms`]);
    switch (stage) {
      // Who never reached anybody was not answered slowly: most likely there is no way out.
      case "reach":
        return this.#expire(
          "FETCH_FAILED",
          `${host} could not be reached within ${limit}. Is this machine online?`,
        );
      case "answer":
        return this.#expire("FETCH_TIMEOUT", `${host} did not answer within ${limit}. Try again later.`);
      case "idle":
        return this.#expire("FETCH_TIMEOUT", `${host} stopped sending for ${limit}. Try again later.`);
    }
  }

  #expire(code: "FETCH_FAILED" | "FETCH_TIMEOUT", message: string): void {
    this.#controller.abort(new ServiceError(code, message));
  }
}

function seconds(ms: number): string {
  return `${ms / 1_000} s`;
}
