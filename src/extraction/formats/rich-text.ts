import { cleanDate, cleanField, plainTextBlocks, type ReadDocument } from "./clean-text.ts";
import { textBy } from "../../files/text-decoding.ts";

/** Groups whose text is no text of the document; so is each that begins with `\*`. */
const DESTINATIONS: ReadonlySet<string> = new Set(
  (
    "fonttbl colortbl stylesheet info pict object header headerl headerr headerf footer footerl footerr footerf listtable " +
    "listoverridetable rsidtbl generator xmlnstbl themedata colorschememapping latentstyles datastore fldinst shprslt"
  ).split(" "),
);
const SIGNS: Readonly<Record<string, string>> = {
  par: "\n",
  sect: "\n",
  page: "\n",
  row: "\n",
  line: "\n",
  cell: "\t",
  tab: "\t",
  emdash: "—",
  endash: "–",
  lquote: "‘",
  rquote: "’",
  ldblquote: "“",
  rdblquote: "”",
  bullet: "•",
  emspace: " ",
  enspace: " ",
  "~": "\u00a0",
  // TextEdit's end of a paragraph.
  "\n": "\n",
  "\r": "\n",
  _: "-",
};
/** A control word with its number, a byte in hexadecimal, a control sign, a brace, or text. */
const TOKEN = /\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([\da-f]{2})|\\([^a-z])|([{}])|([^\\{}\r\n]+)|[\r\n]+/gi;

/** A text in Rich Text Format 1.9: its paragraphs, with the title and author that it names. Pictures and formats are left out. */
export function readRichText(source: string): ReadDocument {
  const codePage = Number(/\\ansicpg(\d{1,5})/.exec(source)?.[1] ?? 1252);
  /** The code page of each font that has one of its own. */
  const fonts = new Map<number, number>();
  const pageNow = () => fonts.get(state.font) ?? codePage;
  let text = "";
  let bytes: number[] = [];
  const info: { title?: string; author?: string } = {};
  /** Of the group that is open: whether its text is left out, or deleted in a tracked change or hidden, which field of the document it is, and signs that stand for each \u. */
  let state: { isOut: boolean; isDeleted: boolean; field?: "title" | "author"; signs: number; font: number } =
    {
      isOut: false,
      isDeleted: false,
      signs: 1,
      font: Number(/\\deff(\d{1,5})/.exec(source)?.[1] ?? -1),
    };
  const outer: (typeof state)[] = [];
  let toSkip = 0;
  let isStart = false;
  const add = (part: string) => {
    if (state.field !== undefined) info[state.field] = (info[state.field] ?? "") + part;
    else if (!state.isOut && !state.isDeleted) text += part;
  };
  // A new decoder for each run of letters would take half of the time.
  const decoders = new Map<number, ReturnType<typeof decoderOf>>();
  const inPage = (codes: Uint8Array): string => {
    const page = pageNow();
    const decoder = decoders.get(page) ?? decoderOf(page);
    decoders.set(page, decoder);
    return textBy(decoder, codes);
  };
  const flush = () => {
    if (bytes.length > 0) add(inPage(Uint8Array.from(bytes)));
    bytes = [];
  };
  for (const [, word, number, hex, sign, brace, plain] of source.matchAll(TOKEN)) {
    if (hex !== undefined) {
      if (toSkip > 0) toSkip -= 1;
      else bytes.push(Number.parseInt(hex, 16));
      continue;
    }
    // The second byte of a pair may stand there as a sign.
    const second = plain ?? (sign !== undefined && "\\{}".includes(sign) ? sign : undefined);
    const isPair = second !== undefined && PAIRED[pageNow()]?.(bytes) === true;
    if (isPair) bytes.push(second.charCodeAt(0));
    flush();
    if (isPair && plain === undefined) continue;
    const isFirst: boolean = isStart;
    isStart = brace === "{" || (isFirst && sign === "*");
    if (brace === "{") outer.push({ ...state });
    else if (brace === "}") {
      state = outer.pop() ?? state;
      toSkip = 0;
    } else if (sign === "*" && isFirst) state.isOut = true;
    else if (sign !== undefined) add("\\{}".includes(sign) ? sign : (SIGNS[sign] ?? ""));
    else if (plain !== undefined) {
      const rest = plain.slice(isPair ? 1 : toSkip);
      // Some programs write letters outside ASCII as they are.
      add(/[\x80-\xff]/.test(rest) ? inPage(Buffer.from(rest, "latin1")) : rest);
      toSkip = Math.max(0, toSkip - plain.length);
    } else if (word !== undefined) {
      if (word === "f") state.font = Number(number ?? 0);
      else if (word === "fcharset") {
        const page = PAGES_OF_CHARSETS[Number(number)];
        if (page !== undefined) fonts.set(state.font, page);
      } else if (word === "uc") state.signs = Number(number ?? 1);
      else if (word === "u" && number !== undefined) {
        add(String.fromCharCode((Number(number) + 65_536) % 65_536));
        toSkip = state.signs;
      } else if (word === "deleted" || word === "v") state.isDeleted = number !== "0";
      else if (word === "plain") state.isDeleted = false;
      else if (isFirst && word === "shptxt") {
        // The text of a box, among properties of its shape.
        state.isOut = false;
        add("\n");
      } else if (isFirst && (word === "title" || word === "author")) state.field = word;
      else if (isFirst && DESTINATIONS.has(word)) state.isOut = true;
      else add(SIGNS[word] ?? "");
    }
  }
  flush();
  const times = timesIn(source);
  const [date, saved] = [times.get("creatim"), times.get("revtim")];
  return {
    blocks: plainTextBlocks(text.replace(/\n/g, "\n\n")),
    date: date ?? saved,
    occurredAt: saved ?? date,
    title: cleanField(info.title),
    author: cleanField(info.author),
  };
}

