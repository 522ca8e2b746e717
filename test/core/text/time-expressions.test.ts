import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { momentOf, wallTime } from "../../../src/core/text/calendar.ts";
import {
  asksForNothingElse,
  relativePeriods,
  timeOfQuestion,
} from "../../../src/core/text/time-expressions.ts";
import { fit } from "../../../src/core/text/time-periods.ts";

const DAY = 86_400_000;
/** A Saturday. */
const NOW = Date.UTC(2026, 10, 21, 15);
const day = (year: number, month: number, date: number, days = 1) => {
  const from = Date.UTC(year, month, date);
  return { from, to: from + days * DAY };
};
const since = (year: number, month: number, date: number) => ({
  from: Date.UTC(year, month, date),
  to: Infinity,
});
const before = (year: number, month: number, date: number) => ({
  from: -Infinity,
  to: Date.UTC(year, month, date),
});

const MAY_2023 = day(2023, 4, 1, 31);
const LAST_WEEK = day(2026, 10, 9, 7);
const YESTERDAY = day(2026, 10, 20);
const THREE_DAYS_AGO = day(2026, 10, 18);
const THIRTY_DAYS = since(2026, 9, 22);
const SPRING_2025 = { from: Date.UTC(2025, 2), to: Date.UTC(2025, 5) };
const TWO_MONTHS_AGO = { from: Date.UTC(2026, 8, 6), to: Date.UTC(2026, 9, 7) };
const FEBRUARY_TO_MAY = { from: Date.UTC(2026, 1), to: Date.UTC(2026, 4) };

