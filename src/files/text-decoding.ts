import { isAscii, isUtf8 } from "node:buffer";
import { TextDecoder } from "node:util";
import { analyse } from "chardet";

/** Length of a page's beginning that is searched for its encoding (HTML standard: 1024; pages put it later). */
const PRESCAN_BYTES = 4_096;
/** Enough text to detect its encoding. */
const SAMPLE_BYTES = 65_536;

export interface Decoded {
  readonly text: string;
  /** Present where only statistics tell the encoding: its name, and how sure that is, from 0 to 1. */
  readonly guess?: { readonly encoding: string; readonly confidence: number };
}

/**
 * The text of bytes in any encoding the platform knows.
 *
 * A byte order mark decides, then bytes that are UTF-8 with more than ASCII (no other encoding looks so by chance), then
 * what is declared, then the statistics of the bytes; at last windows-1252, which every byte fits.
 */
export function decode(bytes: Uint8Array, declared?: string): Decoded {
  const decoder = decoderFor(bytes, declared);
  if (decoder !== undefined) return { text: textBy(decoder, bytes) };
  const mixed = decodeMostlyUtf8(bytes);
  if (mixed !== undefined) return mixed;
  const guess = guessEncoding(bytes);
  return { text: textBy(new TextDecoder(guess.encoding), bytes), guess };
}

const UNREADABLE = /\ufffd/g;
const charactersOf = (text: string) => {
  const bad = (text.match(UNREADABLE) ?? []).length;
  return { bad, good: (text.match(/[^\0-\x7f]/gu) ?? []).length - bad };
};

/** UTF-8 with lines of another encoding among it, as logs have, or with a character that was cut off; undefined for all else. */
function decodeMostlyUtf8(bytes: Uint8Array): Decoded | undefined {
  const { good, bad } = charactersOf(new TextDecoder().decode(bytes));
  if (good < bad) return undefined;
  const lines = Buffer.from(bytes).toString("latin1").split("\n");
  const read = lines.map((line) => {
    const part = Buffer.from(line, "latin1");
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(part);
    const found = charactersOf(text);
    if (found.bad <= found.good) return text.replace(UNREADABLE, "");
    return textBy(new TextDecoder(guessEncoding(part).encoding), part);
  });
  return { text: read.join("\n"), guess: { encoding: "utf-8", confidence: good / (good + bad) } };
}

/** As `decode`, but undefined where only statistics tell the encoding. */
export function decodeSurely(bytes: Uint8Array, declared?: string): string | undefined {
  const decoder = decoderFor(bytes, declared);
  return decoder === undefined ? undefined : textBy(decoder, bytes);
}

/** The text of a part of a stream; the last has no `stream`. */
export const textBy = (
  decoder: TextDecoder,
  bytes: Uint8Array = new Uint8Array(),
  options?: { readonly stream: boolean },
): string =>
  decoder.encoding === "windows-1252" ? decodeWindows1252(bytes) : decoder.decode(bytes, options);

/** The characters of 0x80 to 0x9f, where windows-1252 is not Latin-1. */
const WINDOWS_1252 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

/** Node's own decoder reads it as Latin-1 (20.x, 22.x), which loses quotation marks and dashes. */
const decodeWindows1252 = (bytes: Uint8Array): string =>
  withWindowsCharacters(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1"));

/** A text that was read as Latin-1, with the characters of windows-1252 in the place of control characters. */
export const withWindowsCharacters = (text: string): string =>
  text.replace(/[\u0080-\u009f]/g, (character) => WINDOWS_1252[character.charCodeAt(0) - 0x80] ?? character);

/** The encoding that a page declares in a `meta` element or an XML declaration. */
export function declaredInMarkup(bytes: Uint8Array): string | undefined {
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, PRESCAN_BYTES));
  const found =
    /<meta\b[^>]{0,500}?\bcharset\s*=\s*["']?\s*([\w-]{2,40})/i.exec(head) ??
    /^\s*<\?xml\b[^>]{0,200}?\bencoding\s*=\s*["']([\w-]{2,40})/i.exec(head);
  // A page whose declaration can be read as ASCII is not UTF-16, even if it declares it (HTML standard).
  return found?.[1]?.toLowerCase().replace(/^utf-?16.*/, "utf-8");
}

/** The encoding of text in UTF-16, by its mark, or by every second byte that is mostly zero; undefined for all else. */
export function looksLikeUtf16(bytes: Uint8Array): "utf-16le" | "utf-16be" | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  const sample = bytes.subarray(0, 1_024);
  if (sample.length < 4) return undefined;
  let even = 0;
  let odd = 0;
  for (let at = 0; at + 1 < sample.length; at += 2) {
    if (sample[at] === 0) even += 1;
    if (sample[at + 1] === 0) odd += 1;
  }
  const pairs = sample.length >> 1;
  if (odd > pairs * 0.4 && even < pairs * 0.05) return "utf-16le";
  if (even > pairs * 0.4 && odd < pairs * 0.05) return "utf-16be";
  return undefined;
}

