import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  analyse,
  dateTerms,
  MAX_TERM_LENGTH,
  memoryTerms,
  questionTerms,
  termsOfName,
} from "../../../src/core/text/analyser.ts";

it("keeps the terms of names, of more than are kept too", () => {
  for (const round of [1, 2])
    for (let i = 0; i < 12_000; i += 1)
      if (termsOfName(`name${i}`).join() !== analyse(`name${i}`).join())
        expect.fail(`${i} in round ${round}`);
  const long = "Wort".repeat(100);
  expect(termsOfName(long)).toEqual(analyse(long));
});

describe("analyse", () => {
  it.each([
    ["She lost her jobs while camping", ["lose", "job", "camp"]],
    ["Café Straße ＦＵＬＬ ﬁne", ["cafe", "strass", "full", "fine"]],
    ["Caroline's dog doesn't bark", ["carolin", "dog", "doesn", "bark"]],
    ["1,000 or 3.5 on the 20th", ["1000", "3.5", "20"]],
    ["getUserById", ["getuserbyid", "get", "user", "id"]],
    ["get_user_by_id", ["getuserbyid", "get", "user", "id"]],
    ["src/http/server.ts", ["src/http/server.ts", "src", "http", "server.ts", "server", "ts"]],
    ["v1.2.3", ["1.2.3", "1.2"]],
    ["C++ and C#", ["c++", "c", "c#", "c"]],
    ["the U.S.A.", ["usa"]],
    ["2023-05-08", ["20230508", "8", "may", "2023"]],
    ["anna@example.com", ["anna@example.com", "anna", "example.com", "exampl", "com"]],
    [
      "https://www.example.com/docs?x=1",
      ["example.com/docs?x=1", "example.com", "exampl", "com", "doc", "x", "1"],
    ],
    ["東京に", ["東", "東京", "京", "京に"]],
    ["がま", ["がま"]],
    ["สวัส", ["สวั", "วัส"]],
    ["Москва, ёлка", ["москва", "елка"]],
    ["bike 🚲 ❤️ 👍🏽 in 🇩🇪 © 1️⃣", ["bike", "🚲", "❤", "👍", "🇩🇪", "1️⃣"]],
    ["مُحَمَّد", ["محمد"]],
  ])("of %s", (text, terms) => {
    expect(analyse(text)).toEqual(terms);
  });

  it("gives short terms without spaces", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
        for (const term of analyse(text)) {
          expect(term).toMatch(/^\S+$/u);
          expect(term.length).toBeLessThanOrEqual(MAX_TERM_LENGTH);
        }
      }),
    );
  });

  it("gives as many terms as a text can hold, not more, on hostile input", () => {
    const texts = [
      "a",
      "a.",
      "aB",
      "1a",
      "1,",
      "東",
      "a\u0301\u0323",
      "\ufdfa",
      "a/",
      "_",
      "http://a?",
      "か\u3099",
    ];
    for (const unit of texts) {
      const text = unit.repeat(200_000 / unit.length);
      expect(analyse(text).length).toBeLessThanOrEqual(2 * text.length);
    }
  });
});

describe("memoryTerms", () => {
  it("adds the day it happened and the tags", () => {
    const memory = {
      content: "Ran a race",
      tags: ["sport"],
      project: null,
      occurredAt: Date.UTC(2023, 4, 8),
      createdAt: 0,
    };
    expect(memoryTerms(memory)).toEqual(["run", "race", "8", "may", "2023", "sport"]);
  });

  it("adds the days, months and years that the text names by their distance, once", () => {
    const terms = (content: string) =>
      memoryTerms({ content, tags: [], project: null, occurredAt: Date.UTC(2023, 4, 1), createdAt: 0 }).slice(
        analyse(content).length,
      );
    expect(terms("Ran a race yesterday")).toEqual(["1", "may", "2023", "30", "april"]);
    expect(terms("Ran a race last month")).toEqual(["1", "may", "2023", "april"]);
    expect(terms("Ran a race two years ago")).toEqual(["1", "may", "2023", "2021"]);
    expect(terms("Ran a race today, and another today")).toEqual(["1", "may", "2023"]);
  });

  it("says the same day as a question in words", () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date("1000-01-01"), max: new Date("9999-12-31"), noInvalidDate: true }),
        (date) => {
          const words = date.toLocaleDateString("en-GB", {
            day: "numeric",
            month: "long",
            year: "numeric",
            timeZone: "UTC",
          });
          expect(dateTerms(date.getTime())).toEqual(analyse(words));
        },
      ),
    );
  });
});

describe("questionTerms", () => {
  it("gives each term once, with how often it stands there", () => {
    expect(questionTerms("dogs and a dog")).toEqual([{ term: "dog", weight: 2 }]);
  });

  it("counts single characters less beside pairs", () => {
    expect(questionTerms("東京")).toEqual([
      { term: "東", weight: 0.3 },
      { term: "東京", weight: 1 },
      { term: "京", weight: 0.3 },
    ]);
    expect(questionTerms("猫")).toEqual([{ term: "猫", weight: 1 }]);
  });
});
