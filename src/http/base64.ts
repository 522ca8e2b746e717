import { invalid } from "./memory-input.ts";

const PREFIX = /^data:[^,]{0,1000},/i;
const HINT = "to send text as it is, use POST /ingest with `text`";

/**
 * The bytes of strict base64, but for line breaks, the URL alphabet, missing padding and a `data:` prefix.
 *
 * @throws {ServiceError} INVALID_REQUEST for anything else: reading past it would take in other bytes than were meant.
 */
export function decodeBase64(data: string): Buffer {
  const prefix = PREFIX.exec(data)?.[0];
  if (prefix !== undefined && !/;base64,$/i.test(prefix)) throw invalid("/data", `must be base64; ${HINT}`);
  const plain = data
    .slice(prefix?.length ?? 0)
    .replaceAll(/[\r\n]+/g, "")
    .replaceAll("-", "+")
    .replaceAll("_", "/")
    .trim();
  const digits = plain.replace(/={1,2}$/, "");
  const isPadded = digits.length < plain.length;
  if (!/^[A-Za-z0-9+/]*$/.test(digits) || digits.length % 4 === 1 || (isPadded && plain.length % 4 !== 0)) {
    throw invalid("/data", `must be base64; ${HINT}`);
  }
  return Buffer.from(digits, "base64");
}