describe("timeOfQuestion", () => {
  it.each([
    ["what happened on 7 May 2023", day(2023, 4, 7)],
    ["what happened on May 7th, 2023", day(2023, 4, 7)],
    ["on 2023-05-07", day(2023, 4, 7)],
    ["notes of 2022-09", day(2022, 8, 1, 30)],
    ["was war am 1.2.", day(2026, 1, 1)],
    ["was war am 1.2. los", day(2026, 1, 1)],
    ["vom 1.2. bis 3.4.", { from: Date.UTC(2026, 1), to: Date.UTC(2026, 3, 4) }],
    ["trips in May 2023", MAY_2023],
    ["trips in 2023", day(2023, 0, 1, 365)],
    ["trips in May", day(2026, 4, 1, 31)],
    ["calls on 7 December", day(2025, 11, 7)],
    ["trips in spring 2025", SPRING_2025],
    ["trips in the winter of 2022", { from: Date.UTC(2022, 11), to: Date.UTC(2023, 2) }],
    ["what was on today", day(2026, 10, 21)],
    ["what did I do yesterday?", YESTERDAY],
    ["last week", LAST_WEEK],
    ["over the weekend", day(2026, 10, 21, 2)],
    ["last weekend", day(2026, 10, 14, 2)],
    ["this month", day(2026, 10, 1, 30)],
    ["last year", day(2025, 0, 1, 365)],
    ["last summer", { from: Date.UTC(2026, 5), to: Date.UTC(2026, 8) }],
    ["two months ago", TWO_MONTHS_AGO],
    ["3 days ago", THREE_DAYS_AGO],
    ["in the last 30 days", THIRTY_DAYS],
    // Without an end there is no third to take.
    ["early in the last 30 days", THIRTY_DAYS],
    ["at the end of the last 30 days", THIRTY_DAYS],
    ["last Tuesday", day(2026, 10, 17)],
    ["Tuesday last week", day(2026, 10, 10)],
    ["what is on next Thursday", day(2026, 10, 26)],
    ["was habe ich nächsten Samstag vor", day(2026, 10, 28)],
    ["que dois-je faire en décembre", day(2026, 11, 1, 31)],
    ["before 2023", before(2023, 0, 1)],
    ["what did I do before June", before(2026, 5, 1)],
    ["what did I do before Friday", before(2026, 10, 20)],
    ["what is due before June", { from: Date.UTC(2026, 10, 21), to: Date.UTC(2027, 5) }],
    ["what is due before 3 December", { from: Date.UTC(2026, 10, 21), to: Date.UTC(2026, 11, 3) }],
    ["after May 2023", since(2023, 5, 1)],
    ["since May 2023", since(2023, 4, 1)],
    ["from May 2023 on", since(2023, 4, 1)],
    ["between 1 February and 30 April 2026", FEBRUARY_TO_MAY],
    ["from February to April 2026", FEBRUARY_TO_MAY],
    ["what was on over Christmas 2025", day(2025, 11, 24, 3)],
    ["vorgestern", day(2026, 10, 19)],
    ["Was habe ich letzte Woche gekocht?", LAST_WEEK],
    ["vor drei Tagen", THREE_DAYS_AGO],
    ["in den letzten 30 Tagen", THIRTY_DAYS],
    ["im Mai 2023", MAY_2023],
    ["vor zwei Monaten", TWO_MONTHS_AGO],
    ["am letzten Dienstag", day(2026, 10, 17)],
    ["im Frühling 2025", SPRING_2025],
    ["vor Mai 2023", before(2023, 4, 1)],
    ["seit Mai 2023", since(2023, 4, 1)],
    ["zwischen Februar und April 2026", FEBRUARY_TO_MAY],
    ["qu'ai-je fait la semaine dernière ?", LAST_WEEK],
    ["hier soir", YESTERDAY],
    ["il y a trois jours", THREE_DAYS_AGO],
    ["ces 30 derniers jours", THIRTY_DAYS],
    ["en mai 2023", MAY_2023],
    ["au printemps 2025", SPRING_2025],
    ["mardi dernier", day(2026, 10, 17)],
    ["depuis mai 2023", since(2023, 4, 1)],
    ["avant 2023", before(2023, 0, 1)],
    ["entre février et avril 2026", FEBRUARY_TO_MAY],
    ["¿qué hice la semana pasada?", LAST_WEEK],
    ["hace tres días", THREE_DAYS_AGO],
    ["en los últimos 30 días", THIRTY_DAYS],
    ["en mayo de 2023", MAY_2023],
    ["el martes pasado", day(2026, 10, 17)],
    ["antes de 2023", before(2023, 0, 1)],
    ["desde mayo de 2023", since(2023, 4, 1)],
    ["entre febrero y abril de 2026", FEBRUARY_TO_MAY],
    ["cosa ho fatto la settimana scorsa?", LAST_WEEK],
    ["tre giorni fa", THREE_DAYS_AGO],
    ["negli ultimi 30 giorni", THIRTY_DAYS],
    ["nel maggio 2023", MAY_2023],
    ["martedì scorso", day(2026, 10, 17)],
    ["prima del 2023", before(2023, 0, 1)],
    ["da maggio 2023", since(2023, 4, 1)],
    ["o que fiz na semana passada?", LAST_WEEK],
    ["há três dias", THREE_DAYS_AGO],
    ["nos últimos 30 dias", THIRTY_DAYS],
    ["em maio de 2023", MAY_2023],
    ["na primavera de 2025", SPRING_2025],
    ["antes de 2023", before(2023, 0, 1)],
    ["wat heb ik vorige week gedaan?", LAST_WEEK],
    ["drie dagen geleden", THREE_DAYS_AGO],
    ["in de afgelopen 30 dagen", THIRTY_DAYS],
    ["in mei 2023", MAY_2023],
    ["afgelopen dinsdag", day(2026, 10, 17)],
    ["voor 2023", before(2023, 0, 1)],
    ["что я купила на прошлой неделе?", LAST_WEEK],
    ["上周我做了什么", LAST_WEEK],
    ["3日前", THREE_DAYS_AGO],
    ["2023年5月", MAY_2023],
  ])("reads %s", (text, time) => {
    const { from, to } = timeOfQuestion(text, NOW) ?? {};
    expect({ from, to }).toEqual(time);
  });

  it.each([
    "may I march",
    "on 40 may",
    "room 2023",
    "invoice 2026-VP-03",
    "",
    "a fall on ice",
    "he is a spring chicken",
    "where are the summer tyres?",
    "which day are the bins collected?",
    "how many days a week do I swim?",
    "who was our doctor before Dr. Brandt?",
    "where is part AB2023X?",
    "what costs 120199?",
    "what changed in 1.2. release",
    "what is new in the 1.2. version",
    "bugs since version 1.2.",
    "was stand im 1.2. Kapitel",
    "was kam mit v1.2. dazu",
    "cosa dice il paragrafo nel 1.2. capitolo",
  ])("finds no time in %s", (text) => {
    expect(timeOfQuestion(text, NOW)).toBeUndefined();
  });

  it("says where the time stands, so that the rest is what is asked", () => {
    const rest = (text: string) => {
      const time = timeOfQuestion(text, NOW);
      return time === undefined ? text : text.slice(0, time.start) + text.slice(time.end);
    };
    expect(rest("What did Zoë cook on 3 March 2026 in Köln?")).toBe("What did Zoë cook  in Köln?");
    expect(rest("Straße, seit Mai 2023 gesperrt?")).toBe("Straße,  gesperrt?");
  });

  it("reads any text, quickly", () => {
    const words = fc.constantFrom(
      "in",
      "may",
      "2023",
      "7",
      "last",
      "week",
      "of",
      "ago",
      "two",
      "days",
      ",",
      "la",
      "\n \t",
      "vor",
    );
    fc.assert(
      fc.property(fc.array(words, { maxLength: 30 }), (parts) => {
        const time = timeOfQuestion(parts.join(" "), NOW);
        if (time === undefined) return;
        expect(time.from).toBeLessThan(time.to);
        expect(time.start).toBeLessThan(time.end);
      }),
    );
    for (const part of [" ", "in the ", "last ", "2 days ", "may ", "de la "])
      expect(() => timeOfQuestion(part.repeat(8_000), NOW)).not.toThrow();
  });
});

