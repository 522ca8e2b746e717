import { byteLines, type Bytes } from "./text-lines.ts";
import { faulty, type ImportItems, skipped } from "./import-item.ts";

/** Of one mail with its attachments; the daemon's own limit is lower by default. */
const MAX_MAIL_BYTES = 128 * 1_024 * 1_024;
const MAX_HEADER_BYTES = 256 * 1_024;
const NEWLINE = Buffer.from("\n");
const SEPARATOR = /^From \S.* \d{4}\r?\n?$/;
/** The time of a separator: `Jul  8 12:08:34 2011`, in UTC unless an offset stands before the year. */
const ARRIVED =
  / ([A-Z][a-z]{2}) +(\d{1,2}) (\d{2}:\d{2}(?::\d{2})?) (?:([+-]\d{4}|[A-Z]{2,5}) )?(\d{4})\s*$/;
/** A line of a mail that begins so was given a `>` more, so that it does not separate mails. */
const QUOTED = /^>+From /;
/** The first mail of a mailbox that pine, mutt or an IMAP server wrote. */
const OWN_DATA = /^subject: .*FOLDER INTERNAL DATA/im;
const HEADER_LINES = 20;

/** The mails of a mailbox in the format mbox, whose lines "From …" separate them (RFC 4155); in order, one in memory at a time. */
export async function* readMailbox(bytes: Bytes, name: string): ImportItems {
  let lines: Buffer[] = [];
  let [size, number, arrived] = [0, 0, ""];
  const finish = function* () {
    if (number > 0 && size > MAX_MAIL_BYTES)
      yield faulty(`mail ${number}`, `is larger than ${MAX_MAIL_BYTES} bytes`);
    else if (number > 0 && OWN_DATA.test(lines.slice(0, 2 * HEADER_LINES).join("")))
      yield skipped(`mail ${number}`, "what a mail program keeps of itself in the mailbox");
    else if (number > 0)
      yield {
        kind: "mail",
        where: `mail ${number}`,
        filename: `${name}-${number}.eml`,
        bytes: dated(Buffer.concat(lines), arrived),
      } as const;
    [lines, size] = [[], 0];
  };
  let isAfterBlank = true;
  for await (const { line, isEnded } of byteLines(bytes, MAX_MAIL_BYTES)) {
    const start = line?.toString("latin1", 0, 200) ?? "";
    if (isAfterBlank && SEPARATOR.test(start)) {
      yield* finish();
      number += 1;
      arrived = start;
      continue;
    }
    isAfterBlank = line !== undefined && start.trim() === "";
    size += line === undefined ? Infinity : line.length + 1;
    if (line === undefined || size > MAX_MAIL_BYTES) continue;
    lines.push(QUOTED.test(start) ? line.subarray(1) : line);
    if (isEnded) lines.push(NEWLINE);
  }
  yield* finish();
}

/** A mail with the time of its separator as its date, if it has none that can be read. */
function dated(mail: Buffer, separator: string): Buffer {
  const [, month = "", day = "", time = "", zone = "", year = ""] = ARRIVED.exec(separator) ?? [];
  const [headers = ""] = mail.toString("latin1", 0, MAX_HEADER_BYTES).split(/\n\r?\n/, 1);
  const [, own = ""] = /^date:[ \t]*(.*(?:\r?\n[ \t].*)*)$/im.exec(headers) ?? [];
  if (year === "" || !Number.isNaN(Date.parse(own))) return mail;
  const offset = /^[+-]/.test(zone) ? zone : "+0000";
  return Buffer.concat([Buffer.from(`Date: ${day} ${month} ${year} ${time} ${offset}\n`), mail]);
}
