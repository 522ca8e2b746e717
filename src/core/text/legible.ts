/** Texts that are none for people: data in letters, and markup without words. */

/** Shorter texts are read whatever they are. */
const MIN_ILLEGIBLE_CHARS = 2_000;
/** Kinds of text that are not for people: their parts, and the least share of these in the characters that are no white space. */
const ILLEGIBLE: readonly (readonly [what: string, share: number, parts: RegExp])[] = [
  ["data in base64 or hexadecimal", 0.6, /[\w+/=-]{70,2000}|^[\w+/=-]{60,69}$/gm],
  [
    "a dump of bytes",
    0.7,
    /^[\da-f]{6,16}:?(?: +[\da-f]{2,8}){4,}.*$|(?<![^\s:|])(?:[\da-f]{2}){1,4}(?![^\s:|])/gim,
  ],
  ["a file in uuencode", 0.7, /^M[!-`]{60}$/gm],
  ["markup", 0.85, /<[^<>]{1,10000}>/g],
];

/** Bytes and markup have letters; what looks like them without is a table of numbers. */
const MIN_LETTERED_SHARE = 0.1;

/** Before a picture, font, sound or video that stands in a text as an address, as editors write it into Markdown. */
const DATA_ADDRESS =
  /(\bdata:(?:(?:image|font|audio|video)\/[\w.+-]{1,80}|application\/(?:octet-stream|[\w.+-]{0,40}font[\w.+-]{0,40}))(?:;[\w=-]{1,40})?;base64,)/;
/** The data behind it, in parts: an expression without bounds passes the stack. */
const DATA = /[\w+/%-]{1,4096}/y;
/** Shorter data stays in its text. */
const MIN_DATA_CHARS = 1_000;

/** A text without the pictures, fonts, sound and video of 1 000 characters or more that stand in it as addresses. */
export function withoutData(text: string): string {
  const parts = text.split(DATA_ADDRESS);
  for (let i = 1; i < parts.length; i += 2) {
    const part = parts[i + 1] as string;
    let end = 0;
    for (DATA.lastIndex = 0; DATA.test(part);) end = DATA.lastIndex;
    if (end < MIN_DATA_CHARS) continue;
    while (part[end] === "=") end += 1;
    parts.splice(i, 2, "", part.slice(end));
  }
  return parts.join("");
}

/** Names the data that most of a text is; undefined for a text for people. */
export function illegible(text: string): string | undefined {
  const charsOf = (part: string) => part.replace(/\s+/g, "").length;
  const chars = charsOf(text);
  if (chars < MIN_ILLEGIBLE_CHARS) return undefined;
  return ILLEGIBLE.find(([, share, parts]) => {
    // Letters alone are a sequence of genes, or a long word.
    const found = (text.match(parts) ?? []).filter((part) => part.startsWith("<") || /\d/.test(part));
    if (found.filter((part) => /[a-z]/i.test(part)).length < found.length * MIN_LETTERED_SHARE) return false;
    return found.reduce((sum, part) => sum + charsOf(part), 0) > share * chars;
  })?.[0];
}
