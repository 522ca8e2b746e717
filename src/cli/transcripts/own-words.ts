import { fold } from "../../core/text/fold.ts";
import { fromLanguages } from "../../core/text/languages.ts";

/** Names of blocks that agents put into a person's message; any name with `-` or `_` is one too. */
const BLOCK_NAMES = new Set(["instructions", "context", "caveat", "file", "document", "image"]);
const OPENING = /<([A-Za-z][\w-]{1,40})(?:\s[^<>]{0,200})?>/g;
/** Searches for the end of a block in one message. */
const MAX_BLOCKS = 500;
const MAX_LINES = 2_000;
/** Longer text is a paste, and only its beginning is the person's. */
const MAX_LINE_CHARS = 1_200;
const MAX_CHARS = 12_000;

/**
 * The lines of a message that a person wrote: without what agents and hooks injected, what memory answered (which
 * stands between lines with a mark), code in fences, quotes, and marks of pictures.
 */
export function ownWords(message: string): string[] {
  const lines = withoutBlocks(message.slice(0, MAX_CHARS * 4)).split(/\r?\n/, MAX_LINES);
  const ends = new Set(lines.flatMap((line) => /^\[end ([\w-]{4,64})\]/.exec(line.trim())?.[1] ?? []));
  const own: string[] = [];
  let mark: string | undefined;
  let isCode = false;
  let chars = 0;
  for (const line of lines) {
    const text = line.trim();
    if (mark !== undefined) {
      if (text.startsWith(`[end ${mark}]`)) mark = undefined;
      continue;
    }
    const opened = /^\[[a-z]{1,20} ([\w-]{4,64})[\] ]/.exec(text)?.[1];
    if (opened !== undefined && ends.has(opened)) {
      mark = opened;
      continue;
    }
    if (/^(?:```|~~~)/.test(text)) {
      isCode = !isCode;
      continue;
    }
    if (isCode || /^(?:\t| {4}|>|\[Request interrupted|\[Image|# AGENTS\.md)/.test(line)) continue;
    if (/between lines with the mark/.test(text) || text === "" || text.length > MAX_LINE_CHARS) continue;
    chars += text.length;
    if (chars > MAX_CHARS) break;
    own.push(text.replaceAll(/\[(?:Image|Pasted text) #\d{1,4}[^\]]{0,40}\]/g, "").trim());
  }
  return own.filter((text) => text !== "");
}

const PRAISE = fromLanguages(
  (languages) => new Set(languages.flatMap(({ statement }) => statement?.praise ?? [])),
);

/** Thanks and praise, and nothing else: "thanks, great job". */
export const isPraise = (text: string): boolean =>
  (fold(text).match(/[\p{L}'’]+/gu) ?? []).every((word) => PRAISE().has(word.replace("’", "'")));

function withoutBlocks(message: string): string {
  let text = "";
  let from = 0;
  let searches = 0;
  for (const { 0: tag, 1: name = "", index } of message.matchAll(OPENING)) {
    if (index < from || (!/[-_]/.test(name) && !BLOCK_NAMES.has(name.toLowerCase()))) continue;
    searches += 1;
    if (searches > MAX_BLOCKS) break;
    const end = message.indexOf(`</${name}>`, index + tag.length);
    // One that does not end is a tag that the person wrote about.
    if (end < 0) continue;
    text += message.slice(from, index);
    from = end + name.length + 3;
  }
  return text + message.slice(from);
}
