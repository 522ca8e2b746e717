import type { Bytes } from "./text-lines.ts";
import { faulty, type ImportItems } from "./import-item.ts";

/** Of one mail with its attachments; the daemon's own limit is lower by default. */
const MAX_MAIL_BYTES = 128 * 1_024 * 1_024;
const NEWLINE = 0x0a;
const SEPARATOR = /^From \S.* \d{4}\r?\n?$/;
/** A line of a mail that begins so was given a `>` more, so that it does not separate mails. */
const QUOTED = /^>+From /;

/** The mails of a mailbox in the format mbox, whose lines "From …" separate them (RFC 4155); in order, one in memory at a time. */
export async function* readMailbox(bytes: Bytes, name: string): ImportItems {
  let lines: Buffer[] = [];
  let [size, number] = [0, 0];
  const finish = function* () {
    if (number > 0 && size > MAX_MAIL_BYTES)
      yield faulty(`mail ${number}`, `is larger than ${MAX_MAIL_BYTES} bytes`);
    else if (number > 0)
      yield {
        kind: "mail",
        where: `mail ${number}`,
        filename: `${name}-${number}.eml`,
        bytes: Buffer.concat(lines),
      } as const;
    [lines, size] = [[], 0];
  };
  let isAfterBlank = true;
  for await (const line of rawLines(bytes)) {
    const start = line.subarray(0, 200).toString("latin1");
    if (isAfterBlank && SEPARATOR.test(start)) {
      yield* finish();
      number += 1;
      continue;
    }
    isAfterBlank = start.trim() === "";
    size += line.length;
    if (size <= MAX_MAIL_BYTES) lines.push(QUOTED.test(start) ? line.subarray(1) : line);
  }
  yield* finish();
}

/** Lines with their ends. */
async function* rawLines(bytes: Bytes): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  for await (const chunk of bytes) {
    const part = Buffer.from(chunk);
    let start = 0;
    for (let end = part.indexOf(NEWLINE); end >= 0; end = part.indexOf(NEWLINE, start)) {
      yield Buffer.concat([...rest, part.subarray(start, end + 1)]);
      rest = [];
      start = end + 1;
    }
    if (start < part.length) rest.push(part.subarray(start));
  }
  if (rest.length > 0) yield Buffer.concat(rest);
}
