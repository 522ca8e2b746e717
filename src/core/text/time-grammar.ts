import { once } from "../at-once.ts";
import { expression } from "./expression.ts";
import { NEVER, type TimeWords } from "./languages.ts";
import {
  DAY_MS,
  agoPeriod,
  christmas,
  days,
  daysNamed,
  daysSince,
  daysUntil,
  dayStart,
  FEW,
  latest,
  lengthOf,
  monday,
  monthsFrom,
  partOfYear,
  thirdOf,
  unitPeriod,
  WEEK_MS,
  HOUR_MS,
  weekdayAt,
  wholeYear,
  type Groups,
  needing,
  type Rule,
  unitIn,
} from "./time-periods.ts";
import {
  any,
  dayAheadOf,
  dayPartOf,
  MIXED,
  monthsBack,
  RULES_OF_SIGNS,
  rule,
  ruleOfDigits,
  weekRule,
} from "./time-shared.ts";

const YEAR = String.raw`((?:19|20)\d\d)(?![-/]?\w)`;

const CONNECTORS = ["before", "after", "since", "until", "between", "from"] as const;

export interface Grammar {
  readonly rules: readonly Rule[];
  /** How the words around times join them. */
  readonly joining: () => Joining;
}

export interface Joining {
  readonly connectors: Readonly<Record<"in" | (typeof CONNECTORS)[number], RegExp>>;
  readonly joins: Readonly<Record<"and" | "to", RegExp>>;
  readonly onwards: RegExp;
  /** "early", "mid", "late", with what binds them to the time behind; groups `first`, `second` and `third`. */
  readonly part: { readonly ahead: RegExp; readonly inside: RegExp };
}