/** When a document was made and last saved, as it says, without an offset. */
const TIMES = /\\(creatim|revtim)((?:\\[a-z]{2,3}\d{1,4}){3,6})/g;

function timesIn(source: string): ReadonlyMap<string, number | undefined> {
  const times = Array.from(source.matchAll(TIMES), ([, name = "", written = ""]) => {
    const parts = new Map(
      Array.from(written.matchAll(/\\([a-z]{2,3})(\d+)/g), ([, part = "", value = ""]) => [
        part,
        value.padStart(2, "0"),
      ]),
    );
    const [year, month, day, hour = "00", minute = "00"] = ["yr", "mo", "dy", "hr", "min"].map((part) =>
      parts.get(part),
    );
    return [name, cleanDate(`${year}-${month}-${day}T${hour}:${minute}`)] as const;
  });
  return new Map(times);
}

/** Code pages by the number that a font's `\fcharset` has for its characters. */
const PAGES_OF_CHARSETS: Readonly<Record<number, number>> = {
  128: 932,
  129: 949,
  134: 936,
  136: 950,
  161: 1253,
  162: 1254,
  163: 1258,
  177: 1255,
  178: 1256,
  186: 1257,
  204: 1251,
  222: 874,
  238: 1250,
};

/** Whether bytes of a code page end with the first of a pair. */
const endsOpen =
  (isLead: (byte: number) => boolean) =>
  (bytes: readonly number[]): boolean => {
    let isOpen = false;
    for (const byte of bytes) isOpen = !isOpen && isLead(byte);
    return isOpen;
  };
const isHigh = (byte: number) => byte >= 0x81 && byte <= 0xfe;
const PAIRED: Readonly<Record<number, (bytes: readonly number[]) => boolean>> = {
  932: endsOpen((byte) => isHigh(byte) && !(byte >= 0xa0 && byte <= 0xdf)),
  936: endsOpen(isHigh),
  949: endsOpen(isHigh),
  950: endsOpen(isHigh),
};

/** Names of code pages that are not made of their numbers. */
const NAMES_OF_PAGES: Readonly<Record<number, string>> = {
  932: "shift_jis",
  936: "gbk",
  949: "euc-kr",
  950: "big5",
  65001: "utf-8",
};

function decoderOf(codePage: number) {
  try {
    return new TextDecoder(NAMES_OF_PAGES[codePage] ?? `windows-${codePage}`);
  } catch {
    return new TextDecoder("windows-1252");
  }
}
