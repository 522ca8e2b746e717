import {
  DAY_MS,
  dayOf,
  latest,
  monday,
  monthsFrom,
  type Rule,
  unitPeriod,
  yearNamed,
} from "./time-periods.ts";
import { words } from "./time-words-form.ts";

/** Parts of a year or a month, in all these languages: the first to the fourth, then the last; halves; quarters. */
export const PARTS = {
  ordinals: words(
    "first|1st|erste[nrsm]?|1\\.|1ere?|premiere?|primera?|primero|1er|prim[oa]|primeir[oa]|1o|eerste|1e second|2nd|zweite[nrsm]?|2\\.|deuxieme|seconde?|2e(?:me)?|segund[oa]|second[oa]|2o|tweede third|3rd|dritte[nrsm]?|3\\.|troisieme|3e(?:me)?|tercera?|3er|terzo|terceiro|3o|derde fourth|4th|vierte[nrsm]?|4\\.|quatrieme|4e(?:me)?|cuarto|quarto|4o|vierde last|final|letzte[nrsm]?|derniere?|ultim[oa]|laatste",
  ),
  half: "half(?: year)?|(?:jahres)?halfte|halbjahr(?:es)?|semestre|moitie|quinzaine|mitad|quincena|meta|metade|quinzena|helft|halfjaar",
  quarter: "quarter|quartals?|vierteljahr(?:es)?|trimestre|kwartaal",
  firsts: "first|ersten?|premiers|primer[oa]s|prim[ie]|primeir[oa]s|eerste",
  /** Before its noun or after it. */
  next: "next|coming|nachste[nmrs]?|kommende[nmrs]?|prochaine?|prox[io]m[oa]|prossim[oa]|que (?:viene|vem)|volgende?|komende?|следующ\\p{L}{2,3}|przysz(?:ly|lego|lym|la|lej)|nastepn(?:y|ego|ym|a|ej)|अगल[ेाी]|agl[aei]",
  beforeLast:
    "vorletzte[nmrs]?|avant-derniere?|penultim[oa]|antepasad[oa]|retrasad[oa]|atrasad[oa]|voorlaatste",
} as const;

/** Before a day without a month: "on the 9th", "am 9.", "le 9", "el día 9", "op de 9e". */
export const DAY_AHEAD: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ["en", "(?:on|between|from|since|until|till|before|after) the", "(?:st|nd|rd|th)"],
    ["de", "am|vom|bis(?: zum)?|(?:zwischen|seit|ab|vor|nach) dem", String.raw`\.`],
    // "Le 9" is an hour in Italian.
    ["fr", "(?<!(?<![a-z])(?:e|tra|fra|dopo|verso|per) )le|du|jusqu'au", ""],
    ["es", "el|del|dia", ""],
    ["it", "il|dal|giorno", ""],
    ["pt", "dia|entre o", ""],
    ["nl", "(?:op|tussen|van|sinds|vanaf|voor|na|tot) de", "(?:e|de|ste)"],
  ].map(([name, ahead, behind]) => [name, String.raw`(?<=(?<!\p{L})(?:${ahead}) )(?=\d+${behind})`]),
);

/** Nouns, folded, that have numbers such as "1.2.", which is a day and a month before anything else. */
export const NUMBERED =
  "note|notiz|nota|notiti|entr[iy]|eintr|list|review|recap|event|evene|ereign|place|por cien|pour cent|per cento|" +
  "release|version|versao|versie|fassung|build|beta|update|patch|revision|edition|ausgabe|chapter|kapitel|chapitre|capit|hoofdstuk|" +
  "section|seccion|secao|sezione|abschnitt|paragra|artikel|article|articulo|artigo|aufgabe|exercise|релиз|верси|глав";

/** Between two numbers of one thing, in any language. */
export const AND = String.raw`(?:[-–/]|(?:and|or|und|oder|bis|et|ou|au?|y|o|al|e|en|of|tot)(?: \p{L}{1,3})?)`;

/**
 * Rules for whole words, one per source; a language leaves out those that it has no words for. As group `y` they read the
 * year that is named, also from that of now.
 */
export const rule = (
  sources: string | readonly (string | undefined)[],
  read: Rule["read"],
  isRelative = false,
): Rule[] =>
  [sources].flat().flatMap((source) =>
    source === undefined
      ? []
      : {
          pattern: new RegExp(String.raw`(?<![\p{L}\p{N}\u0001])(?:${source})(?![\p{L}\p{N}])`, "gu"),
          read: (groups, now) => read({ ...groups, y: yearNamed(groups, now) }, now),
          isRelative,
        },
  );

/** Dates of digits, in all languages. */
export const NUMERIC_RULES: readonly Rule[] = [
  rule(String.raw`(?<y>(?:19|20)\d\d)-(?<m>\d\d)-(?<d>\d\d)`, ({ y, m, d }) =>
    dayOf(Number(y), Number(m) - 1, Number(d)),
  ),
  rule(String.raw`(?<d>\d{1,2})[.-](?<m>\d{1,2})[.-](?<y>(?:19|20)\d\d)`, ({ y, m, d }) =>
    dayOf(Number(y), Number(m) - 1, Number(d)),
  ),
  rule(String.raw`(?<a>\d{1,2})/(?<b>\d{1,2})/(?<y>(?:19|20)\d\d)`, ({ y, a, b }) =>
    Number(b) > 12 ? dayOf(Number(y), Number(a) - 1, Number(b)) : dayOf(Number(y), Number(b) - 1, Number(a)),
  ),
  rule(String.raw`(?<y>(?:19|20)\d\d)[-/](?<m>0[1-9]|1[0-2])(?![-/]\d)`, ({ y, m }) =>
    monthsFrom(Number(y), Number(m) - 1, 1),
  ),
].flat();

/** "Week 45", "KW 3 2025", by ISO 8601: the first week has 4 January in it. The parameters are sources of patterns. */
export const weekRule = (week: string, ofYear: string, noNoun: string): Rule[] =>
  rule(
    `(?:(?<calendar>kw|(?:kalender|calendar )(?:${week}))|(?:${week})) ?(?<number>[1-9]|[1-4]\\d|5[0-3])(?:${ofYear}|${noNoun})`,
    ({ calendar, number, y }, now) => {
      const inYear = (one: number) => unitPeriod("week", 1 - Number(number), Date.UTC(one, 0, 4));
      // A week belongs to the year of its Thursday.
      const thursday = monday(now) + 3 * DAY_MS;
      // Else it may be that of a plan.
      return y === undefined
        ? { ...latest(inYear, thursday), isVague: calendar === undefined }
        : inYear(Number(y));
    },
  );
