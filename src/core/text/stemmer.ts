/**
 * English forms that no suffix rule reaches, and their base: verbs, plurals, short names of months, small numbers.
 * A form that is commonly another word ("saw", "left" as a side, "felt", "found" as to establish) is listed when
 * the verb is by far the commoner in what people write of their lives.
 */
const IRREGULAR_FORMS: ReadonlyMap<string, string> = new Map(
  `arise arose arisen; awake awoke awoken; beat beaten; become became; begin began begun; bend bent; bite bit bitten;
  bleed bled; blow blew blown; break broke broken; breed bred; bring brought; build built; burn burnt; buy bought;
  catch caught; choose chose chosen; come came; creep crept; deal dealt; dig dug; draw drew drawn; dream dreamt;
  drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen; feed fed; feel felt; fight fought; find found;
  flee fled; fly flew flown; forbid forbade forbidden; forget forgot forgotten; forgive forgave forgiven;
  freeze froze frozen; get got gotten; give gave given; go went gone; grow grew grown; hang hung; hear heard;
  hide hid hidden; hold held; keep kept; know knew known; lay laid; lead led; learn learnt; leave left; lend lent;
  light lit; lose lost; make made; mean meant; meet met; pay paid; ride rode ridden; ring rang rung; rise rose risen;
  run ran; say said; see saw seen; seek sought; sell sold; send sent; sew sewn; shake shook shaken; shine shone;
  shoot shot; show shown; shrink shrank shrunk; sing sang sung; sink sank sunk; sit sat; sleep slept; slide slid;
  speak spoke spoken; spend spent; spin spun; stand stood; steal stole stolen; stick stuck; strike struck;
  sweep swept; swim swam swum; swing swung; take took taken; teach taught; tear tore torn; tell told;
  think thought; throw threw thrown; understand understood; undertake undertook undertaken; wake woke woken;
  wear wore worn; weave wove woven; weep wept; win won; withdraw withdrew withdrawn; write wrote written;
  child children; man men; woman women; foot feet; tooth teeth; goose geese; mouse mice; wife wives; knife knives;
  leaf leaves; half halves; shelf shelves; wolf wolves; thief thieves; loaf loaves; life lives; good better best;
  bad worse worst; person people persons;
  january jan; february feb; march mar; april apr; june jun; july jul; august aug; september sep sept; october oct;
  november nov; december dec;
  monday mon; tuesday tue tues; wednesday wed weds; thursday thu thur thurs; friday fri;
  2 two; 3 three; 4 four; 5 five; 6 six; 7 seven; 8 eight; 9 nine; 10 ten; 11 eleven; 12 twelve`
    .split(";")
    .flatMap((entry) => {
      const [base = "", ...forms] = entry.trim().split(/\s+/);
      return forms.map((form): [string, string] => [form, base]);
    }),
);

/**
 * Reduces an English word (lower case, a to z) to a stem, so that "camping", "camped" and "camps" are one term.
 * Irregular forms go to their base first ("went" is "go", "children" is "child"): questions ask "when did she
 * lose", answers say "lost". Words of other languages are returned unchanged. A stem is a key, not a word to show.
 *
 * Cost: linear in the length of the word.
 * @see Porter, "An algorithm for suffix stripping", 1980, with the later corrections of the Snowball English
 *   stemmer (its regions R1 and R2, "ied", "us", "ss", doubled consonants).
 */
export function stem(word: string): string {
  if (word.length < 3 || !/^[a-z]+$/.test(word)) return word;
  const base = IRREGULAR_FORMS.get(word) ?? word;
  return base.length < 3 ? base : suffixesStripped(base);
}

const VOWELS = "aeiouy";
/** Words whose first region would otherwise swallow the difference: "general" and "generate", "community" and "communist". */
const LONG_PREFIX = /^(?:gener|commun|arsen)/;

/** "ization>ize": a suffix and what stands for it; longer ones first. */
const rules = (list: string): readonly (readonly [suffix: string, replacement: string])[] =>
  list.split(/\s+/).map((rule) => rule.split(">") as [string, string]);
const DERIVATIONS = rules(
  `ization>ize ational>ate fulness>ful ousness>ous iveness>ive tional>tion biliti>ble lessli>less
  entli>ent ation>ate alism>al aliti>al ousli>ous iviti>ive fulli>ful enci>ence anci>ance abli>able
  izer>ize ator>ate alli>al bli>ble`,
);
const ADJECTIVES = rules("ational>ate tional>tion alize>al icate>ic iciti>ic ical>ic ness> ful>");
const ENDINGS = "ement ance ence able ible ment ant ent ism ate iti ous ive ize al er ic".split(" ");

