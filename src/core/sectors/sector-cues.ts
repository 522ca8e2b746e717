import { fromLanguages, type Language, wordsOfAll } from "../text/languages.ts";

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

type List = Exclude<keyof NonNullable<Language["sector"]>, "functionWords">;

/** Words of English by their lists: closed classes as far as possible, else the common ones. */
const ENGLISH = fromLanguages((languages) => {
  const { sector = {} } = languages.find(({ name }) => name === "en") ?? {};
  return Object.fromEntries(
    Object.entries<string>(sector).map(([list, words]) => [list, new Set(words.split(/[ |]/))]),
  ) as Partial<Record<List, ReadonlySet<string>>>;
});
const NO_WORDS: ReadonlySet<string> = new Set();
const wordsOf = (list: List): ReadonlySet<string> => ENGLISH()[list] ?? NO_WORDS;

/** Frequent small words of other languages that English does not have. */
const FOREIGN = fromLanguages(
  (languages) => new Set(wordsOfAll(languages, "sector").functionWords.split(/[ |]/)),
);

const hasAny =
  (list: List): Cue =>
  ({ words }) => {
    const set = wordsOf(list);
    return words.some((word) => set.has(word));
  };
const hasTwo =
  (list: List): Cue =>
  ({ words }) => {
    const set = wordsOf(list);
    return words.filter((word) => set.has(word)).length > 1;
  };
const has = (...list: string[]): Cue => {
  const set = new Set(list);
  return ({ words }) => words.some((word) => set.has(word));
};
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
  wordsOf("irregularPast").has(word) || (/^[a-z]{2,}ed$/.test(word) && !wordsOf("notPast").has(word));

const BEFORE_INSTRUCTION = new Set(
  "please always never first then next finally and but or only just don't do not now so also when".split(" "),
);

const instructs = (clause: readonly string[]): boolean =>
  wordsOf("instructionVerbs").has(clause.find((word) => !BEFORE_INSTRUCTION.has(word)) ?? "");

/** Looked for in every sentence; the value is the share of the sentences that have it. */
const SENTENCE_CUES: Readonly<Record<string, Cue>> = {
  instruction: ({ clauses }) => instructs(clauses[0] ?? []),
  laterInstruction: ({ clauses }) => clauses.slice(1).some(instructs),
  instructions: ({ clauses }) => clauses.filter(instructs).length > 1,
  obligation: hasAny("obligation"),
  prohibition: matches(/^(?:no|never|don't|do not|nobody|none)\b/),
  condition: beginsWith("if", "when", "whenever", "before", "after", "once", "should", "unless", "until"),
  purpose: beginsWith("to", "for"),
  sequence: hasAny("sequence"),
  numberedStep: matches(/\bsteps? \d|(?:^|\s)\d[.)] /),
  frequency: hasAny("frequency"),
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
  defining: hasAny("definingVerbs"),
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
  month: ({ words, text }) => words.some((word) => wordsOf("months").has(word)) || /\sMay\b/.test(text),
  weekday: hasAny("weekdays"),
  weekdays: matches(/(?:mon|tues|wednes|thurs|fri|satur|sun)days\b/),
  year: matches(/\b(?:1[89]|20)\d\d\b/),
  historicYear: matches(/\b1[0-9]\d\d\b/),
  nearbyTime: hasAny("nearbyTimes"),
  relativeTime: matches(
    /\b(?:last|next|this|that|one) (?:night|week|weekend|month|year|spring|summer|autumn|fall|winter|morning|afternoon|evening|time|day|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b/,
  ),
  clock: matches(
    /\b\d{1,2}(?::\d\d|\s?(?:am|pm)\b)|\bat (?:noon|midnight|dawn|dusk|half past|quarter|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b)/,
  ),

  feeling: hasAny("feelings"),
  feelings: hasTwo("feelings"),
  feelingInBody: hasAny("feelingBody"),
  feel: has("feel", "feels", "felt", "feeling", "feelings"),
  interjection: hasAny("interjections"),
  exclamation: matches(/!/),
  degree: hasAny("degree"),
  effectOnPerson: matches(
    /\b(?:makes?|made|drives?|drove|leaves?|left|fills?|gets?|gives?|gave) (?:me|us|him|her|them|my|everyone)\b/,
  ),

  reflection: hasAny("reflection"),
  reflections: hasTwo("reflection"),
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
  comparison: hasAny("comparison"),
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

/** Each is a cue of its own: pronouns, auxiliaries, articles, prepositions and conjunctions. The weights are learned for these. */
const FUNCTION_WORDS: readonly string[] = `
  a about after all am an and any are as at be because been before being by can each for from had has have
  he her his how i i'm i've if in into is it its me more most my never no not of off on once only or our
  out over own same she should so than that the their them then there they this through to too under until
  up us was we were what when where which who while why with would you your don't it's`
  .trim()
  .split(/\s+/);

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
  const english = words.filter(
    (word) =>
      FUNCTION_WORDS.includes(word) || wordsOf("feelings").has(word) || wordsOf("reflection").has(word),
  ).length;
  // A single foreign word may be a name: Los Angeles, La Paz.
  const foreign = words.filter((word) => FOREIGN().has(word)).length;
  return foreign < 2 || foreign <= english;
}
