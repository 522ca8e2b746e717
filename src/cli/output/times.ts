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

/** A job's progress on a line: its stage, and a bar where it is known how much there is. */
export function progressLine({ stage, done, total }: Progress): string {
  if (total === 0) return stage;
  const share = Math.min(1, done / total);
  const bar = "#".repeat(Math.round(share * BAR_CHARS)).padEnd(BAR_CHARS, ".");
  return `${stage} [${bar}] ${Math.floor(share * 100)} %`;
}
