import type { Block, ExtractedDocument, ExtractionLimits } from "../../core/documents/extraction.ts";
import { type ServiceError, tooLarge } from "../../core/errors.ts";

/** The text of a document and the metadata that it holds of itself, by the reader of one format. */
export type ReadDocument = Pick<ExtractedDocument, "blocks"> & {
  readonly [
    K in Exclude<
      keyof ExtractedDocument,
      "blocks" | "kind" | "mediaType" | "method" | "charCount" | "soundTrack"
    >
  ]?: ExtractedDocument[K] | undefined;
};

/** Characters that mean nothing in text: controls but \t and \n, soft hyphens, byte order marks, lone surrogates. */
// oxlint-disable-next-line no-control-regex
const NOISE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\ufeff\ufffe\uffff]|\p{Cs}/gu;

/** Colours and other orders to a terminal, as logs have them. */
// oxlint-disable-next-line no-control-regex
const TERMINAL_ORDERS = /\u001b\[[\d;?]{0,20}[A-Za-z]/g;

/** Spaces of other widths, and separators of lines and paragraphs. */
const ODD_SPACES = /[\u00a0\u2000-\u200a\u202f\u205f]/g;
// oxlint-disable-next-line no-control-regex
const ODD_BREAKS = /\r\n?|[\u2028\u2029\u000b\u000c\u0085]/g;

/** Latin ligatures are letters drawn together; as one character no search finds the word. */
const LIGATURES = /[\ufb00-\ufb06]/g;

/** Longest title, author or address that is kept. */
const MAX_METADATA_CHARS = 1_000;

/** Text without control characters, with plain spaces and `\n`, ligatures as letters, composed (NFC). Keeps indentation. */
export function cleanText(text: string): string {
  return text
    .replace(ODD_BREAKS, "\n")
    .replace(TERMINAL_ORDERS, "")
    .replace(NOISE, "")
    .replace(ODD_SPACES, " ")
    .replace(LIGATURES, (ligature) => ligature.normalize("NFKC"))
    .normalize("NFC");
}

/** Same as `cleanText`, in one line. */
export const cleanLine = (text: string): string => cleanText(text).replace(/\s+/g, " ").trim();

/** Code without empty lines before it and white space behind it. */
export const withoutEmptyEnds = (code: string): string => code.replace(/^(?:[ \t]*\n)+|(?<!\s)\s+$/g, "");

/** A field of a document's metadata, or undefined when nothing is left of it. */
export function cleanField(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const line = cleanLine(value);
  if (line.length === 0) return undefined;
  return line.length <= MAX_METADATA_CHARS ? line : line.slice(0, MAX_METADATA_CHARS - 1).trimEnd() + "…";
}

/** Epoch milliseconds of an ISO 8601 or RFC 1123 date between 1400 and 9999; without an offset UTC. */
export function cleanDate(value: unknown): number | undefined {
  const text = cleanField(value);
  if (text === undefined || !/\d{4}/.test(text)) return undefined;
  const [day] = /^\d{4}-\d{2}-\d{2}/.exec(text) ?? [];
  // Another day than is written would be made up: there is no 30 February, and the year 0001 is not 2001.
  if (day !== undefined && !new Date(cleanTime(Date.parse(day)) ?? Number.NaN).toJSON()?.startsWith(day))
    return undefined;
  // With the letter between day and time `Date.parse` takes no offset of two digits.
  return cleanTime(Date.parse(text.replace(/(?<=\d)T(?=\d)/, " ") + (KNOWS_OFFSET.test(text) ? "" : " UTC")));
}

/** A day in ISO 8601, an offset behind a time, or the name of one. For all else `Date.parse` would take the machine's. */
const KNOWS_OFFSET =
  /^\d{4}(?:-\d{2}){0,2}$|:\d{2}(?:\.\d+)?(?: ?[AP]M)? ?[+-]\d|(?<![a-z(])(?:Z|UTC|GMT|[ECMP][SD]T)(?![a-z])/i;

/** Epoch milliseconds if they are whole and between 1400 and 9999. */
export function cleanTime(time: number): number | undefined {
  const isUsual = Number.isInteger(time) && time >= Date.UTC(1400, 0, 1) && time < Date.UTC(10_000, 0, 1);
  return isUsual ? time : undefined;
}

/** A BCP 47 tag in its canonical form; undefined for what is none. */
export function cleanLanguage(value: unknown): string | undefined {
  const tag = cleanField(value)?.replaceAll("_", "-").split(/[,;]/)[0]?.trim();
  if (tag === undefined || !/^[a-z]{2,3}(?:-|$)/i.test(tag)) return undefined;
  try {
    const [canonical] = Intl.getCanonicalLocales(tag);
    return canonical === "und" ? undefined : canonical;
  } catch {
    return undefined;
  }
}

/** The error for a document with more text than its limit. */
export const tooMuchText = ({ maxChars }: Pick<ExtractionLimits, "maxChars">): ServiceError =>
  tooLarge(`The document has more than ${maxChars} characters of text. Send it in parts.`);

/** Lines this much shorter than the longest were ended on purpose. */
const WRAPPED_SHARE = 0.6;
const MIN_WRAP_WIDTH = 50;
const MAX_WRAP_WIDTH = 120;

const LIST_MARK = /^[ \t]*(?:[-*•‣▪◦–]|\d{1,3}[.)])[ \t]+\S/;

/** The end of a word that groff broke: its hyphen is no other program's. */
const BROKEN_WORD = /(?<=\p{L})\u2010\n[ \t]*(\p{Ll}[^\s]*)[ \t]?/gu;
const UNDERLINE = /^([=~^*_-])\1{2,200}$/;
/** Of a page of a manual: in capitals, above lines that are indented. */
const MANUAL_HEADING = /^\p{Lu}[\p{Lu}\d ,'/()&-]{2,60}$/u;
const MANUAL_INDENT = /^ {3,}\S/;

/** The heading that a paragraph begins with, as people write one in plain text, and how many lines it takes. */
function headingOf([first = "", second = ""]: readonly string[]):
  | { heading: Block; lines: number }
  | undefined {
  const text = first.trim();
  const sign = UNDERLINE.exec(second)?.[1];
  const isUnderlined =
    sign !== undefined && Math.abs(second.length - first.length) <= 2 && !/\s{2}/.test(text);
  const isOfManual = MANUAL_HEADING.test(first) && MANUAL_INDENT.test(second);
  if (!isUnderlined && !isOfManual) return undefined;
  const level = isOfManual || sign === "=" ? 1 : 2;
  return { heading: { type: "heading", text, level }, lines: isUnderlined ? 2 : 1 };
}

/**
 * Plain text in paragraphs, which empty lines part; lines wrapped at a width are joined unless each is meant, all others stay lines.
 * Headings are lines above a line of signs, and those of manuals.
 */
export function plainTextBlocks(text: string, areLinesMeant = false): Block[] {
  return cleanText(text)
    .replace(BROKEN_WORD, "$1\n")
    .split(/\n[ \t]*(?:\n[ \t]*)+/)
    .flatMap((paragraph) => {
      const all = paragraph.split("\n").map((line) => line.trimEnd());
      const found = headingOf(all);
      const lines = all.slice(found?.lines ?? 0);
      const isOne = !areLinesMeant && isWrapped(lines);
      const joined = lines
        .map((line) => (isOne ? line.trim() : line))
        .join(isOne ? " " : "\n")
        .trim();
      return [
        ...(found === undefined ? [] : [found.heading]),
        ...(joined === "" ? [] : [{ type: "paragraph", text: joined } satisfies Block]),
      ];
    });
}

function isWrapped(lines: readonly string[]): boolean {
  if (lines.length < 2) return false;
  const widths = lines.map((line) => line.length);
  const width = Math.max(...widths);
  if (width < MIN_WRAP_WIDTH || width > MAX_WRAP_WIDTH) return false;
  if (
    lines.some(
      (line, n) =>
        LIST_MARK.test(line) || (n > 0 && /^[ \t]/.test(line)) || /\S[ \t]{2,}\S|\t/.test(line.trim()),
    )
  )
    return false;
  return widths.slice(0, -1).every((length) => length > width * WRAPPED_SHARE);
}
