import { createReadStream } from "node:fs";

/** A question of LongMemEval with the conversations that it is asked of; fields are named as they are in its files. */
export interface Instance {
  /** Ends in `_abs` where nothing in the conversations answers. */
  readonly question_id: string;
  readonly question_type: string;
  readonly question: string;
  readonly haystack_session_ids: readonly string[];
  /** Such as `2023/05/20 (Sat) 02:21`, one a session. */
  readonly haystack_dates: readonly string[];
  readonly haystack_sessions: readonly (readonly Turn[])[];
  readonly answer_session_ids: readonly string[];
}

interface Turn {
  readonly role: string;
  readonly content: string;
  readonly has_answer?: boolean;
}

const [QUOTE, BACKSLASH, OPEN, CLOSE] = [0x22, 0x5c, 0x7b, 0x7d];

/**
 * The questions of a file, one at a time: the largest file is bigger than any string may be.
 *
 * @throws where the file is no list of such questions
 */
export async function* readInstances(path: string): AsyncGenerator<Instance, void, undefined> {
  let parts: Buffer[] = [];
  let [depth, inText, escaped, count] = [0, false, false, 0];
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
    let start = 0;
    for (let i = 0; i < chunk.length; i += 1) {
      const byte = chunk[i];
      if (escaped) escaped = false;
      else if (inText) {
        if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) inText = false;
      } else if (byte === QUOTE) inText = true;
      else if (byte === OPEN) {
        if (depth === 0) start = i;
        depth += 1;
      } else if (byte === CLOSE) {
        depth -= 1;
        if (depth !== 0) continue;
        count += 1;
        yield instanceOf(
          Buffer.concat([...parts, chunk.subarray(start, i + 1)]).toString("utf8"),
          path,
          count,
        );
        parts = [];
      }
    }
    if (depth > 0) parts.push(chunk.subarray(start));
  }
  if (depth !== 0 || count === 0) throw unlike(path, count + 1);
}

function instanceOf(json: string, path: string, place: number): Instance {
  let value: Partial<Instance>;
  try {
    value = JSON.parse(json) as Partial<Instance>;
  } catch {
    throw unlike(path, place);
  }
  const { haystack_sessions: sessions, haystack_dates: dates, haystack_session_ids: ids } = value;
  const isOne =
    [value.question_id, value.question_type, value.question].every((field) => typeof field === "string") &&
    [sessions, dates, ids, value.answer_session_ids].every(Array.isArray) &&
    sessions?.length === dates?.length &&
    sessions?.length === ids?.length;
  if (!isOne) throw unlike(path, place);
  return value as Instance;
}

const unlike = (path: string, place: number) =>
  new Error(`${path} is not a whole file of LongMemEval: its question ${place} cannot be read`);

/** The date of a session as an ISO time, read as UTC. @throws on any other form */
export function timeOf(date: string): string {
  const [, year, month, day, hour, minute] =
    /^(\d{4})\/(\d\d)\/(\d\d) \(\w+\) (\d\d):(\d\d)$/.exec(date) ?? [];
  if (minute === undefined)
    throw new Error(`a session has the date "${date}", not one such as "2023/05/20 (Sat) 02:21"`);
  return `${year}-${month}-${day}T${hour}:${minute}:00Z`;
}
