import { fold } from "./fold.ts";
import { anyOf, fromLanguages, languages, timeWords } from "./languages.ts";
import { matchesOf } from "./matches.ts";
import { type Grammar, grammarOf } from "./time-grammar.ts";
import { type Period, type Rule, sameDayBefore, thirdOf, yearLater } from "./time-periods.ts";

/** A period and where a text names it. */
export interface NamedPeriod extends Period {
  /** In UTF-16 units of the text. */
  readonly start: number;
  readonly end: number;
}

/**
 * The time that a question names, in the language in which most of it reads as one: "last week", "im Mai 2026", "since
 * June". Undefined where it names none. A month, day or season of no year is the coming one where the question asks for what is to come.
 * The words between several times tell what is meant ("between … and …"), else the first counts.
 * @param now as a clock on the wall shows it
 */
export function timeOfQuestion(text: string, now: number): NamedPeriod | undefined {
  const { folded, originalOf } = foldedWords(text.slice(0, MAX_QUESTION_CHARS));
  let best: { readonly period: NamedPeriod; readonly length: number } | undefined;
  for (const words of timeWords()) {
    const grammar = grammarOf(words);
    if (!grammar.anchor.test(folded)) continue;
    const found = findAll(folded, grammar.rules, now);
    const period = join(folded, found, grammar, now);
    if (period === undefined) continue;
    const length = period.end - period.start;
    if (best === undefined || length > best.length) best = { period, length };
  }
  if (best === undefined) return undefined;
  const { start: first, end: last, isVague } = best.period;
  const isPast = () =>
    ASKS_OF_PAST.test(folded) && asksForNothingElse(`${folded.slice(0, first)} ${folded.slice(last)}`);
  if (isVague === true && !isPast()) return undefined;
  const { start, end, isOfAnyYear } = best.period;
  const isMeantToCome = isOfAnyYear === true && !ASKS_OF_PAST.test(folded) && ASKS_OF_COMING.test(folded);
  const later = (period: Period): Period => (period.to > now ? period : later(yearLater(period)));
  const period = isMeantToCome ? later(best.period) : best.period;
  const { from, to } = period;
  const place = { start: originalOf(start).start, end: originalOf(end - 1).end };
  const isComing = from > now || (isMeantToCome && to > now);
  return { from, to, ...place, ...(isOfAnyYear === true && { isOfAnyYear }), ...(isComing && { isComing }) };
}

/** Words of a question for what is to come, folded. */
const ASKS_OF_COMING = new RegExp(
  `(?<!\\p{L})(?:${[
    "coming(?: up)?|upcoming|due|planned|scheduled|booked|(?:have|has) (?:i|we|he|she|they) got on|(?:is|are|'s) (?:there )?on|arriv(?:es|ing)|will|going to|expires?|begins|starts|when (?:is|are|do|does)|what (?:is|are)|what[’']s (?:happening|on)|do (?:i|we) (?:have|need)|(?:am|are) (?:i|we)|anything (?:on|planned)|plans?|payable|deadlines?|appointments?",
    "(?:steht|stehen)(?=.*(?<!\\p{L})an(?!\\p{L}))|ansteh\\p{L}*|geplant|fallig|kommt|kommen|wird|werden|wann (?:ist|sind)|beginnt|lauft|habe (?:ich|wir)|ist .{0,40} los|fristen|termine?",
    "prevue?s?|a venir|arrive(?:nt)?|sera|seront|quand (?:est|sont)|commence|est-ce que j'ai|j'ai quoi|rendez-vous",
    "tengo|tenemos|hay|llega[n]?|previst[oa]s?|sera[n]?|cuando (?:es|son)|empieza|vence|citas?",
    "previst[oaei]|in programma|arriva(?:no)?|sara|quando (?:e|sono)|comincia|scade|ho|abbiamo|appuntament[oi]",
    "tenho|temos|ha|chega[m]?|previst[oa]s?|sera|quando (?:e|sao)|comeca|vence|consultas?",
    "gepland|staat|staan|komt|komen|wanneer (?:is|zijn)|begint|verloopt|heb ik|hebben we|afspra(?:ak|ken)",
    "mam|mamy|jest|sa|bedzie|beda|kiedy|czeka|zaplanowan\\p{L}*|wizyt\\p{L}+|у (?:меня|нас)|будет|будут|предстоит|когда|запланирован\\p{L}*|hoga|hogi|hai|है|होगा|होगी|कब",
  ].join("|")})(?!\\p{L})|予定|安排|计划|有什么|일정|예정`,
  "u",
);

