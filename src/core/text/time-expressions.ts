import { once } from "../at-once.ts";
import { expression } from "./expression.ts";
import { fold, matchesOf } from "./fold.ts";
import { fromLanguages, timeWords, wordsOfAll } from "./languages.ts";
import { anchorOf, DIGITS_ANCHOR } from "./time-shared.ts";
import { type Grammar, grammarOf } from "./time-grammar.ts";
import { dayStart, type Period, type Rule, sameDayBefore, thirdOf, yearLater } from "./time-periods.ts";

/** A period and where a text names it. */
export interface NamedPeriod extends Period {
  /** In UTF-16 units of the text. */
  readonly start: number;
  readonly end: number;
  /** The same of the coming year, where nothing says which is meant and it is the nearer one. */
  readonly mayCome?: Period;
}

/** The grammars of all languages that have a calendar, each made when it is first needed. */
const GRAMMARS = fromLanguages((languages) =>
  languages.flatMap(({ name, time }) =>
    time === undefined
      ? []
      : [{ name, anchor: once(() => anchorOf(time)), grammar: once(() => grammarOf(time)) }],
  ),
);

/**
 * The time that a question names, in the language in which most of it reads as one: "last week", "im Mai 2026", "since
 * June". Undefined where it names none. A month, day or season of no year is the coming one where the question asks for what is to come.
 * The words between several times tell what is meant ("between … and …"), else the first counts.
 * @param now as a clock on the wall shows it
 */
export function timeOfQuestion(text: string, now: number): NamedPeriod | undefined {
  const { folded, originalOf } = foldedWords(text.slice(0, MAX_QUESTION_CHARS));
  let best: { readonly period: NamedPeriod; readonly length: number } | undefined;
  const hasDigits = DIGITS_ANCHOR.test(folded);
  for (const { anchor, grammar } of GRAMMARS()) {
    const hasWords = anchor().test(folded);
    if (!hasWords && !hasDigits) continue;
    const { rules, joining } = grammar();
    const found = findAll(folded, hasWords ? rules : rules.filter(({ needsNoWord }) => needsNoWord), now);
    const period = join(folded, found, joining, now);
    if (period === undefined) continue;
    const length = period.end - period.start;
    if (best === undefined || length > best.length) best = { period, length };
  }
  if (best === undefined) return undefined;
  const { start, end, isOfAnyYear, isVague } = best.period;
  const isPast = ASKS_OF().past.test(folded);
  if (isVague === true && !isPast) return undefined;
  const mayBeToCome = isOfAnyYear === true && !isPast;
  const isMeantToCome = mayBeToCome && ASKS_OF().coming.test(folded);
  const later = (period: Period): Period => (period.to > now ? period : later(yearLater(period)));
  const period = isMeantToCome ? later(best.period) : best.period;
  const { to } = period;
  // A question for things due "before Christmas" asks from today on.
  const isBefore = period.from === -Infinity;
  const from = isMeantToCome && isBefore ? dayStart(now) : period.from;
  const place = { start: originalOf(start).start, end: originalOf(end - 1).end };
  const isComing = from > now || (isMeantToCome && to > now);
  const next = later(best.period);
  const mayCome = mayBeToCome && !isMeantToCome && next.from > now && next.from - now < now - from;
  return {
    from,
    to,
    ...place,
    ...(isOfAnyYear === true && !isBefore && { isOfAnyYear }),
    ...(isVague === true && !isBefore && { isVague }),
    ...(isComing && { isComing }),
    ...(mayCome && { mayCome: { from: next.from, to: next.to } }),
  };
}

/** The words of questions in any language for what is to come, and for what happened, folded. */
const ASKS_OF = fromLanguages((languages) => {
  const { coming, comingUnspaced, happened, happenedUnspaced } = wordsOfAll(languages, "question");
  const spoken = (words: string) => String.raw`(?<!\p{L})(?:${words})(?!\p{L})`;
  return {
    coming: expression(`${spoken(coming)}|${comingUnspaced}`),
    past: expression(spoken(happened)),
    /** All of a question that says nothing else. Never goes back to a word: one that two languages have would be tried in all ways. */
    pastUnspaced: expression(String.raw`^(?:(?=(${happenedUnspaced}))\1)+$`),
    /** The words of each language of which each says nothing else. */
    empty: timeWords().map(({ empty }) => expression(`^(?:${empty})$`)),
  };
});

/** Periods named by their distance from `now` in English, at most eight. @param text folded. */
export function relativePeriods(text: string, now: number): Period[] {
  const english = GRAMMARS().find(({ name }) => name === "en");
  const rules = english?.grammar().rules.filter(({ isRelative }) => isRelative) ?? [];
  return findAll(text.replace(/\s+/g, " "), rules, now).slice(0, MAX_PERIODS);
}

const OR = fromLanguages((languages) =>
  expression(`^,? ?(?:${wordsOfAll(languages, "time").or}) (?:\\p{L}+ )?$`),
);
const MAX_PERIODS = 8;
/** A question says within so many characters when it means. */
const MAX_QUESTION_CHARS = 1_000;

/** Whether a text says nothing, in some language, but that something happened: "what did I do", "was war los". */
export function asksForNothingElse(text: string): boolean {
  const { folded } = foldedWords(text);
  const words = folded.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  if (words.length === 0 || ASKS_OF().pastUnspaced.test(words.join(""))) return true;
  return ASKS_OF().empty.some((pattern) => words.every((word) => pattern.test(word)));
}

/** Cost: linear for each rule. */
function findAll(text: string, rules: readonly Rule[], now: number): NamedPeriod[] {
  const found: NamedPeriod[] = [];
  let rest = text;
  for (const rule of rules) {
    if (rule.needs?.test(rest) === false) continue;
    const { pattern, read } = rule;
    const pieces: string[] = [];
    let at = 0;
    for (const match of matchesOf(pattern(), rest)) {
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
  joining: Grammar["joining"],
  now: number,
): NamedPeriod | undefined {
  if (found.length === 0) return undefined;
  const { connectors, joins, onwards, part } = joining();
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
  const { isOfAnyYear = false, isVague = false } = first;
  const ways: readonly (readonly [number | undefined, Period])[] = [
    [before(connectors.since), { from: first.from, to: Infinity }],
    [before(connectors.before), { from: -Infinity, to: first.from, isOfAnyYear, isVague }],
    [before(connectors.after), { from: first.to, to: Infinity }],
    [before(connectors.until), { from: -Infinity, to: first.to, isOfAnyYear, isVague }],
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
