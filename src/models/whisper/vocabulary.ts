import { unprocessable } from "../../core/errors.ts";

/** The meaning of Whisper's tokens. Tokens below `endOfText` are text, those from `firstTime` on are times. */
export interface Vocabulary {
  readonly endOfText: number;
  readonly start: number;
  readonly transcribe: number;
  readonly noSpeech: number;
  /** The start of the window; each further one is a `TIME_STEP` later. */
  readonly firstTime: number;
  /** Never written, and never written first. */
  readonly suppressed: readonly number[];
  readonly suppressedFirst: readonly number[];
  /** Whisper's own codes. */
  readonly languages: ReadonlyMap<string, number>;
  /** By text token; a character may be spread over several. */
  readonly bytes: readonly Uint8Array[];
}

/** Reads `vocab.json`, whose layout `data/models/whisper-base/MODEL.md` describes. @throws {TypeError} for another layout. */
export function readVocabulary(json: string): Vocabulary {
  const fields = JSON.parse(json) as Readonly<Record<string, unknown>>;
  const { languages, tokens } = fields;
  if (typeof languages !== "object" || languages === null || typeof tokens !== "string")
    throw new TypeError("it has no languages or no tokens");
  const bytes = tokens.split(" ").map((token) => Buffer.from(token, "base64"));
  const vocabulary = {
    endOfText: numberAt(fields, "eot"),
    start: numberAt(fields, "sot"),
    transcribe: numberAt(fields, "transcribe"),
    noSpeech: numberAt(fields, "no_speech"),
    firstTime: numberAt(fields, "timestamp_begin"),
    suppressed: numbersAt(fields, "suppress").filter((id) => id >= 0),
    suppressedFirst: numbersAt(fields, "suppress_begin"),
    languages: new Map(Object.entries(languages as Record<string, number>)),
    bytes,
  };
  if (bytes.length !== vocabulary.endOfText)
    throw new TypeError("it has not the number of tokens that it states");
  return vocabulary;
}

/** The text of the text tokens among `ids`, without blank ends. */
export function textOf(vocabulary: Vocabulary, ids: readonly number[]): string {
  const bytes = ids.filter((id) => id < vocabulary.endOfText).map((id) => vocabulary.bytes[id] ?? EMPTY);
  // A part of a cut character is not text.
  return Buffer.concat(bytes).toString("utf8").replaceAll("\ufffd", "").trim();
}

const EMPTY = new Uint8Array(0);

function numberAt(fields: Readonly<Record<string, unknown>>, key: string): number {
  const value = fields[key];
  if (typeof value !== "number") throw new TypeError(`it has no number "${key}"`);
  return value;
}

function numbersAt(fields: Readonly<Record<string, unknown>>, key: string): number[] {
  const value = fields[key];
  if (!Array.isArray(value)) throw new TypeError(`it has no list "${key}"`);
  return value.map(Number);
}

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
export const tagOf = (code: string): string => TAG_OF_CODE[code] ?? code;

/** Whisper's code of a BCP 47 tag or an English name. @throws {ServiceError} UNPROCESSABLE. */
export function codeOf(language: string, { languages }: Vocabulary): string {
  const given = language.trim().toLowerCase();
  const primary = given.split(/[-_]/, 1)[0] ?? "";
  const code = CODE_OF_TAG[primary] ?? primary;
  if (languages.has(code)) return code;
  const codes = Array.from(languages.keys());
  const named = codes.find((known) => NAMES.of(tagOf(known))?.toLowerCase() === given);
  if (named !== undefined) return named;
  throw unprocessable(
    `The language "${language}" is not known. Leave it out to have it detected, or use one of ${codes.map(tagOf).sort().join(", ")}.`,
  );
}
