import { cleanLanguage, cleanText, type ReadDocument } from "./clean-text.ts";

/** A caption: its lines, cleaned, none empty. */
type Cue = { readonly startMs: number; readonly endMs: number; readonly lines: readonly string[] };

/** The hours may be left out (WebVTT); a comma (SubRip) or a full stop parts the fraction. */
const TIME = String.raw`(?:(\d{1,3}):)?(\d{1,2}):(\d{2})(?:[.,](\d{1,3}))?`;
const TIMING = new RegExp(String.raw`^[ \t]*${TIME}[ \t]*-->[ \t]*${TIME}(?:[ \t]|$)`);
/** A line in the place of a time that cannot be read as one. */
const BAD_TIMING = /^[ \t]*\d\S{0,20}:\S{0,20}[ \t]*-->/;
const NUMBER = /^\s*\d{1,9}\s*$/;
const SIGNATURE = /^WEBVTT(?:[ \t\n]|$)/;
/** Marks of style are bounded: one without an end is text. */
const VOICE = /<v(?:\.[^\s<>]{0,100})?[ \t]+([^<>]{1,100})>/g;
const TAG = /<\/?[a-z0-9][^<>]{0,200}>|<\d[\d:.]{0,20}>|\{\\[^{}]{0,200}\}/gi;
const ENTITY = /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(amp|lt|gt|quot|apos|nbsp|lrm|rlm));/gi;
const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  lrm: "",
  rlm: "",
};
/** Captions roll where this share repeats the last line of the caption before. */
const ROLLING_SHARE = 0.3;
/** Programs leave up to this gap between adjoining captions. */
const ADJOINING_MS = 100;

/**
 * Reads SubRip, WebVTT and mixtures of both. Marks of style and position are removed; the name of a speaker (WebVTT)
 * stands before the first of their lines. Of captions that roll, a repeated line is kept once, at its first time. Lines
 * with an unreadable time begin where the ones before end. `durationMs` is the end of the last line.
 * @param text with any line endings. Cost: linear.
 */
export function readSubtitles(text: string): ReadDocument & { readonly durationMs: number } {
  const lines = cleanText(text).split("\n");
  const isWebVtt = SIGNATURE.test(lines[0] ?? "");
  const cues = cuesIn(lines, isWebVtt).sort((a, b) => a.startMs - b.startMs);
  const shown = isRolling(cues) ? withoutRepeats(cues) : cues;
  return {
    blocks: shown.map(({ startMs, endMs, lines: own }) => ({
      type: "paragraph",
      text: own.join(" "),
      startMs,
      endMs,
    })),
    language: isWebVtt ? languageIn(lines) : undefined,
    durationMs: cues.reduce((last, { endMs }) => Math.max(last, endMs), 0),
  };
}

/** True for text that begins like subtitles. */
export function looksLikeSubtitles(start: string): "srt" | "vtt" | undefined {
  const text = start
    .replace(/^\ufeff/, "")
    .replaceAll("\r", "\n")
    .replaceAll("\n\n", "\n");
  if (SIGNATURE.test(text)) return "vtt";
  const [number = "", timing = ""] = text.trimStart().split("\n", 2);
  return NUMBER.test(number) && TIMING.test(timing) ? "srt" : undefined;
}

function cuesIn(lines: readonly string[], isWebVtt: boolean): Cue[] {
  const cues: Cue[] = [];
  let speaker = "";
  /** The end of the cue before. */
  let lastMs = 0;
  let open: { readonly startMs: number; readonly endMs: number; readonly raw: string[] } | undefined;
  const close = (): void => {
    if (open === undefined) return;
    const { startMs, endMs, raw } = open;
    const clean = raw.map((line) => plain(line, (name) => (name === speaker ? "" : `${(speaker = name)}: `)));
    const own = clean.filter((line) => line !== "");
    if (own.length > 0) cues.push({ startMs, endMs, lines: own });
    open = undefined;
  };
  for (const line of lines) {
    // Most lines have none, and the search for the arrow is cheaper.
    const hasArrow = line.includes("-->");
    const timing = hasArrow ? TIMING.exec(line) : null;
    if (timing !== null || (hasArrow && BAD_TIMING.test(line))) {
      // The number over a time belongs to it.
      if (NUMBER.test(open?.raw.at(-1) ?? "")) open?.raw.pop();
      close();
      const startMs = timing === null ? lastMs : msOf(timing.slice(1, 5));
      const endMs = timing === null ? lastMs : msOf(timing.slice(5, 9));
      lastMs = Math.max(startMs + 1, endMs);
      open = { startMs, endMs: lastMs, raw: [] };
    } else if (isWebVtt && line.trim() === "") close();
    else open?.raw.push(line);
  }
  close();
  return cues;
}

function msOf([hours = "0", minutes = "0", seconds = "0", fraction = ""]: (string | undefined)[]): number {
  const whole = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
  return whole * 1_000 + Number(fraction.padEnd(3, "0"));
}

function plain(line: string, sayWho: (name: string) => string): string {
  const text = line
    .replace(VOICE, (_, name: string) => sayWho(name.trim()))
    .replace(TAG, "")
    .replace(ENTITY, (entity, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? entity;
      const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
      return code <= 0x10_ff_ff ? cleanText(String.fromCodePoint(code)) : "";
    });
  // A dash before a second speaker is no text.
  return text
    .replace(/\s+/g, " ")
    .trim()
    .replace(/^[-–—] ?(?=\S)/u, "");
}

function isRolling(cues: readonly Cue[]): boolean {
  let follows = 0;
  for (const [i, { lines }] of cues.entries()) {
    const before = cues[i - 1]?.lines;
    if (before !== undefined && lines.length > 1 && before.at(-1) === lines[0]) follows += 1;
  }
  return cues.length > 2 && follows >= cues.length * ROLLING_SHARE;
}

function withoutRepeats(cues: readonly Cue[]): Cue[] {
  const kept: Cue[] = [];
  let before: Cue | undefined;
  for (const cue of cues) {
    const adjoins = before !== undefined && cue.startMs - before.endMs <= ADJOINING_MS;
    const shown = new Set(adjoins ? before?.lines : []);
    const lines = cue.lines.filter((line) => !shown.has(line));
    if (lines.length > 0) kept.push({ ...cue, lines });
    before = cue;
  }
  return kept;
}

/** `Language: en` in the head of a WebVTT file. */
function languageIn(lines: readonly string[]): string | undefined {
  const head = lines.slice(0, Math.max(0, lines.indexOf("")));
  return cleanLanguage(/^Language:(.*)$/m.exec(head.join("\n"))?.[1]);
}
