import { expect, it } from "vitest";
import { timeReader } from "../../../src/cli/import/open-source.ts";

it("reads times that are written so, and no others", () => {
  const read = timeReader("DD.MM.YYYY HH:mm");
  expect(read(" 3.4.2024 9:05 ")).toBe(Date.UTC(2024, 3, 3, 9, 5));
  expect(read("31.12.1999 23:59")).toBe(Date.UTC(1999, 11, 31, 23, 59));
  for (const text of ["31.02.2024 10:00", "3.4.2024", "3x4x2024 9:05", "3.4.2024 24:00", "2024-04-03", ""])
    expect(read(text)).toBeUndefined();
  expect(timeReader("MM/DD/YYYY")("04/03/2024")).toBe(Date.UTC(2024, 3, 3));
  expect(timeReader("YYYYMMDD")("20240403")).toBe(Date.UTC(2024, 3, 3));
  expect(timeReader("(DD) [MM] YYYY")("(3) [4] 2024")).toBe(Date.UTC(2024, 3, 3));
});

it("refuses a format without a whole day", () => {
  for (const format of ["", "YYYY-MM", "DD.MM.YY", "DD.MM.YYYY DD"])
    expect(() => timeReader(format)).toThrow(/needs YYYY, MM and DD once each/);
});
