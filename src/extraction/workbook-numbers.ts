/** How a workbook shows its numbers: dates are numbers with a format. */
import { elementsOf, parseHtml } from "./html-tree.ts";

export type NumberFormat = "plain" | "percent" | "date" | "elapsed";

const MS_PER_DAY = 86_400_000;
/** Day 0 of the two ways to count. Excel takes 1900 for a leap year: days before March 1900 are one later. */
const EPOCH_1900 = Date.UTC(1899, 11, 30);
const EPOCH_1904 = Date.UTC(1904, 0, 1);
const FIRST_MARCH_1900 = 61;
/** 9999-12-31. */
const LAST_DAY = 2_958_466;

/** The formats of a workbook's styles, by the number of the style (ECMA-376, 18.8.30). */
export function numberFormats(stylesXml: string): NumberFormat[] {
  const codes = new Map<number, string>();
  const formats: NumberFormat[] = [];
  for (const list of elementsOf(parseHtml(stylesXml, { isXml: true }).root)) {
    const own = list.children.filter((child) => typeof child !== "string");
    for (const { tag, attributes } of own) {
      const id = Number(attributes["numFmtId"] ?? 0);
      if (tag === "numfmt") codes.set(id, attributes["formatCode"] ?? "");
      else if (list.tag === "cellxfs" && tag === "xf") formats.push(formatOf(id, codes.get(id)));
    }
  }
  return formats;
}

function formatOf(id: number, code: string | undefined): NumberFormat {
  if (code === undefined) {
    if (id === 9 || id === 10) return "percent";
    if (id === 46) return "elapsed";
    const isDate =
      (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 58 && id !== 48 && id !== 49);
    return isDate ? "date" : "plain";
  }
  if (/\[[hms]+\]/i.test(code)) return "elapsed";
  const marks = code.replace(/"[^"]*"|\\.|\[[^[\]]*\]|_./g, "");
  if (/general/i.test(marks)) return "plain";
  if (/[ymdhs]/i.test(marks)) return "date";
  return marks.includes("%") ? "percent" : "plain";
}

/** A number as a reader takes it: `2026-11-21`, `2026-11-21 10:15`, `10:15`, `27:30`, `25.6%`, `0.3`. */
export function shownNumber(value: number, format: NumberFormat, is1904: boolean): string {
  if (!Number.isFinite(value)) return "";
  if (format === "percent") return `${exact(value * 100)}%`;
  if (format === "elapsed") return clock(Math.round(value * 86_400));
  if (format !== "date" || value < 0 || value >= LAST_DAY) return exact(value);
  if (value < 1) return clock(Math.round(value * 86_400));
  const epoch = is1904 ? EPOCH_1904 : EPOCH_1900 + (value < FIRST_MARCH_1900 - 1 ? MS_PER_DAY : 0);
  const time = new Date(Math.round((epoch + value * MS_PER_DAY) / 1_000) * 1_000).toISOString();
  const seconds = time.slice(16, 19) === ":00" ? "" : time.slice(16, 19);
  return Number.isInteger(value) ? time.slice(0, 10) : `${time.slice(0, 10)} ${time.slice(11, 16)}${seconds}`;
}

/** Hours may pass 24. */
function clock(seconds: number): string {
  const two = (part: number) => String(part).padStart(2, "0");
  const rest = Math.abs(seconds) % 60;
  const minutes = Math.floor(Math.abs(seconds) / 60);
  const sign = seconds < 0 ? "-" : "";
  return `${sign}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}${rest === 0 ? "" : `:${two(rest)}`}`;
}

/** Without the last digits of binary fractions. */
const exact = (value: number) => String(Number(value.toPrecision(15)));
