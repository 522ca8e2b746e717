import { expect, it } from "vitest";
import { datesNamed, monthTerms } from "../../../src/core/text/named-dates.ts";

const WRITTEN = Date.UTC(2026, 10, 10, 9);
const read = (text: string) => datesNamed(text, WRITTEN).map(({ from, to }) => `${iso(from)}..${iso(to)}`);
const iso = (time: number) => new Date(time).toISOString().slice(0, 10);

it.each([
  ["flight home on 14 December at 9", ["2026-12-14..2026-12-15"]],
  ["inspección el 10 de diciembre de 2026", ["2026-12-10..2026-12-11"]],
  ["Ablesung am 3.12.", ["2026-12-03..2026-12-04"]],
  ["due 2027-01-15", ["2027-01-15..2027-01-16"]],
  ["the passport expires in March 2027", ["2027-03-01..2027-04-01"]],
  ["the course begins in January", ["2027-01-01..2027-02-01"]],
  ["wizyta 7 grudnia", ["2026-12-07..2026-12-08"]],
  ["12月10日に検査", ["2026-12-10..2026-12-11"]],
  ["between 11 December 2026 and 4 January 2027", ["2026-12-11..2026-12-12", "2027-01-04..2027-01-05"]],
  ["moved in on October 28th", ["2026-10-28..2026-10-29"]],
  ["groceries: October 612", ["2026-10-01..2026-11-01"]],
  ["inspection on 3 October", ["2027-10-03..2027-10-04"]],
  ["the same cause as last December", []],
  ["Nadia led, Mei watched the apps, says Jan; ask Jan or Mei", []],
  ["Ende Mai läuft der Vertrag aus; eind mei; until Jan; Frist: Mai; every August; due April", 6],
  ["nothing at all, version 3.12", []],
])("reads the dates of: %s", (text, dates) => {
  if (typeof dates === "number") expect(read(text)).toHaveLength(dates);
  else expect(read(text)).toEqual(dates);
});

it("knows a month by its names in many languages", () => {
  expect(monthTerms(11)).toEqual(
    expect.arrayContaining(["decemb", "dezemb", "diciembr", "grudnia", "декабря"]),
  );
});