/** Encodings that are tried though the statistics do not name them. */
const ALSO_TRIED = ["windows-1252", "windows-1251", "koi8-u", "ibm866", "windows-1250"];
/** What an encoding has that the statistics do not name, in percent. */
const UNNAMED = 5;

/** The encoding that fits best: by the statistics of the bytes, and by how the words look that it makes of them. */
export function guessEncoding(bytes: Uint8Array): NonNullable<Decoded["guess"]> {
  const sample = sampleOf(bytes);
  const named = analyse(sample).filter(({ name, confidence }) => confidence > 0 && name !== "UTF-8");
  const all = [...named, ...ALSO_TRIED.map((name) => ({ name, confidence: 0 }))];
  let best = { encoding: "windows-1252", confidence: 0, fit: 0 };
  for (const { name, confidence } of all) {
    try {
      const decoder = new TextDecoder(name.toLowerCase(), { fatal: true });
      // A stream may end within a character, as a sample does.
      const text = textBy(decoder, sample, { stream: true });
      const fit = (confidence + UNNAMED) * (1 - oddShare(text)) ** 4;
      if (fit > best.fit) best = { encoding: decoder.encoding, confidence: confidence / 100, fit };
    } catch {
      // Not a name that the platform knows, or bytes that it has no character for.
    }
  }
  return { encoding: best.encoding, confidence: best.confidence };
}

const SCRIPTS = ["Latin", "Greek", "Cyrillic", "Hebrew", "Arabic", "Hangul"].map(
  (name) => new RegExp(String.raw`\p{Script=${name}}`, "u"),
);
/** Controls, half-width kana, lines of boxes, rare signs, and signs beside a letter, a capital behind a small letter. */
const ODD =
  /[\u0080-\u009f\u2500-\u259f\uff61-\uff9f†‡ˆ˜ƒ‰¼½¾]|\p{L}[\p{S}¤§¨¯¦¹²³ª¬±¶·¸¿¡]|[\p{S}¤§¨¯¦¬±¶·¸]\p{L}|\p{Ll}\p{Lu}/u;
/** Of areas and volumes. */
const UNITS = /(?<!\p{L})[cdkm]?m[²³]/gu;
/** What stands between words; signs and controls may be letters that were read wrong. */
const BETWEEN = /[^\p{L}\p{M}\p{S}\u0080-\u00a0\u00a2-\u00aa\u00ac-\u00ba\u00bc-\u00be]+/u;

/** The share of words with more than ASCII that nobody writes: of letters of two scripts, or with signs between letters. */
function oddShare(text: string): number {
  const words = text
    .replace(UNITS, " ")
    .split(BETWEEN)
    .filter((word) => /[^\0-\x7f]/.test(word));
  const odd = words.filter(
    (word) => ODD.test(word) || SCRIPTS.filter((script) => script.test(word)).length > 1,
  );
  return odd.length / Math.max(1, words.length);
}

/** Undefined where neither the bytes nor a declaration tell it. */
function decoderFor(bytes: Uint8Array, declared: string | undefined): TextDecoder | undefined {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return new TextDecoder("utf-8");
  const utf16 = looksLikeUtf16(bytes);
  if (utf16 !== undefined) return new TextDecoder(utf16);
  if (isAscii(bytes)) {
    const sample = Buffer.from(bytes.subarray(0, SAMPLE_BYTES)).toString("latin1");
    // Behind an escape; that of colours in a terminal goes on otherwise.
    const switchesSets = sample.includes("\x1b$") || sample.includes("\x1b(");
    return new TextDecoder(switchesSets ? "iso-2022-jp" : "utf-8");
  }
  if (isUtf8(bytes)) return new TextDecoder("utf-8");
  return decoderNamed(declared);
}

/** The bytes around the first one that is not ASCII. */
function sampleOf(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((byte) => byte > 0x7f);
  const start = Math.max(0, first - 1_024);
  return bytes.subarray(start, start + SAMPLE_BYTES);
}

function decoderNamed(name: string | undefined): TextDecoder | undefined {
  // UTF-8 was ruled out, and names that are no web labels.
  if (name === undefined || /^utf-?8$/i.test(name)) return undefined;
  try {
    return new TextDecoder(name.toLowerCase());
  } catch {
    return undefined;
  }
}

/** A percent-encoded text as it was before; as it stands where it cannot be decoded. */
export function decodedAddress(address: string): string {
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
}
