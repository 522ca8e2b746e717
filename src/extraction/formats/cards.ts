/** Appointments and tasks (iCalendar, RFC 5545), and contacts (vCard, RFC 6350 and before). */
import type { Block } from "../../core/documents/extraction.ts";
import { cleanDate, cleanText, type ReadDocument } from "./clean-text.ts";

const KEPT = /^(?:VEVENT|VTODO|VJOURNAL|VCARD)$/;
/** What programs keep for themselves, pictures, and names that stand in another field too. */
const LEFT_OUT =
  /^(?:UID|DTSTAMP|SEQUENCE|CREATED|LAST-MODIFIED|TRANSP|PRODID|VERSION|REV|CLASS|N|PHOTO|LOGO|SOUND|KEY|ATTACH|DURATION|X-.*)$/;
const LINE = /^(?:[\w-]{1,60}\.)?([\w-]{1,60})((?:;(?:"[^"\n]*"|[^":;\n])*)*):(.*)$/;
/** A day, or a time with or without the mark of UTC. */
const TIME = /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})(Z)?)?$/;
const NAMES: Readonly<Record<string, string>> = {
  SUMMARY: "",
  FN: "",
  DTSTART: "From",
  DTEND: "To",
  TEL: "Telephone",
  ADR: "Address",
  BDAY: "Birthday",
  ORG: "Organization",
  RRULE: "Repeated",
};

export const isCards = (text: string): boolean => /^\ufeff?\s*BEGIN:V(?:CALENDAR|CARD)\s/i.test(text);

/** Each appointment, task or contact as a paragraph, a line per field. A file with one appointment is of its time. */
export function readCards(source: string): ReadDocument {
  const lines = source
    .replace(/\r\n?/g, "\n")
    .replace(/\n[ \t]/g, "")
    .split("\n");
  const blocks: Block[] = [];
  const times: (number | undefined)[] = [];
  const open: string[] = [];
  let fields: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const [, rawName = "", parameters = "", rest = ""] = LINE.exec(lines[at] ?? "") ?? [];
    const name = rawName.toUpperCase();
    const isQuoted = /;(?:ENCODING=)?QUOTED-PRINTABLE/i.test(parameters);
    let value = rest;
    if (isQuoted)
      while (value.endsWith("=") && at + 1 < lines.length)
        value = value.slice(0, -1) + (lines[(at += 1)] ?? "");
    if (name === "BEGIN") open.push(value.trim().toUpperCase());
    else if (name === "END") {
      if (KEPT.test(open.pop() ?? "") && fields.length > 0) {
        blocks.push({ type: "paragraph", text: fields.join("\n") });
        fields = [];
      }
    } else if (KEPT.test(open.at(-1) ?? "") && name !== "" && !LEFT_OUT.test(name)) {
      if (name === "DTSTART") times.push(cleanDate(timeIn(value)?.replace(" UTC", "Z")));
      const text = cleanText(shownValue(name, parameters, isQuoted ? decoded(value) : value)).trim();
      const label = NAMES[name] ?? name.slice(0, 1) + name.slice(1).toLowerCase();
      if (text === "") continue;
      // What it is about comes first.
      if (label === "") fields.unshift(text);
      else fields.push(`${label}: ${text}`);
    }
  }
  return { blocks, occurredAt: times.length === 1 ? times[0] : undefined };
}

function shownValue(name: string, parameters: string, value: string): string {
  const parameter = (key: string) =>
    new Map(parameters.split(";").map((one) => one.split("=", 2) as [string, string])).get(key);
  const zone = parameter("TZID");
  const time = timeIn(value);
  if (time !== undefined) return zone === undefined ? time : `${time} (${zone})`;
  const person = parameter("CN")?.replaceAll('"', "");
  const plain = value
    .replace(/^(?:mailto|tel):/i, "")
    .replace(/(?<!\\);+/g, (signs) => (name === "RRULE" ? signs : ", "))
    .replace(/\\n/gi, "\n")
    .replace(/\\([,;\\])/g, "$1")
    .replace(/^(?:, )+|(?:, )+$/g, "");
  return person === undefined ? plain : `${person} <${plain}>`;
}

/** As ISO 8601 writes it. */
function timeIn(value: string): string | undefined {
  const [whole, year, month, day, hour, minute, , isUtc] = TIME.exec(value.trim()) ?? [];
  if (whole === undefined) return undefined;
  return `${year}-${month}-${day}${hour === undefined ? "" : ` ${hour}:${minute}`}${isUtc === undefined ? "" : " UTC"}`;
}

/** Quoted-printable in UTF-8. */
const decoded = (value: string): string =>
  Buffer.from(
    value.replace(/=([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  ).toString("utf8");
