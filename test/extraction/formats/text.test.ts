import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  cleanDate,
  cleanLanguage,
  cleanText,
  plainTextBlocks,
} from "../../../src/extraction/formats/clean-text.ts";
import { readMarkdown } from "../../../src/extraction/formats/markdown.ts";
import { declaredInMarkup, decode } from "../../../src/files/text-decoding.ts";

const bytes = (latin1: string) => new Uint8Array(Buffer.from(latin1, "latin1"));

describe("decode", () => {
  const japanese = "港は冬に掘られた。人々は石切り場から来た。";
  // The same in Shift_JIS.
  const shiftJis = bytes(
    "\x8d`\x82\xcd\x93~\x82\xc9\x8c@\x82\xe7\x82\xea\x82\xbd\x81B\x90l\x81X\x82\xcd\x90\xce\x90\xd8\x82\xe8\x8f\xea\x82\xa9\x82\xe7\x97\x88\x82\xbd\x81B",
  );
  it.each([
    ["UTF-8", new TextEncoder().encode("Zoë — naïve"), undefined, "Zoë — naïve"],
    ["UTF-8, called something else", new TextEncoder().encode("Zoë"), "iso-8859-1", "Zoë"],
    ["UTF-8 with a mark", bytes("\xef\xbb\xbfabc"), undefined, "abc"],
    ["UTF-16LE with a mark", new Uint8Array(Buffer.from("\ufeffZoë", "utf16le")), undefined, "Zoë"],
    ["UTF-16LE without", new Uint8Array(Buffer.from("A plain note", "utf16le")), undefined, "A plain note"],
    ["UTF-16BE with a mark", new Uint8Array(Buffer.from("\ufeffZoë", "utf16le").swap16()), undefined, "Zoë"],
    ["windows-1252", bytes("na\xefve \x93quoted\x94 caf\xe9"), "windows-1252", "naïve “quoted” café"],
    [
      "windows-1252, undeclared",
      bytes("The caf\xe9 on the corner is na\xefve about its r\xe9sum\xe9."),
      undefined,
      "The café on the corner is naïve about its résumé.",
    ],
    ["Shift_JIS, declared", shiftJis, "shift_jis", japanese],
    ["Shift_JIS, undeclared", shiftJis, undefined, japanese],
    [
      "an unknown name",
      bytes("caf\xe9 cr\xe8me br\xfbl\xe9e, d\xe9j\xe0 vu"),
      "no-such-set",
      "café crème brûlée, déjà vu",
    ],
  ])("reads %s", (_, input, declared, text) => {
    expect(decode(input, declared).text).toBe(text);
  });

  it.each([
    [
      "KOI8-R, a short table",
      "\xc9\xcd\xd1;\xd4\xc5\xcc\xc5\xc6\xcf\xce;\xc7\xcf\xd2\xcf\xc4\n\xe9\xd7\xc1\xce;123;\xed\xcf\xd3\xcb\xd7\xc1\n\xf0\xa3\xd4\xd2;789;\xf4\xd7\xc5\xd2\xd8\n",
      "имя;телефон;город\nИван;123;Москва\nПётр;789;Тверь\n",
    ],
    [
      "windows-1251, short",
      "\xca\xee\xe4 \xee\xf2 \xea\xe0\xeb\xe8\xf2\xea\xe8 4711, \xea\xeb\xfe\xf7 \xf3 \xf1\xee\xf1\xe5\xe4\xe0.",
      "Код от калитки 4711, ключ у соседа.",
    ],
    [
      "IBM866",
      "\x91\xaf\xa8\xe1\xae\xaa \xaf\xae\xaa\xe3\xaf\xae\xaa: \xac\xae\xab\xae\xaa\xae, \xe5\xab\xa5\xa1, \xac\xa0\xe1\xab\xae.",
      "Список покупок: молоко, хлеб, масло.",
    ],
    [
      "ISO-8859-7, a short table",
      "\xfc\xed\xef\xec\xe1;\xf0\xfc\xeb\xe7\n\xc3\xe9\xfe\xf1\xe3\xef\xf2;\xc1\xe8\xde\xed\xe1\n\xcc\xe1\xf1\xdf\xe1;\xd0\xdc\xf4\xf1\xe1\n",
      "όνομα;πόλη\nΓιώργος;Αθήνα\nΜαρία;Πάτρα\n",
    ],
    [
      "ISO-8859-2",
      "imi\xea;miasto\n\xa3ukasz;\xa3\xf3d\xbc\nMa\xb3gorzata;Krak\xf3w\n",
      "imię;miasto\nŁukasz;Łódź\nMałgorzata;Kraków\n",
    ],
    [
      "windows-1250",
      "Za\xbf\xf3\xb3\xe6 g\xea\x9cl\xb9 ja\x9f\xf1. Spotkanie w \x9crod\xea.",
      "Zażółć gęślą jaźń. Spotkanie w środę.",
    ],
    [
      "Latin-1, a short table",
      "Name;Stra\xdfe\nM\xfcller;K\xf6ln\nJ\xe4ger;G\xf6rlitz\n",
      "Name;Straße\nMüller;Köln\nJäger;Görlitz\n",
    ],
  ])("guesses %s, and says so", (_, latin1, text) => {
    const { text: found, guess } = decode(bytes(latin1));
    expect(found).toBe(text);
    expect(guess?.encoding).toEqual(expect.any(String));
    expect(guess?.confidence).toBeLessThan(1);
    expect(decode(new TextEncoder().encode(text)).guess).toBeUndefined();
    expect(decode(bytes(latin1), "windows-1252").guess).toBeUndefined();
  });

  it("finds what a page says of its encoding", () => {
    expect(
      declaredInMarkup(
        bytes('<html><head><meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS">'),
      ),
    ).toBe("shift_jis");
    expect(declaredInMarkup(bytes("<meta charset=windows-1251>"))).toBe("windows-1251");
    expect(declaredInMarkup(bytes("<p>charset=x</p>"))).toBeUndefined();
  });
});

