import {
  COMPARISON,
  DEFINING_VERBS,
  DEGREE,
  FEELING_BODY,
  FEELINGS,
  FOREIGN_FUNCTION_WORDS,
  FREQUENCY,
  FUNCTION_WORDS,
  INSTRUCTION_VERBS,
  INTERJECTIONS,
  IRREGULAR_PAST,
  MONTHS,
  NEARBY_TIMES,
  NOT_PAST,
  OBLIGATION,
  REFLECTION,
  SEQUENCE,
  WEEKDAYS,
} from "./sector-words.ts";

/**
 * Textual cues to a sector: what an embedding blurs, because it is about the topic, and grammar shows: tense, mood,
 * person, dates, feeling words, hindsight. General English only; a cue is a hint whose weight is learned
 * (`data/sectors/classifier.json`), so no cue needs to be right alone.
 */

/** Only so much of a text is looked at, in UTF-16 units: enough for its character, and a bound on the time. */
export const CUE_TEXT_LENGTH = 4_000;

interface Passage {
  /** As written. */
  readonly text: string;
  readonly lower: string;
  /** Lower case, apostrophes and hyphens inside a word kept. */
  readonly words: readonly string[];
  /** The words again, clause by clause; no clause is empty. */
  readonly clauses: readonly (readonly string[])[];
}

type Cue = (passage: Passage) => boolean;

const hasAny =
  (set: ReadonlySet<string>): Cue =>
  ({ words }) =>
    words.some((word) => set.has(word));
const hasTwo =
  (set: ReadonlySet<string>): Cue =>
  ({ words }) =>
    words.filter((word) => set.has(word)).length > 1;
const has = (...list: string[]): Cue => hasAny(new Set(list));
const beginsWith = (...list: string[]): Cue => {
  const set = new Set(list);
  return ({ words }) => set.has(words[0] ?? "");
};
// Every pattern below takes linear time: no quantifier is followed by something it could have swallowed, save within one word.
const matches =
  (pattern: RegExp): Cue =>
  ({ lower }) =>
    pattern.test(lower);
const matchesAsWritten =
  (pattern: RegExp): Cue =>
  ({ text }) =>
    pattern.test(text);

const isPast = (word: string): boolean =>
  IRREGULAR_PAST.has(word) || (/^[a-z]{2,}ed$/.test(word) && !NOT_PAST.has(word));

const BEFORE_INSTRUCTION = new Set(
  "please always never first then next finally and but or only just don't do not now so also when".split(" "),
);

const instructs = (clause: readonly string[]): boolean =>
  INSTRUCTION_VERBS.has(clause.find((word) => !BEFORE_INSTRUCTION.has(word)) ?? "");