function suffixesStripped(input: string): string {
  let word = markConsonantY(input);
  const first = LONG_PREFIX.exec(word)?.[0].length ?? regionAfter(word, 0);
  const second = regionAfter(word, first);

  word = withoutPlural(word);
  word = withoutTense(word, first);
  if (/[^aeiou][yY]$/.test(word) && word.length > 2) word = `${word.slice(0, -1)}i`;
  word = replaced(word, DERIVATIONS, first);
  if (word.endsWith("li") && word.length - 2 >= first && /[cdeghkmnrt]li$/.test(word))
    word = word.slice(0, -2);
  word = replaced(word, ADJECTIVES, first);
  if (word.endsWith("ative") && word.length - 5 >= second) word = word.slice(0, -5);
  word = withoutEnding(word, second);
  return withoutFinalE(word, first, second).toLowerCase();
}

/** A y that begins the word or follows a vowel is a consonant, written Y until the end. */
const markConsonantY = (word: string): string =>
  word.includes("y") ? word.replace(/^y|(?<=[aeiouy])y/g, "Y") : word;

/** Start of the part after the first consonant that follows a vowel. */
function regionAfter(word: string, start: number): number {
  for (let i = start + 1; i < word.length; i += 1) {
    if (isVowel(word, i - 1) && !isVowel(word, i)) return i + 1;
  }
  return word.length;
}

const isVowel = (word: string, index: number): boolean => VOWELS.includes(word.charAt(index));

function withoutPlural(word: string): string {
  if (word.endsWith("sses")) return word.slice(0, -2);
  if (word.endsWith("ied") || word.endsWith("ies"))
    return word.length > 4 ? word.slice(0, -2) : word.slice(0, -1);
  if (word.endsWith("us") || word.endsWith("ss") || !word.endsWith("s")) return word;
  return /^[^aeiouy]*[aeiouy].+s$/.test(word) ? word.slice(0, -1) : word;
}

function withoutTense(word: string, first: number): string {
  for (const suffix of ["eedly", "eed"]) {
    if (word.endsWith(suffix))
      return word.length - suffix.length >= first ? word.slice(0, -suffix.length) + "ee" : word;
  }
  for (const suffix of ["ingly", "edly", "ing", "ed"]) {
    if (!word.endsWith(suffix)) continue;
    const rest = word.slice(0, -suffix.length);
    if (!/[aeiouy]/.test(rest)) return word;
    if (/(?:at|bl|iz)$/.test(rest)) return `${rest}e`;
    if (/(?:bb|dd|ff|gg|mm|nn|pp|rr|tt)$/.test(rest)) return rest.slice(0, -1);
    return isShort(rest, first) ? `${rest}e` : rest;
  }
  return word;
}

/** Ends in a short syllable and has nothing after it: "hop" of "hoping". */
const isShort = (word: string, first: number): boolean => first >= word.length && endsInShortSyllable(word);

const endsInShortSyllable = (word: string): boolean =>
  /[^aeiouy][aeiouy][^aeiouywxY]$/.test(word) || /^[aeiouy][^aeiouy]$/.test(word);

function replaced(word: string, rules: readonly (readonly [string, string])[], region: number): string {
  for (const [suffix, replacement] of rules) {
    if (!word.endsWith(suffix)) continue;
    const start = word.length - suffix.length;
    return start >= region ? word.slice(0, start) + replacement : word;
  }
  return word;
}

function withoutEnding(word: string, second: number): string {
  for (const suffix of ENDINGS) {
    if (!word.endsWith(suffix)) continue;
    const start = word.length - suffix.length;
    return start >= second ? word.slice(0, start) : word;
  }
  return /[st]ion$/.test(word) && word.length - 3 >= second ? word.slice(0, -3) : word;
}

function withoutFinalE(word: string, first: number, second: number): string {
  const last = word.length - 1;
  if (word.endsWith("e")) {
    const rest = word.slice(0, last);
    return last >= second || (last >= first && !endsInShortSyllable(rest)) ? rest : word;
  }
  return word.endsWith("ll") && last >= second ? word.slice(0, last) : word;
}