describe("cleanText", () => {
  it("leaves no controls, ligatures, odd spaces and breaks", () => {
    expect(cleanText("of\ufb01ce\u0000\u00ad\r\nan\u00a0hour\u2028e\u0301\ud800")).toBe("office\nan hour\né");
  });

  it("changes nothing the second time", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(cleanText(cleanText(text))).toBe(cleanText(text));
      }),
    );
  });

  it.each([
    ["2026-03-14", Date.UTC(2026, 2, 14)],
    ["2026-03-14 08:00", Date.UTC(2026, 2, 14, 8)],
    ["2026-03-14T08:00:00+02:00", Date.UTC(2026, 2, 14, 6)],
    ["2024-02-30", undefined],
    ["yesterday", undefined],
    ["0001-01-01", undefined],
    ["0001-01-01T10:00", undefined],
    ["0001", undefined],
    ["2026-03", Date.UTC(2026, 2, 1)],
    ["2026/03/14", Date.UTC(2026, 2, 14)],
    ["2026-3-14", Date.UTC(2026, 2, 14)],
    ["March 14, 2026", Date.UTC(2026, 2, 14)],
    ["Mar 14, 2026 8:05 PM", Date.UTC(2026, 2, 14, 20, 5)],
    ["2026-03-14T08:00:00.5", Date.UTC(2026, 2, 14, 8, 0, 0, 500)],
    ["Sat, 14 Mar 2026 08:00:00 +0200 (EET)", Date.UTC(2026, 2, 14, 6)],
    ["Sat, 14 Mar 2026 08:00:00 EST", Date.UTC(2026, 2, 14, 13)],
    // As PostgreSQL and some programs of the command line write an offset.
    ["2026-03-14 08:00:00+02", Date.UTC(2026, 2, 14, 6)],
    ["2026-03-14T08:00:00.25-05", Date.UTC(2026, 2, 14, 13, 0, 0, 250)],
    ["Sat Mar 14 2026 GMT+0200", Date.UTC(2026, 2, 13, 22)],
    ["12 May 2026 08:00 (GMT+1)", Date.UTC(2026, 4, 12, 8)],
  ])("reads the date %s, wherever the machine is", (text, time) => {
    const zoneBefore = process.env["TZ"];
    process.env["TZ"] = "Pacific/Auckland";
    expect(cleanDate(text)).toBe(time);
    if (zoneBefore === undefined) delete process.env["TZ"];
    else process.env["TZ"] = zoneBefore;
  });

  it.each([
    ["en_us", "en-US"],
    ["DE", "de"],
    ["pt-br, en", "pt-BR"],
    ["not a language", undefined],
    ["English", undefined],
    ["", undefined],
  ])("reads the language %s", (text, tag) => expect(cleanLanguage(text)).toBe(tag));
});

