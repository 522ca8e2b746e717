import { fold } from "../text/fold.ts";

/**
 * The traits of a memory's text that ranking uses, found once when it is written. Plain JSON; it follows from the
 * text alone and changes with `ANALYSER_VERSION`.
 */
export interface MemoryTraits {
  /** The text asks something: its last sentence ends in a question mark. What follows it in a session may be the answer. */
  readonly asks: boolean;
  /** It says when or how long something was, is or will be: a date, a weekday, "yesterday", "two years". */
  readonly tellsTime: boolean;
  /**
   * The speaker, folded, where the text begins with a name and a colon ("Caroline: …") and nobody else speaks in it;
   * else null.
   */
  readonly speaker: string | null;
  /** Names of people, places and works that it mentions, folded, in order, no repeats, at most 16. */
  readonly names: readonly string[];
  /** Words, counted between spaces. */
  readonly words: number;
}

/** Longer texts say many things. */
const MAX_NOTE_WORDS = 80;

/**
 * Whether a text is a note that says one thing of its own, which a later one can change. A turn of a conversation
 * ("Caroline: …") is none: it says "now" and "new" of whatever the talk is about.
 */
export function isNote({ speaker, words }: MemoryTraits, sessionId: string | null): boolean {
  return (speaker === null || sessionId === null) && words <= MAX_NOTE_WORDS;
}

const SPEAKER = /^[^\S\n]{0,8}(\p{L}[\p{L}\p{M}\p{N}.'’ -]{0,39}):\s/gmu;
const SPEAKER_AT_START = new RegExp(SPEAKER.source, "u");
const MAX_SPEAKER_WORDS = 3;
/** Characters at the end in which the last sentence is looked for; a note in brackets after it ("[shared photo: …]") does not count. */
const END_CHARS = 400;
const BRACKETED_END = /(?<!\s)\s*\[[^[\]]{0,300}\]\s*$/;
const QUESTION_END = /[?？؟]["'”’)\s]{0,8}$/u;

const TIME_WORDS = new RegExp(
  String.raw`\b(?:(?:1[5-9]|20)\d\d|\d{1,2}(?:st|nd|rd|th)|\d{1,2}:\d\d|\d{1,2} ?[ap]m|january|february|april|june|july|august` +
    String.raw`|september|october|november|december|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|yesterday|today|tonight|tomorrow` +
    String.raw`|weekends?|(?:last|next|this|past|previous|following|coming) (?:night|morning|evening|week|month|year|summer|winter` +
    String.raw`|spring|fall|autumn|time)|years?|months?|weeks?|days?|hours?|minutes?|decades?|ago|recently|lately|soon|since` +
    String.raw`|spring|summer|autumn|winter|christmas|easter|birthday|anniversary|noon|midnight)\b`,
);
/** The words "may" and "march" are months only after a word of time or beside a number. */
const AMBIGUOUS_MONTHS =
  /\b(?:in|on|of|by|since|until|last|next|this|early|late|mid|\d{1,2}) (?:may|march)\b|\b(?:may|march) \d{1,4}\b/;
/** As much of a text as is searched for times and names. */
const SEARCHED_CHARS = 20_000;

/** A capital within a sentence makes a name; so do quotation marks. The pronoun "I" and one-letter words do not. */
const NAME =
  /(?<=[\p{Ll}\p{N},;'’] )(?:\p{Lu}[\p{L}\p{M}]{2,}|\p{Lu}{2,})(?:[ -]\p{Lu}[\p{L}\p{M}]+)*|(?<=["“„«])[^"“”«»\n]{3,60}(?=["”“»])/gu;
const MAX_NAMES = 16;

/** The traits of a memory's text. */
export function traitsOf(content: string): MemoryTraits {
  const end = content.slice(-END_CHARS).replace(BRACKETED_END, "");
  const lower = content.slice(0, SEARCHED_CHARS).toLowerCase();
  return {
    asks: QUESTION_END.test(end),
    tellsTime: TIME_WORDS.test(lower) || AMBIGUOUS_MONTHS.test(lower),
    speaker: speakerOf(content),
    names: namesIn(content.slice(0, SEARCHED_CHARS).replace(SPEAKER_AT_START, "")),
    words: content.match(/\S+/g)?.length ?? 0,
  };
}

function namesIn(content: string): string[] {
  const names = new Set<string>();
  for (const [name] of content.matchAll(NAME)) {
    if (names.size === MAX_NAMES) break;
    names.add(fold(name).trim());
  }
  return [...names];
}

function speakerOf(content: string): string | null {
  const speakers = new Set<string>();
  for (const { 1: name = "", index } of content.matchAll(SPEAKER)) {
    const words = fold(name).match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
    if (words.length <= MAX_SPEAKER_WORDS) speakers.add(words.join(" "));
    // A colon further down ("Shopping list: …") does not make a speaker of a text that begins without one.
    if (speakers.size > 1 || (speakers.size === 0 && index > 0)) return null;
  }
  const [speaker] = speakers;
  return speaker !== undefined && SPEAKER_AT_START.test(content) ? speaker : null;
}
