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