describe("plainTextBlocks", () => {
  it("joins lines wrapped at a width and leaves all others", () => {
    const text = `The ferry between Brindle and Orrin made its last crossing
on Saturday, after ninety-four years of carrying sheep and
brides and once a grand piano.

Roses are red,
violets are blue.


- one
- two`;
    expect(plainTextBlocks(text).map((block) => block.text)).toEqual([
      "The ferry between Brindle and Orrin made its last crossing on Saturday, after ninety-four years of carrying sheep and brides and once a grand piano.",
      "Roses are red,\nviolets are blue.",
      "- one\n- two",
    ]);
  });

  it("loses no letter", () => {
    const letters = (text: string) => text.replace(/\s+/g, "");
    fc.assert(
      fc.property(fc.array(fc.constantFrom("word", "Zoë", " ", "\n", "\n\n", "- ", "1. ", "\t")), (parts) => {
        const text = parts.join("");
        expect(
          letters(
            plainTextBlocks(text)
              .map((block) => block.text)
              .join(""),
          ),
        ).toBe(letters(text));
      }),
    );
  });
});

describe("readMarkdown", () => {
  it("keeps inline marks and finds the structure", () => {
    const { blocks, ...fields } = readMarkdown(`---
title: "Garden"
author: Ines Okafor
date: 2026-03-14
lang: en
---
# Beans

Sow **deep**, see [the page](https://example.org).

1. Dig
   - a *hand* deep
2. [x] Water

> Patience.

| Bed | Row |
| --- | --- |
| A   | 3   |

\`\`\`sh
dig --deep

dig
\`\`\`

Notes
-----
`);
    expect(fields).toEqual({
      title: "Garden",
      author: "Ines Okafor",
      date: Date.UTC(2026, 2, 14),
      occurredAt: Date.UTC(2026, 2, 14),
      language: "en",
    });
    expect(blocks).toEqual([
      { type: "heading", text: "Beans", level: 1 },
      { type: "paragraph", text: "Sow **deep**, see [the page](https://example.org)." },
      { type: "list-item", text: "1. Dig", level: 1 },
      { type: "list-item", text: "- a *hand* deep", level: 2 },
      { type: "list-item", text: "2. [x] Water", level: 1 },
      { type: "quote", text: "Patience." },
      { type: "table-row", text: "Bed | Row", isHeader: true },
      { type: "table-row", text: "A | 3" },
      { type: "code", text: "dig --deep\n\ndig" },
      { type: "heading", text: "Notes", level: 2 },
    ]);
  });

  it("reads the front matter of a note as an import does, and keeps it out of the text", () => {
    const note = readMarkdown(
      "---\ntitle: Bees\ntags: [bees, '#garden']\ndate: 2025-01-03\nrating: 4\nauthor: Ines\n---\nThey came back.",
      "2025-01-02 Bees",
    );
    expect(note).toMatchObject({
      title: "Bees",
      tags: ["bees", "garden"],
      occurredAt: Date.UTC(2025, 0, 3),
      date: Date.UTC(2025, 0, 3),
      author: "Ines",
      metadata: { rating: 4 },
      blocks: [{ type: "paragraph", text: "They came back." }],
    });
    expect(readMarkdown("Snow.", "2025-02-03 snow").occurredAt).toBe(Date.UTC(2025, 1, 3));
  });

  it.each([
    ["no YAML", "a: [", "a: ["],
    ["too long", `a: ${"b".repeat(5_000)}`, "bbbbb"],
    ["too deep", `a: ${"[".repeat(60)}${"]".repeat(60)}`, "[[["],
    ["nested past the stack", `a: ${"[".repeat(60_000)}`, "[[["],
    ["lists nested past the stack", `a:\n  ${"- ".repeat(30_000)}`, "- - -"],
  ])("keeps front matter as code that is %s", (_, yaml, part) => {
    const { blocks, metadata } = readMarkdown(`---\n${yaml}\n---\nText`);
    expect(blocks).toEqual([
      { type: "code", text: expect.stringContaining(part) },
      { type: "paragraph", text: "Text" },
    ]);
    expect(metadata).toBeUndefined();
  });

  it("cleans what front matter hides in escapes, and leaves a text between rules alone", () => {
    const { metadata, tags } = readMarkdown(
      '---\na: "x\\ud800\\u0000y"\n__proto__: {b: 1}\ntags: ["\\u0007", {a: 1}, ok]\n---\nText',
    );
    expect(metadata).toEqual({ a: "xy" });
    expect(tags).toEqual(["ok"]);
    expect(readMarkdown("---\nNothing but words\n---\nText").blocks.map(({ text }) => text)).toEqual([
      "Nothing but words",
      "Text",
    ]);
  });

  it("survives nesting past the stack", () => {
    for (const nested of [">", "> ", "- ", "1. "])
      expect(readMarkdown(`${nested.repeat(50_000)} deep`).blocks.length).toBeGreaterThan(0);
  });
});

