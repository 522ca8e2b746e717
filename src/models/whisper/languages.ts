import { ServiceError } from "../../core/errors.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Whisper's codes that differ from BCP 47. */
const TAG_OF_CODE: Readonly<Record<string, string>> = { jw: "jv" };
/** Other tags of what Whisper knows: Bokmål, Filipino, and older codes of Hebrew, Indonesian and Yiddish. */
const CODE_OF_TAG: Readonly<Record<string, string>> = {
  jv: "jw",
  nb: "no",
  fil: "tl",
  iw: "he",
  in: "id",
  ji: "yi",
};

const NAMES = new Intl.DisplayNames("en", { type: "language" });

/** The BCP 47 primary tag of one of Whisper's codes. */
export function tagOf(code: string): string {
  return TAG_OF_CODE[code] ?? code;
}

/**
 * Whisper's code of a language that is given by a BCP 47 tag, of which the primary part counts, or its English name.
 *
 * @throws {ServiceError} UNPROCESSABLE, listing the known ones, for any other.
 */
export function codeOf(language: string, { languages }: Vocabulary): string {
  const given = language.trim().toLowerCase();
  const primary = given.split(/[-_]/, 1)[0] ?? "";
  const code = CODE_OF_TAG[primary] ?? primary;
  if (languages.has(code)) return code;
  const codes = Array.from(languages.keys());
  const named = codes.find((known) => NAMES.of(tagOf(known))?.toLowerCase() === given);
  if (named !== undefined) return named;
  throw new ServiceError(
    "UNPROCESSABLE",
    `The language "${language}" is not known. Leave it out to have it detected, or use one of ${codes.map(tagOf).sort().join(", ")}.`,
  );
}
