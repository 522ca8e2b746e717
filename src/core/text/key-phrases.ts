import { fold } from "./fold.ts";
import { stem } from "./stemmer.ts";
import { STOP_WORDS, TALK_WORDS } from "./stop-words.ts";

const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:['’.\-_/@+#][\p{L}\p{N}\p{M}]+)*[+#]*/gu;
/** The only text that may stand between two words of a phrase. */
const JOINT = /^[^\S\n]{1,2}$/;
const CONTRACTION = /['’](?:s|t|m|re|ve|ll|d)$/iu;
const MAX_WORDS = 3;
const TEXTS_PER_STEP = 250;
/** Weights by number of words: longer phrases are rarer and more specific. */
const LENGTH_WEIGHTS = [0, 1, 4, 5];
/** Weights of a phrase that stands in one text only, however long it is. */
const ONCE_WEIGHT = 0.4;
const ONCE_LENGTH_WEIGHT = 1.5;
/** Forms of verbs and adverbs make poor phrases where they stand alone. */
const POOR_ALONE = /(?:ing|ed|ly)$/;
const POOR_WEIGHT = 0.35;
const NAME_WEIGHT = 1.5;
/** A word is not chosen if more than this share of its texts hold a chosen phrase with it. */
const COVERED_SHARE = 0.5;

interface Counted {
  readonly stems: readonly string[];
  /** Texts that hold it, by place; counted once each. */
  texts: number;
  readonly first: number;
  last: number;
  readonly surfaces: Map<string, number>;
  capitals: number;
}

/**
 * Topics of texts in phrases of one to three words, the most specific first: phrases that stand in several texts, not only
 * as part of a longer one. Forms of a word count together. The same texts always give the same phrases. Cost: linear.
 * @returns phrases in their most frequent spelling, each with the index of the first text that holds it.
 * @param options.ignored words that are no topic, such as the names of speakers; in any case.
 * @param options.rest lets others work; called every few milliseconds.
 * @see Rose et al., "Automatic keyword extraction from individual documents", 2010 (RAKE), whose runs between stop words these are.
 */
export async function keyPhrases(
  texts: readonly string[],
  limit: number,
  {
    ignored = [],
    rest = async () => {},
  }: { readonly ignored?: readonly string[]; readonly rest?: () => Promise<void> } = {},
): Promise<{ readonly text: string; readonly place: number }[]> {
  const left = new Set(ignored.flatMap((name) => name.toLowerCase().split(/\s+/)));
  const stemOf = stems(left);
  const counted = new Map<string, Counted>();
  for (const [place, text] of texts.entries()) {
    if (place % TEXTS_PER_STEP === TEXTS_PER_STEP - 1) await rest();
    countPhrases(text, place, stemOf, counted);
  }

  const least = texts.length < 10 ? 1 : 2;
  const scored = [...counted]
    .filter(([, phrase]) => phrase.texts >= least)
    .map(([key, phrase]) => ({ key, phrase, score: scoreOf(phrase, texts.length) }))
    .sort((a, b) => b.score - a.score || (a.key < b.key ? -1 : 1));
  const chosen: Counted[] = [];
  for (const { phrase } of scored) {
    if (chosen.length === limit) break;
    if (!chosen.some((known) => overlaps(known, phrase))) chosen.push(phrase);
  }
  return chosen.map((phrase) => ({ text: surfaceOf(phrase), place: phrase.first }));
}

function countPhrases(
  text: string,
  place: number,
  stemOf: (word: string) => string | null,
  counted: Map<string, Counted>,
): void {
  let run: { word: string; stem: string; isName: boolean }[] = [];
  let end = -1;
  for (const match of text.matchAll(WORD)) {
    const [word] = match;
    const between = end < 0 ? "." : text.slice(end, match.index);
    end = match.index + word.length;
    const stemmed = stemOf(word);
    if (stemmed === null || !JOINT.test(between)) run = [];
    if (stemmed === null) continue;
    const isName = !/[.!?:\n]/.test(between) && /^\p{Lu}/u.test(word);
    run = [...run.slice(1 - MAX_WORDS), { word, stem: stemmed, isName }];
    for (let from = 0; from < run.length; from += 1) addPhrase(run.slice(from), place, counted);
  }
}

/** The stem of a word, cached; null for a word that is in no phrase. */
function stems(left: ReadonlySet<string>): (word: string) => string | null {
  const known = new Map<string, string | null>();
  return (word) => {
    let found = known.get(word);
    if (found === undefined) {
      const bare = fold(word);
      const isOut =
        CONTRACTION.test(word) ||
        STOP_WORDS.has(bare) ||
        TALK_WORDS.has(bare) ||
        isOf(left, bare) ||
        /^[\d.]+$/.test(bare);
      found = isOut ? null : stem(bare);
      known.set(word, found);
    }
    return found;
  };
}

function addPhrase(
  words: readonly { word: string; stem: string; isName: boolean }[],
  place: number,
  counted: Map<string, Counted>,
): void {
  const stems = words.map((word) => word.stem);
  if (words.length === 1 && (stems[0] ?? "").length < 3) return;
  const key = stems.join(" ");
  let phrase = counted.get(key);
  if (phrase === undefined) {
    phrase = { stems, texts: 0, first: place, last: -1, surfaces: new Map(), capitals: 0 };
    counted.set(key, phrase);
  }
  if (phrase.last === place) return;
  phrase.last = place;
  phrase.texts += 1;
  if (words.every(({ isName }) => isName)) phrase.capitals += 1;
  const surface = words.map(({ word }) => word).join(" ");
  phrase.surfaces.set(surface, (phrase.surfaces.get(surface) ?? 0) + 1);
}

function scoreOf(phrase: Counted, texts: number): number {
  const { stems, surfaces, capitals } = phrase;
  const alone = stems.length === 1;
  const isPoor = alone && [...surfaces.keys()].every((surface) => POOR_ALONE.test(surface));
  const isName = capitals * 2 > phrase.texts;
  const length = LENGTH_WEIGHTS[stems.length] ?? 0;
  return (
    phrase.texts *
    Math.log(1 + texts / phrase.texts) *
    (phrase.texts === 1 ? ONCE_WEIGHT * Math.min(length, ONCE_LENGTH_WEIGHT) : length) *
    (isPoor ? POOR_WEIGHT : 1) *
    (isName ? NAME_WEIGHT : 1)
  );
}

/** True for a part of a chosen phrase that rarely stands without it, and for a phrase that contains a chosen one. */
function overlaps(chosen: Counted, phrase: Counted): boolean {
  const shared = phrase.stems.filter((word) => chosen.stems.includes(word)).length;
  if (shared === 0) return false;
  if (shared === chosen.stems.length) return true;
  return shared < phrase.stems.length || chosen.texts >= COVERED_SHARE * phrase.texts;
}

/** The most frequent spelling; in lower case unless most texts write it as a name. */
function surfaceOf({ surfaces, capitals, texts }: Counted): string {
  const isName = capitals * 2 > texts;
  const counts = new Map<string, number>();
  for (const [surface, count] of surfaces) {
    const shown = isName || /\p{Lu}.*\p{Lu}|[\d_/@.]/u.test(surface) ? surface : surface.toLowerCase();
    counts.set(shown, (counts.get(shown) ?? 0) + count);
  }
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))[0]?.[0] ?? "";
}

/** True for a name and for a short form of it: "Mel" of Melanie. */
function isOf(names: ReadonlySet<string>, word: string): boolean {
  if (names.has(word)) return true;
  return word.length >= 2 && [...names].some((name) => name.startsWith(word) && name.length > word.length);
}
