import { type Formed, nullable, number, record, string } from "../json-form.ts";
import { oneLine } from "./output.ts";

/** What the commands about facts show of one. */
export const SHOWN_FIELDS = {
  id: string,
  subject: string,
  predicate: string,
  object: string,
  valid_from: string,
  valid_to: nullable(string),
  confidence: number,
};
export const ShownFact = record(SHOWN_FIELDS);
export type ShownFact = Formed<typeof ShownFact>;

/** Conditions that every read of facts takes. */
export interface FactReadOptions {
  readonly user?: string;
  readonly project?: string;
  readonly knownAt?: string;
  readonly limit?: number;
  readonly json?: boolean;
}

/** A path with its query; conditions that are undefined are left out. */
export function pathOf(
  path: string,
  conditions: Readonly<Record<string, string | number | undefined>>,
): string {
  const given = Object.entries(conditions).filter(([, value]) => value !== undefined);
  return `${path}?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString()}`;
}

export function conditionsOf({ user, project, knownAt, limit }: FactReadOptions) {
  return { user_id: user, project, known_at: knownAt, l: limit };
}

export function statement({ subject, predicate, object }: ShownFact): string {
  return [subject, predicate, object].map(oneLine).join(" · ");
}

/** `2019-05-01 – 2021-03-01`, or `from 2019-05-01` while there is no end. */
export function period({ valid_from: from, valid_to: to }: ShownFact): string {
  return to === null ? `from ${moment(from)}` : `${moment(from)} – ${moment(to)}`;
}

/** Empty for what is certain. */
export function doubt({ confidence }: ShownFact): string {
  return confidence === 1 ? "" : ` · confidence ${Number(confidence.toFixed(2))}`;
}

/** A time as short as it can be said: the day, with the minute where it is not midnight. In UTC, as given. */
export function moment(time: string): string {
  const [day = "", clock = ""] = time.split("T");
  return clock.startsWith("00:00:00.000") ? day : `${day} ${clock.slice(0, "hh:mm".length)}`;
}