/** Periods named by their distance from `now` in English, at most eight. @param text folded. */
export function relativePeriods(text: string, now: number): Period[] {
  const english = languages().find(({ name }) => name === "en")?.time;
  if (english === undefined) return [];
  const rules = grammarOf(english).rules.filter(({ isRelative }) => isRelative);
  return findAll(text.replace(/\s+/g, " "), rules, now).slice(0, MAX_PERIODS);
}

const OR = fromLanguages(
  () => new RegExp(`^,? ?(?:${anyOf(timeWords().map((words) => words.or))}) (?:\\p{L}+ )?$`, "u"),
);
const MAX_PERIODS = 8;
/** A question says within so many characters when it means. */
const MAX_QUESTION_CHARS = 1_000;

/** Whether a text says nothing, in some language, but that something happened: "what did I do", "was war los". */
export function asksForNothingElse(text: string): boolean {
  const { folded } = foldedWords(text);
  const words = folded.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  if (words.length === 0 || HAPPENED_UNSPACED.test(words.join(""))) return true;
  return EMPTY().some((pattern) => words.every((word) => pattern.test(word)));
}

/** The words of each language that say nothing in a question of what happened. */
const EMPTY = fromLanguages(() =>
  timeWords().map(({ empty }) => new RegExp(`^(?:${empty.join("|")})$`, "u")),
);

/** A question of the past, folded. */
const ASKS_OF_PAST = new RegExp(
  `(?<!\\p{L})(?:${[
    "did|(?<=(?:what|who|how|which|there|it|i) )was|were|happened|went on|war(?:en)?|gab|hatten?|gemacht|getan|passiert|geschehen|unternommen|notiert|aufgeschrieben",
    "fait|passee?s?|etait|arrive|(?<=(?:ai|as|a|avons|avez|ont) )eu|note|ecrit|hice|hizo|hicimos|paso|ocurrio|sucedio|hecho|fue|hubo|anote|estuve|tuve",
    "fatto|facevo|successo|accaduto|avvenuto|scritto|stat[oi]|era|fiz|fez|fizemos|aconteceu|passou|foi|houve|feito|anotei|escrevi",
    "deed|deden|gedaan|gebeurd|gebeurde|waren|opgeschreven|genoteerd|было|были|делала?|случилось|произошло",
  ].join("|")})(?!\\p{L})`,
  "u",
);

const HAPPENED_UNSPACED =
  /^(?:我们?|私|都?|做|干|了|什么|什麼|事情?|发生|發生|有|的|过|過|呢|吗|何|を|が|は|し|た|ました|か|あった|あり|の|に|こと)+$/u;

/** Cost: linear for each rule. */
function findAll(text: string, rules: readonly Rule[], now: number): NamedPeriod[] {
  const found: NamedPeriod[] = [];
  let rest = text;
  for (const { pattern, read } of rules) {
    const pieces: string[] = [];
    let at = 0;
    for (const match of matchesOf(pattern, rest)) {
      const period = read(match.groups ?? {}, now);
      if (period === undefined || Number.isNaN(period.from + period.to)) continue;
      const end = match.index + match[0].length;
      found.push({ ...period, start: match.index, end });
      // This character matches no rule.
      pieces.push(rest.slice(at, match.index), "\u0001".repeat(match[0].length));
      at = end;
    }
    if (pieces.length > 0) rest = pieces.join("") + rest.slice(at);
  }
  return found.sort((a, b) => a.start - b.start);
}

