import { describe, expect, it } from "vitest";
import { updateJson, updateText } from "./shown-answer.ts";

const ID = "01a1fddb-78d9-776a-bdaa-cf13a32c41f7";

describe("updateJson", () => {
  it("leaves an answer as it is while it holds", () => {
    const shown = `{ "id": "01a1fd…41f7", "at": "2026-11-21T11:26:21.475Z", "score": 0.51, "list": [{ "n": 1, … }, …], … }\n`;
    const actual = {
      id: ID.replace("bdaa", "beef"),
      at: "2027-01-01T00:00:00.001Z",
      score: 0.5312,
      list: [{ n: 1, m: 2 }, 7],
      more: true,
    };
    expect(updateJson(shown, JSON.stringify(actual))).toBe(shown);
  });

  it("shows what has changed, without what was left out", () => {
    const actual = { score: 0.7312, list: [{ n: 2, m: 2 }, 7], more: true, id: ID };
    expect(updateJson(`{ "score": 0.51, "list": [{ "n": 1, … }, …], … }\n`, JSON.stringify(actual))).toBe(
      `{ "score": 0.731, "list": [{ "n": 2, … }, …], … }\n`,
    );
  });

  it("shows fields and elements that are new where nothing is said to be left out", () => {
    expect(
      updateJson(
        `{ "list": [{ "n": 1, … }] }`,
        `{ "list": [{ "n": 1 }, { "n": 2, "m": 3 }], "id": "${ID}" }`,
      ),
    ).toBe(`{ "list": [{ "n": 1, … }, { "n": 2, … }], "id": "01a1fd…41f7" }\n`);
  });

  it("does not take one whole number, word or given time for another", () => {
    expect(updateJson(`[1, "a", "2026-11-21T11:26:21.000Z"]`, `[2, "b", "2026-11-21T11:26:22.000Z"]`)).toBe(
      `[2, "b", "2026-11-21T11:26:22.000Z"]\n`,
    );
  });
});

describe("updateText", () => {
  it("keeps lines that hold: gaps, ids and scores aside", () => {
    const shown = "memoryd is running\n  process  …\n  1. 0.71  text · 01a1fd…41f7\n…\n";
    expect(updateText(shown, `memoryd is running\n  process  12\n  1. 0.69  text · ${ID}\nand\nmore\n`)).toBe(
      shown,
    );
  });

  it("replaces lines that do not", () => {
    expect(updateText("one\ntwo\n", "one\nthree\nfour\n")).toBe("one\nthree\nfour\n");
    expect(updateText(" 1. 0.31  tea\n", " 1. 0.71  tea\n")).toBe(" 1. 0.71  tea\n");
  });
});
