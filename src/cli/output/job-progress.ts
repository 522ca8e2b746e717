import { clockTime } from "../../core/text/clock-time.ts";

export interface Progress {
  readonly stage: string;
  readonly done: number;
  /** 0 where it is not known. */
  readonly total: number;
}

const BAR_CHARS = 20;
/** Earlier than this a guess at the time left is worth nothing. */
const MIN_SHARE = 0.02;

/**
 * Makes lines for the terminal of a job's progress: its stage, a bar, and the time that the stage has left if it goes on
 * as it did.
 * @param now in milliseconds, of any clock that does not go back.
 */
export function progressLines(now: () => number): (progress: Progress) => string {
  let stage = "";
  let since = 0;
  let doneBefore = 0;
  return ({ stage: current, done, total }) => {
    if (current !== stage) {
      stage = current;
      since = now();
      doneBefore = done;
    }
    if (total === 0) return current;
    const share = Math.min(1, done / total);
    const full = Math.round(share * BAR_CHARS);
    const bar = "#".repeat(full) + ".".repeat(BAR_CHARS - full);
    const made = done - doneBefore;
    const isKnown = made > 0 && share >= MIN_SHARE;
    const left = isKnown ? `, ${clockTime(((now() - since) * (total - done)) / made)} left` : "";
    return `${current} [${bar}] ${Math.floor(share * 100)} %${left}`;
  };
}
