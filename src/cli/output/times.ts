import { clockTime } from "../../core/text/calendar.ts";

/** Times as people read them: in the time zone of this machine. The API has UTC. */

/** `2022-09-03` */
export function day(time: string | number): string {
  const date = new Date(time);
  const two = (part: number) => String(part).padStart(2, "0");
  return `${String(date.getFullYear()).padStart(4, "0")}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** `2022-09-03 14:30` */
export function minute(time: string | number): string {
  const date = new Date(time);
  return `${day(time)} ${String(date.getHours()).padStart(2, "0")}:${String(date.getMinutes()).padStart(2, "0")}`;
}

/** The day, with the minute where it is not midnight. */
export const moment = (time: string | number): string => minute(time).replace(/ 00:00$/, "");

interface Progress {
  readonly stage: string;
  readonly done: number;
  /** 0 where it is not known. */
  readonly total: number;
}

const BAR_CHARS = 20;
/** Earlier than this a guess at the time left is worth nothing. */
const MIN_SHARE = 0.02;

/** Lines of a job's progress: its stage, a bar, and the time left. @param now monotonic ms. */
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