describe("text that is not all of one encoding", () => {
  it("is read as UTF-8 where most of it is, with its other lines, or without a character that was cut off", () => {
    const log = Buffer.concat([Buffer.from("Grüße aus Köln\n"), Buffer.from("Grüße, später\n", "latin1")]);
    expect(decode(log)).toMatchObject({
      text: "Grüße aus Köln\nGrüße, später\n",
      guess: { encoding: "utf-8" },
    });
    const cut = Buffer.from("Der Schlüssel hängt im Flur, für später");
    expect(decode(cut.subarray(0, -6)).text).toBe("Der Schlüssel hängt im Flur, für s");
    expect(decode(Buffer.from("Der Schlüssel hängt ü").subarray(0, -1)).text).toBe("Der Schlüssel hängt ");
  });

  it("has areas and volumes in the encodings of Western Europe", () => {
    const table = "Zählerstand Gas 3312 m³ im Keller rechts über der Tür; Fläche 85 m²\n";
    expect(decode(Buffer.from(table, "latin1")).text).toBe(table);
  });

  it("keeps the colours of a terminal from passing for Japanese", () => {
    expect(decode(Buffer.from("\x1b[31mERROR\x1b[0m disk full")).text).toBe("\x1b[31mERROR\x1b[0m disk full");
  });
});

describe("headings of plain text", () => {
  const blocks = (text: string) =>
    plainTextBlocks(text).map(({ type, text, level = 0 }) => `${type} ${level}: ${text}`);

  it("are lines above a line of signs, and those of manuals", () => {
    expect(
      blocks("UFW\n===\n\nInstall\n-------\nRun the script.\n\nEXIT VALUES\n       24 - vanished\n"),
    ).toEqual([
      "heading 1: UFW",
      "heading 2: Install",
      "paragraph 0: Run the script.",
      "heading 1: EXIT VALUES",
      "paragraph 0: 24 - vanished",
    ]);
  });

  it("are not the first row of a table, nor what is shouted", () => {
    expect(blocks("Name   Count\n------------\nTom    3")).toEqual([
      "paragraph 0: Name   Count\n------------\nTom    3",
    ]);
    expect(blocks("STOP IT\nnow")).toEqual(["paragraph 0: STOP IT\nnow"]);
    expect(blocks("Dear Ann\n--\nBob")).toHaveLength(1);
  });

  it("do not keep a word of a manual broken", () => {
    expect(blocks("       It is us\u2010\n       ing a remote shell\n       with   gaps.")[0]).toContain(
      "It is using\na remote",
    );
  });
});
