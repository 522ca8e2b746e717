import { pipeline, Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import { fetchFailed } from "../../core/errors.ts";
import { decodedAddress } from "../../files/text-decoding.ts";

const MAX_FILENAME_LENGTH = 256;
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const MEDIA_TYPE = new RegExp(`^\\s*(${TOKEN}/${TOKEN})\\s*(?:;|$)`);
const DISPOSITION_NAME = /;\s*(filename\*?)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]*))/gi;
/** RFC 8187: `charset'language'percent-encoded`. */
const EXTENDED_VALUE = /^(utf-8|iso-8859-1)'[^']*'(.*)$/i;
/** Control characters, and those that make a name read otherwise than it is. */
const DECEIVING = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** The type of a `Content-Type` in lower case; null where it is missing or malformed. */
export const mediaTypeOf = (contentType: string | undefined): string | null =>
  MEDIA_TYPE.exec(contentType ?? "")?.[1]?.toLowerCase() ?? null;

/** The length that the server promises; null where it does not. */
export const lengthOf = (length: string | undefined): number | null =>
  length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : null;

/** The name of the document by the header (RFC 6266), else the last part of the URL's path; null for neither. */
export function filenameOf(contentDisposition: string | undefined, url: URL): string | null {
  const values = new Map<string, string>();
  for (const [, name = "", quoted, plain = ""] of (contentDisposition ?? "").matchAll(DISPOSITION_NAME))
    values.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, "$1") ?? plain.trim());
  const [, charset = "", encoded = ""] = EXTENDED_VALUE.exec(values.get("filename*") ?? "") ?? [];
  return (
    cleanName(charset.toLowerCase() === "utf-8" ? decodedAddress(encoded) : latin1(encoded)) ??
    cleanName(utf8OfLatin1(values.get("filename") ?? "")) ??
    cleanName(decodedAddress(url.pathname.split("/").at(-1) ?? ""))
  );
}

/** Node reads headers as Latin-1, while servers that send more than ASCII mean UTF-8. */
export function utf8OfLatin1(value: string): string {
  const text = Buffer.from(value, "latin1").toString("utf8");
  return text.includes("\ufffd") ? value : text;
}

const latin1 = (encoded: string): string =>
  encoded.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

function cleanName(name: string): string | null {
  const base = name.normalize("NFC").replace(DECEIVING, "").trim().split(/[\\/]/).at(-1)?.trim() ?? "";
  if (/^\.*$/.test(base)) return null;
  const extension = /\.[^.]{1,16}$/.exec(base)?.[0] ?? "";
  const characters = Array.from(base);
  if (characters.length <= MAX_FILENAME_LENGTH) return base;
  return characters.slice(0, MAX_FILENAME_LENGTH - extension.length).join("") + extension;
}

/** Encodings that `decodeContent` supports, for the request. */
export const ACCEPTED_ENCODINGS = "gzip, deflate, br";

/**
 * The body without its content encoding, piece by piece; its length is for the caller to limit.
 * @throws {ServiceError} FETCH_FAILED for an encoding that was not asked for; zlib's errors for damage.
 */
export async function* decodeContent(
  wire: AsyncIterable<Uint8Array>,
  contentEncoding: string | undefined,
): AsyncGenerator<Uint8Array> {
  const encoding = (contentEncoding ?? "").trim().toLowerCase();
  if (encoding === "" || encoding === "identity") return yield* wire;
  const arriving = wire[Symbol.asyncIterator]();
  const first = await arriving.next();
  // An empty body is not compressed, whatever its header says.
  if (first.done === true) return;
  const packed = async function* () {
    for (let next: IteratorResult<Uint8Array> = first; next.done !== true; next = await arriving.next())
      yield next.value;
  };
  const decoder = decoderFor(encoding, first.value);
  // Errors reach the reader through the decoder, which is destroyed with them.
  yield* pipeline(Readable.from(packed(), { objectMode: false }), decoder, () => {});
}

function decoderFor(encoding: string, first: Uint8Array): Transform {
  switch (encoding) {
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "br":
      return createBrotliDecompress();
    case "deflate":
      // Zlib's format by the standard; some servers leave its header out.
      return ((first[0] ?? 0) & 0x0f) === 0x08 ? createInflate() : createInflateRaw();
    default:
      throw fetchFailed("The page was sent in a content encoding that was not asked for.");
  }
}