/** The periods as the words before, between and after them change them. */
function join(
  text: string,
  found: readonly NamedPeriod[],
  grammar: Grammar,
  now: number,
): NamedPeriod | undefined {
  const { connectors, joins, onwards, part } = grammar;
  const [first, second] = found.slice(0, 2).map((period) => {
    const inside = part.inside.exec(text.slice(period.start, period.end));
    const groups = (inside ?? part.ahead.exec(text.slice(0, period.start)))?.groups;
    const place = ["first", "second", "third"].findIndex((name) => groups?.[name] !== undefined);
    return place < 0 ? period : thirdOf(period, place);
  });
  if (first === undefined) return undefined;
  const ahead = text.slice(0, first.start);
  const before = (pattern: RegExp) => pattern.exec(ahead)?.index;
  if (second !== undefined) {
    const gap = text.slice(first.end, second.start);
    const between =
      before(connectors.between) ??
      (joins.to.test(gap) ? (before(connectors.from) ?? first.start) : undefined);
    const fromTo = (last: Period) => ({
      from: first.isOfAnyYear === true ? sameDayBefore(first.from, last.from) : first.from,
      to: last.to,
    });
    // A period that has begun may end after now.
    const later =
      first.isOfAnyYear === true && second.isOfAnyYear === true ? fromTo(yearLater(second)) : undefined;
    const period = later !== undefined && later.from <= now ? later : fromTo(second);
    if (between !== undefined && (joins.and.test(gap) || joins.to.test(gap)) && period.to > period.from)
      return { ...period, start: between, end: second.end };
  }
  // "Last week or ten days ago": from the one to the other.
  if (second !== undefined && OR().test(text.slice(first.end, second.start))) {
    const [from, to] = [Math.min(first.from, second.from), Math.max(first.to, second.to)];
    return { from, to, start: before(connectors.in) ?? first.start, end: second.end };
  }
  const rest = { start: first.start, end: first.end };
  const after = onwards.exec(text.slice(first.end));
  const ways: readonly (readonly [number | undefined, Period])[] = [
    [before(connectors.since), { from: first.from, to: Infinity }],
    [before(connectors.before), { from: -Infinity, to: first.from }],
    [before(connectors.after), { from: first.to, to: Infinity }],
    [before(connectors.until), { from: -Infinity, to: first.to }],
  ];
  // "Von Mai an", but not "was stand im Mai an?"
  const start = after === null ? undefined : (before(connectors.from) ?? before(connectors.since));
  if (after !== null && start !== undefined)
    return { from: first.from, to: Infinity, start, end: first.end + after[0].length };
  if (first.isSpan === true) {
    const { between, from, in: inside } = connectors;
    return { ...first, ...rest, start: before(between) ?? before(from) ?? before(inside) ?? first.start };
  }
  for (const [start, period] of ways) if (start !== undefined) return { ...period, ...rest, start };
  return { ...first, ...rest, start: before(connectors.in) ?? first.start };
}

/** A text as the rules read it, and where each of its characters stands in the text. */
function foldedWords(text: string) {
  let folded = "";
  const places: { readonly start: number; readonly end: number }[] = [];
  for (const { 0: part, index } of text.matchAll(/[\p{L}\p{M}\p{N}]+|[^\p{L}\p{M}\p{N}]/gu)) {
    // One blank for any white space: the rules would look for all ways to divide a run.
    const plain = /\s/.test(part) ? (folded.endsWith(" ") ? "" : " ") : fold(part).replace("’", "'");
    folded += plain;
    for (let i = 0; i < plain.length; i += 1) places.push({ start: index, end: index + part.length });
  }
  return { folded, originalOf: (place: number) => places[place] ?? { start: 0, end: 0 } };
}