describe("asksForNothingElse", () => {
  it.each([
    "what did I do?",
    "what did I add",
    "무슨 일이 있었어?",
    "qu'ai-je ajouté ?",
    "what happened",
    "was war los?",
    "qu'est-ce que j'ai fait ?",
    "我做了什么",
    "",
  ])("holds for %s", (text) => expect(asksForNothingElse(text)).toBe(true));
  it.each(["what did I cook?", "trips", "was habe ich gekocht"])("does not for %s", (text) =>
    expect(asksForNothingElse(text)).toBe(false),
  );
});

describe("fit", () => {
  it("is 1 within a time, and falls to 0 outside", () => {
    const may = day(2023, 4, 7);
    expect(fit(may, Date.UTC(2023, 4, 7, 23))).toBe(1);
    expect(fit(may, Date.UTC(2023, 4, 8, 12))).toBe(0.25);
    expect(fit(may, Date.UTC(2023, 4, 9))).toBe(0);
  });
});

describe("wallTime", () => {
  it("is what clocks show, and goes back to the moment, across the change of the clocks too", () => {
    const moment = Date.UTC(2026, 6, 1, 22, 30);
    expect(wallTime(moment, "Europe/Berlin")).toBe(Date.UTC(2026, 6, 2, 0, 30));
    for (const time of [moment, Date.UTC(2026, 2, 29, 3), Date.UTC(2026, 9, 25, 12)])
      expect(momentOf(wallTime(time, "America/New_York"), "America/New_York")).toBe(time);
  });
});

describe("relativePeriods", () => {
  it("takes time that grows with the text", () => {
    const time = (times: number) => {
      const text = "yesterday ".repeat(times);
      const before = process.cpuUsage();
      relativePeriods(text, NOW);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    const least = (times: number) => Math.min(...Array.from({ length: 3 }, () => time(times)));
    expect(least(20_000) / least(5_000)).toBeLessThan(10);
  });

  it("leaves out what names its date, and weekdays that may be past or to come", () => {
    expect(relativePeriods("yesterday, as on 7 may 2023, and again on friday", NOW)).toMatchObject([
      YESTERDAY,
    ]);
  });

  it("moves with the moment, and has at most eight", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 40_000 }), (days) => {
        const today = days * DAY;
        expect(relativePeriods("yesterday ".repeat(20), today + DAY / 2)).toMatchObject(
          Array.from({ length: 8 }, () => ({ from: today - DAY, to: today })),
        );
      }),
    );
  });
});