/** The grammar of a language. */
export function grammarOf(words: TimeWords): Grammar {
  const mixed = MIXED();
  const { in: inWords, empty } = words;
  const ofWords = words.of === NEVER ? "" : words.of;
  const dayAhead = dayAheadOf(words);
  const numbers = `(?<count>\\d{1,3}|${any(words.numbers)})`;
  const placeIn = (list: readonly string[]) => {
    const forms = once(() => list.map((one) => expression(`^(?:${one})$`)));
    return (text = "") => forms().findIndex((form) => form.test(text));
  };
  const numberOf = placeIn(words.numbers);
  const countOf = (count = "") => {
    const place = numberOf(count);
    return place < 0 ? Number(count) : place === words.numbers.length - 1 ? FEW : place + 1;
  };
  const unit = `(?:(?<day>${words.day})|(?<week>${words.week})|(?<month>${words.month})|(?<year>${words.year})|(?<weekend>${words.weekend}))`;
  const month = (name = "monthName") => `(?<${name}>${any(words.months)})\\.?`;
  const monthOf = placeIn(words.months);
  const of = ofWords === "" ? " " : ` (?:(?:${ofWords}) )?`;
  const dayOfMonth = String.raw`(?<date>\d{1,2})(?:\.|st|nd|rd|th|er|s?t?e|de|o|°|-?го)?`;
  const lastDay = dayOfMonth.replace("date", "lastDate");
  const through = ` ?(?:-|–|(?:${words.and}|${words.to})(?= |'))(?: ?(?:\\p{L}{1,3}[ ']))? ?`;
  const nth = `(?<nth>${any(mixed.ordinals)})`;
  const ordinalOf = placeIn(mixed.ordinals);
  const weekday = `(?<weekdayName>${any(words.weekdays)})${dayPartOf(words)}`;
  const weekdayOf = placeIn(words.weekdays);
  const unitOrDay = `(?:${unit}|${weekday})`;
  const season = `(?<season>${any(words.seasons)})`;
  const seasonOf = placeIn(words.seasons);
  /** The month or the season that was named, else Christmas, of a year. */
  const yearly =
    ({ monthName, season: part }: Groups) =>
    (y: number) => {
      if (monthName !== undefined) return monthsFrom(y, monthOf(monthName), 1);
      return part === undefined ? christmas(y) : monthsFrom(y, 2 + 3 * seasonOf(part), 3);
    };
  const last = `(?:${words.last})`;
  const lastAfter = `(?:${words.lastAfter})`;
  /** "at the end of (the month of)": the third of what follows that is meant. */
  const bound = (parts: string) =>
    `(?:${parts})(?: (?:${ofWords}))?(?: (?:${words.month}) (?:${ofWords}))?(?:[ -]|(?<='))`;
  const part = bound(any(words.parts));
  const inTime = `(?:(?:${inWords})(?:${part})?|${part})`;
  const link = `(?:,? ?(?:${ofWords}|${inWords})?){0,2} ?`;
  const span = `(?:(?<fortnight>${words.fortnight})|${numbers} ${unit})`;
  const ofDay = (source: string) =>
    `(?:(?:(?<today>${words.today})|(?<yesterday>${words.yesterday})),? )?${source}(?: (?<todayAfter>${words.today}))?`;
  const year = YEAR.replace("(", "(?<y>");
  const lastOf = (noun: string) => `${last} (?:${noun})|(?:${noun}) ${lastAfter}`;
  const lastWeek = `(?:${lastOf(words.week)})`;
  const nextYear = `(?:${mixed.next}) (?:${words.year})|(?:${words.year}) (?:${mixed.next})`;
  /** Behind a part of a year: " 2025", " of the year 2025", " letzten Jahres"; read as group `y`. */
  const ofYear = `(?:[ /-]?${link}(?:(?:${words.year}) (?:(?:${ofWords}) )?)?${year}|${link}(?:(?<lastYear>${lastOf(words.year)})|(?<thisYear>(?:${words.this}) (?:${words.year}))|(?<nextYear>${nextYear})))`;
  /** Behind a day without a month: no noun, of which it would be a number. */
  const noNoun = String.raw`(?!\d| ?${mixed.joining} ?\d| (?:(?:${ofWords})(?!\p{L})|${mixed.numbered}))(?= ?(?:[?!;)]|[,:](?!\d)|\.? ?$)| (?:${empty})(?!\p{L}))`;
  const ofMonth = `${link}(?:(?<monthBefore>${lastOf(words.month)})|(?<monthNow>(?:${words.this}) (?:${words.month})))`;
  /** Behind a word that makes a time of what follows. */
  const preceded = (more = NEVER) =>
    `(?<=(?<![\\p{L}\\p{N}])(?:${[inWords, ...CONNECTORS.map((name) => words[name]), more].join(
      "|",
    )}) ?(?:${part})?|(?<![\\p{L}\\p{N}])${part})`;

  /** "In the week of" before a day. */
  const weekOf = `(?:(?<inWeek>${words.week})${link})?`;
  const ofMonths = expression(any(words.months));
  const ofNth = expression(any(mixed.ordinals));
  const ofParts = expression(String.raw`\d|${any(mixed.ordinals)}`);
  const rules = [
    RULES_OF_SIGNS.first,
    needing(
      /\d\.\d/u,
      ruleOfDigits(
        String.raw`${preceded()}(?<d>\d{1,2})\.(?<m>\d{1,2})\.(?!\d| ?(?:${mixed.numbered}))`,
        ({ m, d }, now) => daysNamed(Number(d), Number(d), Number(m) - 1, undefined, now),
      ),
    ),
    // "between the 1st and the 10th of October", "vom 3. bis 5. Mai 2026", "May 3–5", "28 October to the 3rd", "on the 9th"
    needing(
      /\d/u,
      rule(
        [
          `(?<!(?:${any(words.months)})\\.? )${dayOfMonth}${through}${lastDay}${of}${month()}(?:${ofYear})?`,
          `${month("firstMonth")} ${dayOfMonth}${through}${lastDay}(?!\\d|${of}${month()})(?:${ofYear})?`,
          `${dayOfMonth}${of}${month("firstMonth")}${through}${lastDay}(?!${of}${month()})${noNoun}`,
          `${weekOf}${dayOfMonth}${of}${month()}(?:${ofYear})?`,
          `${weekOf}${month()} ${dayOfMonth}(?!\\d)(?:,? ${year})?`,
          `${dayOfMonth}(?:${through}${lastDay})?${ofMonth}`,
          `(?:${dayAhead})${dayOfMonth}(?:${through}${lastDay})?${noNoun}`,
        ],
        ({ date, lastDate, monthName, firstMonth, monthBefore, monthNow, y, inWeek }, now) => {
          const [first, last] = [Number(date), Number(lastDate ?? date)];
          const ofNow = monthsBack(monthBefore, monthNow);
          const named = monthOf(firstMonth ?? monthName) + (firstMonth !== undefined && last < first ? 1 : 0);
          const end =
            ofNow !== undefined ? new Date(now).getUTCMonth() - ofNow : named < 0 ? undefined : named;
          const inYear = ofNow === undefined ? y : String(new Date(now).getUTCFullYear());
          const period = daysNamed(first, last, end, inYear, now);
          if (period !== undefined && inWeek !== undefined) return unitPeriod("week", 0, period.from);
          return period && { ...period, isSpan: lastDate !== undefined };
        },
      ),
    ),
    // "June and July 2025", "from June to August 2026"
    needing(
      ofMonths,
      rule(
        [
          `${month()} ?(?:-|–|/|${words.and}|${words.to}) ?${month("lastMonth")}${ofYear}`,
          `${preceded()}${month()} (?:-|–|/|${words.and}|${words.to}) ${month("lastMonth")}`,
        ],
        ({ monthName, lastMonth, y }, now) => {
          const first = monthOf(monthName);
          const count = ((monthOf(lastMonth) - first + 12) % 12) + 1;
          if (y === undefined)
            return { ...latest((year) => monthsFrom(year, first, count), now), isSpan: true };
          return { ...monthsFrom(Number(y) - (first + count > 12 ? 1 : 0), first, count), isSpan: true };
        },
      ),
    ),
    // "the first three months of 2026", "les trois premiers mois de 2026"
    rule(
      [
        `(?:(?<first>${mixed.firsts})|${last}) ${numbers} (?:${words.month})${ofYear}`,
        `${numbers} (?:(?<first>${mixed.firsts})|${last}) (?:${words.month})${ofYear}`,
      ],
      ({ first, count, y }) => {
        const length = countOf(count);
        return monthsFrom(Number(y), first === undefined ? 12 - length : 0, length);
      },
    ),
    needing(/\d/u, weekRule(words.week, ofYear, noNoun)),
    rule(`jahres(?:beginn|anfang)(?:${ofYear})?`, ({ y }, now) =>
      thirdOf(wholeYear(Number(y ?? new Date(now).getUTCFullYear())), 0),
    ),
    // "the second half of May", "Q1 2025", "im letzten Quartal 2025", "last quarter"
    needing(
      ofNth,
      rule(
        [
          `(?:${inWords})?${nth} (?:${mixed.half}|(?:(?<day>${words.day})|(?<week>${words.week}))(?=,? ?(?:${ofWords}|${inWords})))(?:${link}${month()}|${ofMonth})(?:${ofYear})?`,
          `(?:${inWords})?${nth} ${month()}halfte(?:${ofYear})?`,
        ],
        ({ nth: place, day, week, monthName, monthBefore, monthNow, y }, now) => {
          const ofYear = (one: number) => monthsFrom(one, monthOf(monthName), 1);
          const ofNow = monthsBack(monthBefore, monthNow);
          const { from, to } =
            ofNow !== undefined
              ? unitPeriod("month", ofNow, now)
              : y === undefined
                ? latest(ofYear, now)
                : ofYear(Number(y));
          const length = day !== undefined ? DAY_MS : week !== undefined ? WEEK_MS : undefined;
          if (length !== undefined) {
            const isLast = ordinalOf(place) === mixed.ordinals.length - 1;
            const start = isLast ? to - length : from + ordinalOf(place) * length;
            return { from: start, to: start + length };
          }
          const middle = from + 15 * DAY_MS;
          return ordinalOf(place) === 0 ? { from, to: middle } : { from: middle, to };
        },
      ),
    ),
    needing(
      ofParts,
      ruleOfDigits(
        [
          `(?:${inWords})?(?<y>(?:19|20)\\d\\d)[ /-]?[qt](?<quarterNumber>[1-4])`,
          `(?<within>${inWords})?(?:${nth} (?:(?<half>${mixed.half})|${mixed.quarter})|[qt](?<quarterNumber>[1-4])|[hs](?<halfNumber>[12]))(?:${ofYear}|${link}(?<whole>${words.year})|(?![ /-]?${link}\\d{4}| of(?!\\p{L})))`,
        ],
        ({ nth: place, half, whole, quarterNumber, halfNumber, y, within }, now) => {
          const number = quarterNumber ?? halfNumber;
          const isHalf = (half ?? halfNumber) !== undefined;
          // Halves of a match are none of a year, and "Q1" alone may be a word of the text that is looked for.
          const isOfYear = quarterNumber ? within !== undefined : /year|jahr|jaar|sem/.test(half ?? "");
          if ((isHalf || number !== undefined) && (y ?? whole) === undefined && !isOfYear) return undefined;
          const count = isHalf ? 2 : 4;
          const named = number === undefined ? ordinalOf(place) : Number(number) - 1;
          // "Last quarter", of no year that is named, is the one that is over.
          if (named === mixed.ordinals.length - 1 && (y ?? whole) === undefined)
            return partOfYear(count, now, 1);
          const index = Math.min(named, count - 1);
          const ofYear = (one: number) => monthsFrom(one, (index * 12) / count, 12 / count);
          return y === undefined ? latest(ofYear, now) : ofYear(Number(y));
        },
      ),
    ),
    rule(
      `(?:${inWords})?(?:${lastOf(mixed.quarter)}|(?<this>${words.this}) (?:${mixed.quarter}))`,
      (groups, now) => partOfYear(4, now, groups["this"] === undefined ? 1 : 0),
    ),
    rule([`${month()}${ofYear}`, `(?:${inTime})?(?:${season}|${words.christmas})${ofYear}`], (groups) =>
      yearly(groups)(Number(groups["y"])),
    ),
    rule(
      [`${weekday}${link}${lastWeek}`, `${lastWeek}${link}${weekday}`],
      ({ weekdayName }, now) => days(monday(now) - WEEK_MS, weekdayOf(weekdayName)),
      true,
    ),
    rule(
      [`${last} ${weekday}`, `${weekday} ${lastAfter}`],
      ({ weekdayName }, now) => {
        const back = daysSince(weekdayOf(weekdayName), now);
        // Some mean a day of this week that is over, and some the one of the week before.
        return { ...days(now, -back), ...(back <= weekdayAt(now) ? { or: days(now, -back - 7) } : {}) };
      },
      true,
    ),
    rule(
      [
        `(?:${inWords})?(?:${mixed.beforeLast}) ${unit}`,
        `(?:${inWords})?${unit} (?:before last|${mixed.beforeLast})`,
      ],
      (groups, now) => unitPeriod(unitIn(groups), 2, now),
      true,
    ),
    rule(
      [ofDay(`(?:${words.agoBefore}) ${span}`), ofDay(`${span} (?:${words.agoAfter})`)],
      ({ fortnight, today, todayAfter, yesterday, ...groups }, now) => {
        const then = yesterday === undefined ? now : now - DAY_MS;
        const isOfDay = (today ?? todayAfter ?? yesterday) !== undefined;
        return fortnight === undefined
          ? agoPeriod(countOf(groups["count"]), unitIn(groups), then, isOfDay)
          : agoPeriod(2, "week", then, isOfDay);
      },
      true,
    ),
    rule(
      `(?:${inWords})?(?:${lastOf(words.fortnight)})`,
      (_, now) => ({ from: dayStart(now) - 2 * WEEK_MS, to: Infinity }),
      true,
    ),
    rule(
      [
        `(?:${inWords})?${last} ${numbers} ${unit}`,
        `(?:${inWords})?${numbers} ${last} ${unit}`,
        `(?:${inWords})?${numbers} ${unit} ${lastAfter}`,
      ],
      (groups, now) => ({
        from: dayStart(now) - countOf(groups["count"]) * lengthOf(unitIn(groups)),
        to: Infinity,
      }),
      true,
    ),
    rule(
      `(?:${inTime})?(?:${words.past}) ${unit}`,
      (groups, now) => ({ from: dayStart(now) - lengthOf(unitIn(groups)), to: Infinity }),
      true,
    ),
    rule(
      [
        `(?:${inTime})?(?:${last}|(?<this>${words.this})) (?:${unit}|${season}|${month()})`,
        `(?:${inTime})?(?:${unit}|${season}|${month()}) ${lastAfter}`,
      ],
      (groups, now) => {
        const back = groups["this"] === undefined ? 1 : 0;
        if ((groups["monthName"] ?? groups["season"]) === undefined)
          return unitPeriod(unitIn(groups), back, now);
        const periodOf = yearly(groups);
        // "Last summer" is over.
        const found = latest(periodOf, now);
        return back === 1 && found.to > now ? latest(periodOf, found.from - 1) : found;
      },
      true,
    ),
    rule(
      [`(?:${inWords})?(?:${mixed.next}) ${unitOrDay}`, `(?:${inWords})?${unitOrDay} (?:${mixed.next})`],
      ({ weekdayName: name, ...groups }, now) =>
        name === undefined ? unitPeriod(unitIn(groups), -1, now) : days(now, daysUntil(weekdayOf(name), now)),
      true,
    ),
    rule(
      [
        `(?:${inWords})?${last} (?:${numbers} )?(?:${words.hour})`,
        `(?:${inWords})?${numbers} ${last} (?:${words.hour})`,
        `(?:${inWords})?${numbers} (?:${words.hour}) ${lastAfter}`,
      ],
      ({ count }, now) => ({
        from: now - (count === undefined ? 1 : countOf(count)) * HOUR_MS,
        to: Infinity,
      }),
    ),
    // "at the beginning of the year", but not "of the month of May"
    rule(
      `${part}${unit}(?! ?(?:${words.of})(?:(?<=')|(?![\\p{L}\\p{N}])))`,
      (groups, now) => unitPeriod(unitIn(groups), 0, now),
      true,
    ),
    rule(words.tomorrow, (_, now) => days(now, 1), true),
    rule(words.dayBeforeYesterday, (_, now) => days(now, -2), true),
    rule(words.yesterday, (_, now) => days(now, -1), true),
    rule(words.today, (_, now) => days(now, 0), true),
    rule(`${preceded(words.the)}(?:${words.weekend})`, (_, now) => unitPeriod("weekend", 0, now), true),
    rule(
      [
        `${last} (?:${words.christmas})`,
        `${preceded()}(?:${month()}|${season}|${words.christmas})`,
        `(?:${month()}|${season}|${words.christmas}) (?:${words.inAfter})`,
      ],
      (groups, now) => latest(yearly(groups), now),
    ),
    needing(
      /\d{4}/u,
      ruleOfDigits(`${preceded(`${words.and}|${words.to}`)}${year}(?: ?(?:г|года|году))?`, ({ y }) =>
        wholeYear(Number(y)),
      ),
    ),
    rule(`(?:${words.this}) ${weekday}`, ({ weekdayName }, now) => days(monday(now), weekdayOf(weekdayName))),
    rule(weekday, ({ weekdayName }, now) => ({
      ...days(now, -daysSince(weekdayOf(weekdayName), now)),
      isVague: true,
    })),
    ruleOfDigits(`(?<=^ ?)${year}(?= ?[:,?]| ?$)`, ({ y }) => wholeYear(Number(y))),
    RULES_OF_SIGNS.last,
  ].flat();
  const end = (source: string) =>
    expression(String.raw`(?<![\p{L}\p{N}])(?:${source})(?: ?${part})?(?: ?(?:the|dia|giorno))?[ '’]*$`);
  const [first, second, third] = words.parts.map(bound);
  const thirds = `(?:(?<first>${first})|(?<second>${second})|(?<third>${third}))`;
  const whole = (source: string) => expression(String.raw`^[ ,]*(?:${source})(?: \p{L}+){0,3}[ '’]*$`);
  const joining = once((): Joining => ({
    connectors: {
      ...(Object.fromEntries(CONNECTORS.map((name) => [name, end(words[name])])) as Joining["connectors"]),
      in: end(`${inWords}|${part}|${words.the}`),
    },
    joins: { and: whole(words.and), to: whole(`${words.to}|-|–`) },
    part: {
      ahead: expression(String.raw`(?<![\p{L}\p{N}])${thirds}[ '’]*$`),
      inside: expression(`^(?:${inWords})?${thirds}`),
    },
    onwards: expression(String.raw`^ (?:${words.onwards})(?![\p{L}\p{N}])`),
  }));
  return { rules, joining };
}
