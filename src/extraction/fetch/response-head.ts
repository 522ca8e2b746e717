const MAX_FILENAME_LENGTH = 256;
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const MEDIA_TYPE = new RegExp(`^\\s*(${TOKEN}/${TOKEN})\\s*(?:;|$)`);
const CHARSET = /;\s*charset\s*=\s*(?:"\s*)?([\w.:+-]{1,64})/i;
const DISPOSITION_NAME = /;\s*(filename\*?)\s*=\s*("(?:[^"\\]|\\.)*"|[^;]*)/gi;
/** Control characters, and those that make a name read otherwise than it is. */
const DECEIVING = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** The type of a `Content-Type` in lower case; null where it is missing or malformed. */
export function mediaTypeOf(contentType: string | undefined): string | null {
  return MEDIA_TYPE.exec(contentType ?? "")?.[1]?.toLowerCase() ?? null;
}

export function charsetOf(contentType: string | undefined): string | null {
  return CHARSET.exec(contentType ?? "")?.[1]?.toLowerCase() ?? null;
}

/** The length that the server promises; null where it does not. */
export function lengthOf(length: string | undefined): number | null {
  return length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : null;
}

/** What the server calls the document, else the last part of the URL's path; null where neither names it. */
export function filenameOf(contentDisposition: string | undefined, url: URL): string | null {
  return (
    dispositionName(contentDisposition ?? "") ?? cleanName(decoded(url.pathname.split("/").at(-1) ?? ""))
  );
}

/** RFC 6266: `filename*` before `filename`. */
function dispositionName(disposition: string): string | null {
  const values = new Map<string, string>();
  for (const [, name = "", value = ""] of disposition.matchAll(DISPOSITION_NAME)) {
    values.set(name.toLowerCase(), unquoted(value.trim()));
  }
  return (
    cleanName(extendedValue(values.get("filename*") ?? "")) ??
    cleanName(utf8OfLatin1(values.get("filename") ?? ""))
  );
}

function unquoted(value: string): string {
  return value.startsWith('"') ? value.replace(/^"|"$/g, "").replace(/\\(.)/g, "$1") : value;
}

/** RFC 8187: `charset'language'percent-encoded`. */
function extendedValue(value: string): string {
  const [, charset = "", encoded = ""] = /^(utf-8|iso-8859-1)'[^']*'(.*)$/i.exec(value) ?? [];
  if (charset.toLowerCase() === "utf-8") return decoded(encoded);
  return encoded.replace(/%([0-9a-f]{2})/gi, (_match, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** Node reads headers as Latin-1, while servers that send more than ASCII mean UTF-8. */
export function utf8OfLatin1(value: string): string {
  const bytes = Buffer.from(value, "latin1");
  const text = bytes.toString("utf8");
  return text.includes("\ufffd") ? value : text;
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

function cleanName(name: string): string | null {
  const base = name.normalize("NFC").replace(DECEIVING, "").trim().split(/[\\/]/).at(-1)?.trim() ?? "";
  if (/^\.*$/.test(base)) return null;
  const characters = Array.from(base);
  if (characters.length <= MAX_FILENAME_LENGTH) return base;
  const extension = Array.from(/\.[^.]{1,16}$/.exec(base)?.[0] ?? "");
  return [...characters.slice(0, MAX_FILENAME_LENGTH - extension.length), ...extension].join("");
}