/** Looked for in every sentence; the value is the share of the sentences that have it. */
const SENTENCE_CUES: Readonly<Record<string, Cue>> = {
  instruction: ({ clauses }) => instructs(clauses[0] ?? []),
  laterInstruction: ({ clauses }) => clauses.slice(1).some(instructs),
  instructions: ({ clauses }) => clauses.filter(instructs).length > 1,
  obligation: hasAny(OBLIGATION),
  prohibition: matches(/^(?:no|never|don't|do not|nobody|none)\b/),
  condition: beginsWith("if", "when", "whenever", "before", "after", "once", "should", "unless", "until"),
  purpose: beginsWith("to", "for"),
  sequence: hasAny(SEQUENCE),
  numberedStep: matches(/\bsteps? \d|(?:^|\s)\d[.)] /),
  frequency: hasAny(FREQUENCY),
  secondPerson: has("you", "your", "you're", "you'll"),

  past: ({ words }) => words.some(isPast),
  pastTwice: ({ words }) => words.filter(isPast).length > 1,
  pastEarly: ({ words }) => words.slice(0, 5).some(isPast),
  pastFirst: ({ words }) => isPast(words[0] ?? ""),
  was: has("was", "were", "wasn't", "weren't"),
  pastPerfect: has("had", "hadn't"),
  perfect: has("have", "has", "i've", "we've", "haven't", "hasn't"),
  perfectParticiple: matches(
    /\b(?:have|has|i've|we've|they've) (?:[a-z]{1,12} ){0,2}[a-z]{1,20}(?:ed|en|nt|ght|own|one)\b/,
  ),
  progressive: matches(/\b(?:am|is|are|i'm|we're|he's|she's|they're) [a-z]{1,20}ing\b/),
  future: has("will", "i'll", "we'll", "he'll", "she'll", "they'll"),
  would: matches(/\b(?:would|i'd|we'd|want to|hope to|could be)\b/),

  copula: has("is", "are", "isn't", "aren't"),
  isA: matches(/\b(?:is|are) (?:an?|the|one|called|in|at|on|defined|described|known)\b/),
  passive: matches(/\b(?:is|are|be|get|gets) [a-z]{1,20}(?:ed|en)\b/),
  defining: hasAny(DEFINING_VERBS),
  verbInS: ({ words }) => words.slice(1, 5).some((word) => /^[a-z]{3,}[^s']s$/.test(word)),
  verbless: ({ words }) =>
    !words.some(
      (word) => isPast(word) || /^(?:is|are|am|i'm|be|have|has|do|does|can|will|[a-z]+ing)$/.test(word),
    ),

  i: has("i", "i'm", "i've", "i'd", "i'll"),
  iFirst: beginsWith("i", "i'm", "i've", "i'd", "i'll"),
  iAm: has("am", "i'm"),
  my: has("my", "me", "mine", "myself"),
  we: has("we", "we're", "we've", "we'd", "we'll", "us"),
  our: has("our", "ours"),
  thirdPerson: has("he", "she", "they", "his", "her", "him", "them"),
  role: matches(/\b(?:user|customer|client|assistant|agent)\b/),
  speaker: matchesAsWritten(/^\p{Lu}\p{L}{1,20}: /u),
  articleFirst: beginsWith("the", "a", "an"),
  possessiveFirst: beginsWith("my", "our", "his", "her", "your"),

  // "may" is a verb unless it is written as the month, inside a sentence.
  month: ({ words, text }) => words.some((word) => MONTHS.has(word)) || /\sMay\b/.test(text),
  weekday: hasAny(WEEKDAYS),
  weekdays: matches(/(?:mon|tues|wednes|thurs|fri|satur|sun)days\b/),
  year: matches(/\b(?:1[89]|20)\d\d\b/),
  historicYear: matches(/\b1[0-9]\d\d\b/),
  nearbyTime: hasAny(NEARBY_TIMES),
  relativeTime: matches(
    /\b(?:last|next|this|that|one) (?:night|week|weekend|month|year|spring|summer|autumn|fall|winter|morning|afternoon|evening|time|day|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b/,
  ),
  clock: matches(
    /\b\d{1,2}(?::\d\d|\s?(?:am|pm)\b)|\bat (?:noon|midnight|dawn|dusk|half past|quarter|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b)/,
  ),

  feeling: hasAny(FEELINGS),
  feelings: hasTwo(FEELINGS),
  feelingInBody: hasAny(FEELING_BODY),
  feel: has("feel", "feels", "felt", "feeling", "feelings"),
  interjection: hasAny(INTERJECTIONS),
  exclamation: matches(/!/),
  degree: hasAny(DEGREE),
  effectOnPerson: matches(
    /\b(?:makes?|made|drives?|drove|leaves?|left|fills?|gets?|gives?|gave) (?:me|us|him|her|them|my|everyone)\b/,
  ),

  reflection: hasAny(REFLECTION),
  reflections: hasTwo(REFLECTION),
  hindsight: matches(
    /\b(?:in hindsight|in retrospect|looking back|in the end|used to|by now|next time|from now on|deep down|turns? out|should(?:n't)? have|could have|would have|next year|one day|someday)\b/,
  ),
  conclusion: matches(
    /\b(?:taught|showed|shows|tells|reminded|suggests?|means that|makes|made) (?:me|us|that)\b/,
  ),
  gerundFirst: ({ words }) => /^[a-z]{2,}ing$/.test(words[0] ?? ""),
  hedgeFirst: beginsWith(
    "perhaps",
    "maybe",
    "apparently",
    "someday",
    "looking",
    "most",
    "half",
    "what",
    "for",
  ),
  comparison: hasAny(COMPARISON),
  negation: has("not", "never", "no", "don't", "can't", "nobody", "nothing", "neither", "didn't", "doesn't"),
  question: matches(/\?/),

  digits: matches(/\d/),
  quantity: matches(
    /\d\s?(?:%|percent|degrees?|°|kg|g|km|cm|mm|m|ml|l|mb|gb|tb|kb|ms|s|h|euros?|dollars?|miles?|minutes?|seconds?|hours?|years?|days?)(?![a-z])/,
  ),
  code: matchesAsWritten(
    /`|(?:^|\s)--?[a-z]{2}|[a-z]\/[a-z]|[a-z]\.[a-z]{2,4}\b|[a-z][A-Z]|&&|[a-z]_[a-z]|[A-Z]_[A-Z]/,
  ),
  semicolon: matches(/;/),
  colon: matches(/: /),
  fewWords: ({ words }) => words.length <= 6,
  manyWords: ({ words }) => words.length >= 18,
};

/** Looked for in the first clause of the text alone: what a text leads with is what it is mainly about. */
const OPENING_CUES = [
  "past",
  "was",
  "copula",
  "i",
  "we",
  "thirdPerson",
  "obligation",
  "month",
  "weekday",
  "feeling",
  "feelingInBody",
  "reflection",
  "effectOnPerson",
  "negation",
  "digits",
] as const;

/** Names of the cues, in the order of `cuesOf`; a classifier is trained for exactly these. */
export const CUE_NAMES: readonly string[] = [
  ...Object.keys(SENTENCE_CUES),
  ...OPENING_CUES.map((name) => `opening:${name}`),
  ...FUNCTION_WORDS.map((word) => `word:${word}`),
];

/**
 * The cues of a text in the order of `CUE_NAMES`, each in [0, 1]: the share of its sentences that show it.
 *
 * Undefined for texts without words and for texts that are not English.
 * Time and memory are bounded whatever the text's length (`CUE_TEXT_LENGTH`).
 */
export function cuesOf(content: string): Float64Array | undefined {
  const sentences = passagesOf(content.slice(0, CUE_TEXT_LENGTH).replaceAll("’", "'"));
  const opening = sentences[0]?.clauses[0];
  if (opening === undefined || !isEnglish(content, sentences)) return undefined;

  const share = (cue: Cue) => sentences.filter(cue).length / sentences.length;
  const openingText = opening.join(" ");
  const openingPassage = { text: openingText, lower: openingText, words: opening, clauses: [opening] };
  return Float64Array.from([
    ...Object.values(SENTENCE_CUES).map(share),
    ...OPENING_CUES.map((name) => (SENTENCE_CUES[name]?.(openingPassage) === true ? 1 : 0)),
    ...FUNCTION_WORDS.map((word) => share(({ words }) => words.includes(word))),
  ]);
}

function passagesOf(text: string): Passage[] {
  const passages: Passage[] = [];
  for (const line of text.split(/(?<=[.!?])\s+|\n/)) {
    const sentence = line.trim();
    // The speaker of a transcript ("Alice: …") is not a clause.
    const said = sentence.replace(/^\p{Lu}\p{L}{1,20}: /u, "").toLowerCase();
    const clauses = said
      .split(/[,;:.!?()](?=\s|$)/)
      .map((clause) => clause.match(/[\p{L}\p{N}]+(?:['-][\p{L}\p{N}]+)*/gu) ?? [])
      .filter((words) => words.length > 0);
    if (clauses.length > 0) passages.push({ text: sentence, lower: said, words: clauses.flat(), clauses });
  }
  return passages;
}

/** False for other scripts, and for Latin text in which words of other languages outnumber English ones. */
function isEnglish(content: string, passages: readonly Passage[]): boolean {
  const start = content.slice(0, CUE_TEXT_LENGTH);
  const letters = start.match(/\p{L}/gu)?.length ?? 0;
  const latinLetters = start.match(/\p{Script=Latin}/gu)?.length ?? 0;
  if (latinLetters < letters / 2) return false;

  const words = passages.flatMap((passage) => passage.words);
  const english = words.filter((word) => ENGLISH_ONLY.has(word)).length;
  // A single foreign word may be a name: Los Angeles, La Paz.
  const foreign = words.filter((word) => FOREIGN_FUNCTION_WORDS.has(word)).length;
  return foreign < 2 || foreign <= english;
}

const ENGLISH_ONLY: ReadonlySet<string> = new Set([...FUNCTION_WORDS, ...FEELINGS, ...REFLECTION]);
