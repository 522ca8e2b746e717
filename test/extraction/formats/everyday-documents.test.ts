/** Against the built worker: run `npm run build` first. */
import { afterAll, describe, expect, it } from "vitest";
import type { ExtractionLimits } from "../../../src/core/documents/extraction.ts";
import { extractDocument } from "../../../src/extraction/extract-document.ts";
import { openExtractor } from "../../../src/extraction/sandboxed-text-extractor.ts";
import {
  book,
  MAIL,
  NOTEBOOK,
  presentation,
  shape,
  workbook,
} from "../../fixtures/documents/everyday-documents.ts";
import { EXTRACTION_LIMITS } from "../../support/extraction-limits.ts";
import { zipOf } from "../../support/zip-writer.ts";

const bytesOf = (content: string | Uint8Array) => new Uint8Array(Buffer.from(content as Uint8Array));
const read = (content: string | Uint8Array, filename: string, limits: Partial<ExtractionLimits> = {}) =>
  extractDocument(bytesOf(content), { filename }, { ...EXTRACTION_LIMITS, ...limits });
const linesOf = ({ blocks }: Awaited<ReturnType<typeof read>>) =>
  blocks.map(({ type, text }) => `${type}: ${text}`);

const SHEET = `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="D1" t="inlineStr"><is><t>Share</t></is></c></row>
  <row r="2"/><row r="3"><c r="A3" s="1"><v>46347</v></c><c r="B3"><f>0.1+0.2</f><v>0.30000000000000004</v></c><c r="D3" s="4"><v>0.256</v></c></row>
  <row r="4"><c r="A4" s="2"><v>46347.427083333336</v></c><c r="B4" s="3"><v>1.1458333333333333</v></c><c r="C4" t="b"><v>1</v></c><c r="D4" t="e"><v>#N/A</v></c></row>
  <row r="5"><c r="A5" s="1"><v>59</v></c><c r="B5" s="5"><v>3</v></c><c r="C5" t="str"><v>A &amp; B</v></c></row>`;
const STRINGS = [
  "<t>Day</t>",
  '<r><t>Wa</t></r><r><t xml:space="preserve">ter </t></r><rPh><t>mizu</t></rPh>',
];

describe("data in text", () => {
  it("is a table where its name or its type says so", async () => {
    const rows = ['name;phone;"town, street"', "Quinn;0166 4625067;Bonn", "", 'Zoë;"a\nb"', "Ben;;"];
    const lines = [
      "table-row: name | phone | town, street",
      "table-row: Quinn | 0166 4625067 | Bonn",
      "table-row: Zoë | a b",
      "table-row: Ben",
    ];
    const document = await read(rows.join("\r\n"), "people.csv");
    expect(linesOf(document)).toEqual(lines);
    expect(document.blocks[0]).toMatchObject({ isHeader: true });
    const typed = { claimedType: "text/csv; charset=utf-8" };
    expect(linesOf(await extractDocument(bytesOf(rows.join("\n")), typed, EXTRACTION_LIMITS))).toEqual(lines);
    expect(linesOf(await read("sep=;\r\na;b, c\r\n1;2, 3", "excel.csv"))).toEqual([
      "table-row: a | b, c",
      "table-row: 1 | 2, 3",
    ]);
    expect(linesOf(await read("a\tb\n1\t2", "t.tsv"))).toEqual(["table-row: a | b", "table-row: 1 | 2"]);
  });

  it("stays text where it is no table, its lines as they are", async () => {
    expect(linesOf(await read("one\ntwo", "words.csv"))).toEqual(["paragraph: one\ntwo"]);
    expect(linesOf(await read('a,b\n"never closed,1', "broken.csv"))).toEqual([
      'paragraph: a,b\n"never closed,1',
    ]);
    const log = Array.from(
      { length: 8 },
      (_, i) => `2026-11-28 10:00:0${i} worker-${i} took 64${i} ms for the whole job of today`,
    );
    expect(linesOf(await read(log.join("\n"), "app.log"))).toEqual([`paragraph: ${log.join("\n")}`]);
    expect(linesOf(await read(log.join("\n"), "prose.txt"))).toEqual([`paragraph: ${log.join(" ")}`]);
  });
});

describe("a workbook", () => {
  it("is a table for each sheet, with dates that can be read", async () => {
    const file = workbook(
      [
        { name: "Water &amp; heat", rows: SHEET },
        { name: "Secret", rows: SHEET, state: "hidden" },
        { name: "Empty", rows: "" },
        { name: "Keys", rows: '<row><c t="inlineStr"><is><t>Pot 3</t></is></c></row>' },
      ],
      STRINGS,
    );
    const document = await read(file, "plan.xlsx");
    expect(document).toMatchObject({
      kind: "xlsx",
      title: "Allotment",
      author: "Ines Okafor",
      date: Date.UTC(2026, 2, 14, 9),
    });
    expect(linesOf(document)).toEqual([
      "heading: Water & heat",
      "table-row: Day | Water |  | Share",
      "table-row: 2026-11-21 | 0.3 |  | 25.6%",
      "table-row: 2026-11-21 10:15 | 27:30 | TRUE | #N/A",
      "table-row: 1900-02-28 | 3 | A & B",
      "heading: Keys",
      "table-row: Pot 3",
    ]);
    expect(document.blocks[1]).toMatchObject({ isHeader: true });
  });

  it("is read the same where each of its names has a prefix, as .NET writes them", async () => {
    const sheets = [{ name: "A", rows: SHEET }];
    const document = await read(workbook(sheets, STRINGS, [], "x:"), "plan.xlsx");
    expect(linesOf(document)).toEqual(linesOf(await read(workbook(sheets, STRINGS), "plan.xlsx")));
  });

  it("has no text of a cell in a far column but its own", async () => {
    const rows = '<row><c r="A1"><v>1</v></c><c r="XFD1"><v>2</v></c></row>';
    const { charCount } = await read(workbook([{ name: "A", rows }]), "far.xlsx");
    expect(charCount).toBeLessThan(4_000);
  });
});

it("reads slides in their order, with tables, lists and notes, and without what is on all of them", async () => {
  const table =
    '<p:graphicFrame><a:tbl><a:tblPr firstRow="1"/><a:tr><a:tc><a:p><a:r><a:t>Bed</a:t></a:r></a:p></a:tc><a:tc><a:p><a:r><a:t>Row</a:t></a:r></a:p></a:tc></a:tr>' +
    "<a:tr><a:tc><a:p><a:r><a:t>A</a:t></a:r></a:p></a:tc><a:tc><a:p><a:r><a:t>3</a:t></a:r></a:p></a:tc></a:tr></a:tbl></p:graphicFrame>";
  const document = await read(
    presentation([
      { shapes: shape("ctrTitle", "Plan &amp; water") + shape("sldNum", "1"), notes: "Greet everybody." },
      {
        shapes:
          shape("title", "Beds") +
          shape("body", "Dig", "Sow") +
          `<p:grpSp>${shape("subTitle", "In a group")}</p:grpSp>${table}`,
      },
    ]),
    "plan.pptx",
  );
  expect(document).toMatchObject({ kind: "pptx", pages: 2, title: "Allotment" });
  expect(document.blocks.map(({ page, text }) => `${page} ${text}`)).toEqual([
    "1 Plan & water",
    "1 Notes: Greet everybody.",
    "2 Beds",
    "2 - Dig",
    "2 - Sow",
    "2 In a group",
    "2 Bed | Row",
    "2 A | 3",
  ]);
});

it("reads the chapters of a book in reading order", async () => {
  const chapters = {
    "z first.xhtml": "<h1>Spring</h1><p>Dig&#160;deep.</p>",
    "a.html": "<h1>Summer<br/></h1><p>Water.</p>",
  };
  const document = await read(book(chapters), "year.epub");
  expect(document).toMatchObject({
    kind: "epub",
    title: "The Allotment Year",
    author: "Ines Okafor",
    language: "en-GB",
    date: Date.UTC(2024, 4, 1),
  });
  expect(linesOf(document)).toEqual([
    "heading: Spring",
    "paragraph: Dig deep.",
    "heading: Summer",
    "paragraph: Water.",
  ]);
});

it("reads a mail with its headers, its HTML and the names of what is attached", async () => {
  const document = await read(MAIL, "water.eml");
  expect(document).toMatchObject({
    kind: "eml",
    title: "Water for plot 7 – new key",
    author: "Inés Okafor <ines@example.org>",
    occurredAt: Date.UTC(2026, 2, 14, 9, 30),
  });
  expect(linesOf(document)).toEqual([
    "paragraph: From: Inés Okafor <ines@example.org>\nTo: Ben <ben@example.org>, cleo@example.org\nDate: 2026-03-14T09:30:00.000Z\nSubject: Water for plot 7 – new key",
    "paragraph: The key is under the third pot, José said.",
    "list-item: - Tap A",
    "list-item: - Attachment: plan.pdf (application/pdf)",
  ]);
});

it("reads a notebook: notes, code, and of outputs a bounded text", async () => {
  const document = await read(NOTEBOOK, "rain.ipynb");
  expect(document).toMatchObject({ kind: "ipynb", title: "Rainfall" });
  expect(linesOf(document)).toEqual([
    "heading: Rainfall",
    "paragraph: By month.",
    "code: plot(rain)",
    "code: 12 mm\n\n<Figure>\nValueError: no rain",
    `code: ${"x".repeat(2_000)}…`,
    "paragraph: As it is.",
  ]);
});

describe("in the sandbox", () => {
  const extractor = openExtractor({ limits: { ...EXTRACTION_LIMITS, maxInflatedBytes: 20_000_000 } });
  afterAll(() => extractor.close());

  it.each([
    ["xlsx", workbook([{ name: "A", rows: SHEET }], STRINGS)],
    ["pptx", presentation([{ shapes: shape("title", "Beds") }])],
    ["epub", book({ "a.xhtml": "<p>Dig.</p>" })],
    ["eml", MAIL],
    ["ipynb", NOTEBOOK],
  ])("reads %s", async (kind, content) => {
    const { chunks, ...document } = await extractor.extract({
      bytes: bytesOf(content),
      filename: `a.${kind}`,
    });
    expect(document.kind).toBe(kind);
    expect(chunks.length).toBeGreaterThan(0);
  });

  const chapter = { name: "OEBPS/text/big.xhtml", content: " ".repeat(15_000_000) };
  const bomb = `<!DOCTYPE sst [<!ENTITY a "${"x".repeat(1_000)}"><!ENTITY b "${"&a;".repeat(1_000)}">]>`;
  it.each([
    [
      "a workbook that inflates past the limit",
      workbook([{ name: "A", rows: " ".repeat(30_000_000) }]),
      /grows to more than/,
    ],
    [
      "a part that is larger than it says",
      zipOf([
        { name: "[Content_Types].xml", content: "x" },
        { name: "xl/workbook.xml", content: " ".repeat(9_000_000), claimedBytes: 10 },
      ]),
      /damaged/,
    ],
    [
      "10 000 sheets and more",
      workbook(Array.from({ length: 10_001 }, (_, n) => ({ name: `${n}`, rows: "" }))),
      /more than 10000 entries/,
    ],
    [
      "a chapter that is read again and again",
      book(Object.fromEntries(Array.from({ length: 3 }, (_, n) => [`${n}.html`, " ".repeat(8_000_000)])), [
        chapter,
      ]),
      /grows to more than/,
    ],
    ["a path to elsewhere", book({}, [{ name: "/etc/passwd", content: "x" }]), /damaged/],
    ["a path upwards", book({}, [{ name: "../../etc/passwd", content: "x" }]), /damaged/],
    [
      "a protected book",
      book({ "a.xhtml": "<p>Dig.</p>" }, [
        {
          name: "META-INF/encryption.xml",
          content:
            '<encryption><EncryptedData><CipherReference URI="OEBPS/text/a.xhtml"/></EncryptedData></encryption>',
        },
      ]),
      /protected against copying/,
    ],
    ["a workbook without a cell", workbook([{ name: "A", rows: "" }]), /holds no text/],
    ["a notebook that is none", "[1, 2", /no Jupyter notebook/],
    [
      "a mail of parts in parts",
      [
        "Content-Type: multipart/mixed; boundary=b",
        "",
        ...Array(100).fill("--b\nContent-Type: multipart/mixed; boundary=b\n"),
      ].join("\n"),
      /damaged|no text/,
    ],
  ] as const)("refuses %s, and says why", async (_, content, message) => {
    const filename = typeof content !== "string" ? "a" : content.startsWith("[") ? "a.ipynb" : "a.eml";
    await expect(extractor.extract({ bytes: bytesOf(content), filename })).rejects.toThrow(message);
  });

  it("expands no entities of a document", async () => {
    const strings = { name: "xl/other.xml", content: "" };
    const file = workbook(
      [{ name: "A", rows: '<row><c t="inlineStr"><is><t>a&amp;b &b; c</t></is></c></row>' }],
      [],
      [strings],
    );
    const { chunks } = await extractor.extract({ bytes: file });
    expect(chunks[0]?.content.length).toBeLessThan(100);
    const page = book({ "a.xhtml": `${bomb}<p>Dig &b; deep.</p>` });
    expect((await extractor.extract({ bytes: page })).chunks[0]?.content.length).toBeLessThan(3_000);
  });
});

describe("letters", () => {
  const openDocument = (body: string, parts: Readonly<Record<string, string>> = {}) =>
    zipOf(
      Object.entries({
        mimetype: "application/vnd.oasis.opendocument.text",
        "content.xml": `<office:document-content><office:body><office:text>${body}</office:text></office:body></office:document-content>`,
        "meta.xml":
          "<office:document-meta><office:meta><dc:title>Fence</dc:title><meta:initial-creator>Bo</meta:initial-creator></office:meta></office:document-meta>",
        ...parts,
      }).map(([name, content]) => ({ name, content })),
    );

  it("reads an OpenDocument text with its headings, lists and tables, without what was deleted, and with comments", async () => {
    const document = await read(
      openDocument(
        `<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes><text:h text:outline-level="2">Fence</text:h>
        <text:p>Painted<text:s text:c="2"/>in<text:tab/>March<office:annotation><text:p>really?</text:p></office:annotation>.</text:p>
        <text:list><text:list-item><text:p>paint</text:p></text:list-item></text:list>
        <table:table><table:table-row><table:table-cell><text:p>Paint</text:p></table:table-cell><table:table-cell><text:p>40 €</text:p></table:table-cell></table:table-row></table:table>`,
      ),
      "letter.odt",
    );
    expect(document).toMatchObject({ kind: "odt", method: "opendocument", title: "Fence", author: "Bo" });
    expect(linesOf(document)).toEqual([
      "heading: Fence",
      "paragraph: Painted in March.",
      "list-item: - paint",
      "table-row: Paint | 40 €",
      "paragraph: Comment: really?",
    ]);
  });

  it("repeats cells of an OpenDocument table that span columns and rows, and those that stand for equal ones", async () => {
    const cell = (text: string, attributes = "") =>
      `<table:table-cell ${attributes}><text:p>${text}</text:p></table:table-cell>`;
    const row = (...cells: string[]) => `<table:table-row>${cells.join("")}</table:table-row>`;
    const covered = '<table:covered-table-cell table:number-columns-repeated="2"/>';
    const document = await read(
      openDocument(
        `<table:table><table:table-header-rows>${row(cell("Bed"), cell("Plant"), cell("Sown"), cell("Cut"))}</table:table-header-rows>
        ${row(cell("North", 'table:number-rows-spanned="2"'), cell("Leek", 'table:number-columns-spanned="3"'), covered)}
        ${row("<table:covered-table-cell/>", cell("Beet"), cell("May", 'table:number-columns-repeated="2"'))}
        ${row(cell("All beds rest", 'table:number-columns-spanned="4"'), covered)}</table:table>`,
      ),
      "beds.odt",
    );
    expect(linesOf(document)).toMatchInlineSnapshot(`
      [
        "table-row: Bed | Plant | Sown | Cut",
        "table-row: North | Leek | Leek | Leek",
        "table-row: North | Beet | May | May",
        "table-row: All beds rest",
      ]
    `);
  });

  it("refuses one that is encrypted", async () => {
    const manifest = "<manifest:manifest><manifest:encryption-data/></manifest:manifest>";
    await expect(read(openDocument("", { "META-INF/manifest.xml": manifest }), "a.odt")).rejects.toThrow(
      "is encrypted",
    );
  });

  it.each([
    [
      String.raw`{\rtf1\ansi\ansicpg1251 \'cf\'f0\'e8\'e2\'e5\'f2\par Second\tab\u8364?40\par}`,
      ["Привет", "Second\t€40"],
    ],
    [String.raw`{\rtf1{\fonttbl{\f0 Arial;}}{\*\generator x;}a \{b\} \\ c{\pict ffd8}\par}`, ["a {b} \\ c"]],
    [String.raw`{\rtf1\uc2 \u26085??x{\uc0\u26412 }y\par}`, ["日x本y"]],
    [
      String.raw`{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial;}}\f0 Key: {\f1\'ca\'eb\'fe\'f7}\'e9\par}`,
      ["Key: Ключé"],
    ],
    [String.raw`{\rtf1\ansi\ansicpg932 \'83e\'83X\'83g a\par}`, ["テスト a"]],
    [String.raw`{\rtf1\ansi\ansicpg1252 \'93It\'92s\'94 \'96 5 \'80\par}`, ["“It’s” – 5 €"]],
    [
      Buffer.from("{\\rtf1\\ansi\\ansicpg1251 \xcf\xf0\xe8\xe2\xe5\xf2 \x93x\x94\\par}", "latin1"),
      ["Привет “x”"],
    ],
    [String.raw`{\rtf1 Meter {\deleted 111}{\revised 482} kWh\deleted x\plain .\par}`, ["Meter 482 kWh."]],
    [
      String.raw`{\rtf1 Before {\shp{\*\shpinst\shpleft1{\sp{\sn a}{\sv b}}{\shptxt In a box\par}}{\shprslt In a box}} after\par}`,
      ["Before", "In a box", "after"],
    ],
    ["{\\rtf1 Dear Ann,\\\nthe key {\\v entry }is\\\r\nwith Tom.}", ["Dear Ann,", "the key is", "with Tom."]],
    [String.raw`{\rtf1 open { groups {\b bold`, ["open  groups bold"]],
  ])("reads rich text: %s", async (source, texts) => {
    const document = await read(source, "letter.rtf");
    expect(document.kind).toBe("rtf");
    expect(document.blocks.map(({ text }) => text)).toEqual(texts);
  });
});

it("is of the time when rich text was last saved", async () => {
  const info = String.raw`{\info{\creatim\yr2024\mo5\dy6\hr9\min0}{\revtim\yr2024\mo5\dy7\hr10\min30}{\printim\yr0\mo0\dy0}}`;
  expect(await read(String.raw`{\rtf1${info}Key\par}`, "a.rtf")).toMatchObject({
    date: Date.UTC(2024, 4, 6, 9),
    occurredAt: Date.UTC(2024, 4, 7, 10, 30),
  });
});

describe("OpenDocument", () => {
  const file = (kind: string, content: string, parts: Readonly<Record<string, string>> = {}) =>
    zipOf(
      Object.entries({
        mimetype: `application/vnd.oasis.opendocument.${kind}`,
        "content.xml": `<office:document-content>${content}</office:document-content>`,
        "meta.xml":
          "<office:document-meta><meta:creation-date>2024-05-06T09:00:00</meta:creation-date><dc:date>2024-05-07T09:00:00</dc:date></office:document-meta>",
        ...parts,
      }).map(([name, content]) => ({ name, content })),
    );
  const text = (of: string) => `<text:p>${of}</text:p>`;

  it("has the sheets of a spreadsheet that are not hidden, days as ISO 8601, numbers whole, and comments", async () => {
    const cell = (attributes: string, content: string) =>
      `<table:table-cell ${attributes}>${content}</table:table-cell>`;
    const row = (...cells: string[]) => `<table:table-row>${cells.join("")}</table:table-row>`;
    const empty = cell('table:number-columns-repeated="16380"', "");
    const rows =
      row(cell("", text("Code")), cell("", text("Day")), cell("", text("Price")), empty) +
      row(
        cell('office:value-type="float" office:value="7"', text("007")),
        cell('office:value-type="date" office:date-value="2025-04-01T13:05:00"', text("01.04.2025")),
        cell('office:value-type="currency" office:value="0.035"', text("0.04 €")),
      ) +
      `<table:table-row table:number-rows-repeated="1048000">${empty}</table:table-row>` +
      row(
        cell(
          "",
          `<office:annotation><dc:date>2025</dc:date>${text("ask Ada")}</office:annotation>${text("Sum")}`,
        ),
      );
    const style =
      '<style:style style:name="ta2"><style:table-properties table:display="false"/></style:style>';
    const sheets =
      `<table:table table:name="Stock" table:style-name="ta1">${rows}</table:table>` +
      `<table:table table:name="Secret" table:style-name="ta2">${row(cell("", text("9.99")))}</table:table>`;
    const document = await read(
      file(
        "spreadsheet",
        `${style}<office:body><office:spreadsheet>${sheets}</office:spreadsheet></office:body>`,
      ),
      "stock.ods",
    );
    expect(document).toMatchObject({ kind: "ods", occurredAt: Date.UTC(2024, 4, 7, 9) });
    expect(linesOf(document)).toEqual([
      "heading: Stock",
      "table-row: Code | Day | Price",
      "table-row: 007 | 2025-04-01 13:05 | 0.035",
      "table-row: Sum",
      "paragraph: Comment on A1048003: ask Ada",
    ]);
  });

  it("has the slides of a presentation with their charts and notes", async () => {
    const frame = (of: string, content: string) =>
      `<draw:frame presentation:class="${of}"><draw:text-box>${content}</draw:text-box></draw:frame>`;
    const list = `<text:list><text:list-item>${text("up")}</text:list-item></text:list>`;
    const slide =
      `<draw:page>${frame("title", text("Sales"))}${frame("outline", list)}<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>` +
      `<presentation:notes>${frame("notes", text("Name 4711"))}${frame("page-number", text("1"))}</presentation:notes></draw:page>`;
    const cells = (...names: string[]) =>
      `<table:table-row>${names.map((name) => `<table:table-cell>${text(name)}</table:table-cell>`).join("")}</table:table-row>`;
    const chart = `<office:chart><chart:title>${text("By town")}</chart:title><table:table>${cells("", "2025")}${cells("North", "11")}</table:table></office:chart>`;
    const document = await read(
      file("presentation", `<office:presentation>${slide}</office:presentation>`, {
        "Object 1/content.xml": chart,
      }),
      "a.odp",
    );
    expect(document).toMatchObject({ kind: "odp", pages: 1 });
    expect(linesOf(document)).toEqual([
      "heading: Sales",
      "list-item: - up",
      "paragraph: By town",
      "table-row: | 2025",
      "table-row: North | 11",
      "paragraph: Notes: Name 4711",
    ]);
    expect(document.blocks[0]).toMatchObject({ page: 1 });
  });
});

describe("a mail", () => {
  const mail = (head: string, body: string) =>
    Buffer.from(`From: a@x.org\r\n${head}\r\n\r\n${body}`, "latin1");
  const textOf = async (bytes: Uint8Array) =>
    (await read(bytes, "a.eml")).blocks.map((block) => block.text).join("\n");

  it("keeps all characters of windows-1252", async () => {
    const head = "Subject: =?windows-1252?Q?Price_=80_5?=\r\nContent-Type: text/plain; charset=windows-1252";
    expect(await textOf(mail(head, "\x93Fix\x94 \x96 \x80 500"))).toBe(
      "From: a@x.org\nSubject: Price € 5\n“Fix” – € 500",
    );
  });

  it("is read where it names no encoding, or a wrong one", async () => {
    const body = "Grüße, wir möchten den Kohl für Öl hergeben.";
    for (const head of [
      "Subject: x",
      "Content-Type: text/plain; charset=us-ascii",
      "Content-Type: text/plain; charset=utf-8",
    ])
      expect(await textOf(mail(head, body))).toContain(body);
  });

  it("is read out of the file that Apple's Mail keeps it in", async () => {
    const inner = "From: a@x.org\nSubject: x\n\nThe pegs are in the blue box.\n";
    const file = `${inner.length}\n${inner}<?xml version="1.0"?><plist><dict/></plist>\n`;
    const document = await read(file, "123.emlx");
    expect(linesOf(document)).toEqual([
      "paragraph: From: a@x.org\nSubject: x",
      "paragraph: The pegs are in the blue box.",
    ]);
  });

  it("without a date is of the time when it was received", async () => {
    const head =
      "Received: from mx (mx [1.2.3.4]) by x.org; Mon, 10 Feb 2025 08:30:00 +0100\r\nDate: gestern";
    expect(await read(mail(head, "Paint"), "a.eml")).toMatchObject({
      occurredAt: Date.UTC(2025, 1, 10, 7, 30),
    });
  });
});

it("has the formula of a cell whose value no program calculated", async () => {
  const rows = '<row><c r="A1"><f>B1*2</f></c><c r="B1"><f>1+1</f><v>2</v></c></row>';
  expect(linesOf(await read(workbook([{ name: "A", rows }]), "a.xlsx"))).toContain("table-row: =B1*2 | 2");
});

describe("a page that a browser saved as one file", () => {
  const page = (html: string) =>
    [
      "From: <Saved by Blink>",
      "Snapshot-Content-Location: https://example.org/garlic",
      "Date: Sat, 21 Nov 2026 10:00:00 +0000",
      "MIME-Version: 1.0",
      'Content-Type: multipart/related; boundary="b"',
      "",
      "--b",
      "Content-Type: text/html",
      "Content-Transfer-Encoding: quoted-printable",
      "",
      html,
      "--b",
      "Content-Type: image/png",
      "Content-Transfer-Encoding: base64",
      "",
      "iVBORw0KGgo=".repeat(6),
      "--b--",
      "",
    ].join("\r\n");

  it.each(["page.mhtml", "page.mht", "page.eml", "page", "page.txt"])(
    "is read as a web page: %s",
    async (name) => {
      const html = `<title>Garlic</title><body><nav><a href=3D"/">Start</a></nav><article><h1>Garlic</h1><p>${"Cloves go three centimetres deep into the gr=C3=BCn bed. ".repeat(8)}</p></article></body>`;
      const document = await read(page(html), name);
      expect(document).toMatchObject({
        kind: "mhtml",
        title: "Garlic",
        occurredAt: Date.UTC(2026, 10, 21, 10),
      });
      expect(document.blocks.map(({ text }) => text).join("\n")).toMatch(/^Garlic\nCloves go .* grün bed\.$/);
    },
  );

  it("is read without its frames", async () => {
    const text = (of: string) =>
      `<html><title>T</title><body><p>${of} is three centimetres deep.</p></body></html>`;
    const framed = page(text("Garlic")).replace(
      "--b\r\nContent-Type: image/png",
      `--b\r\nContent-Type: text/html\r\n\r\n${text("Advertisement")}\r\n--b\r\nContent-Type: image/png`,
    );
    const { blocks } = await read(framed, "page.mhtml");
    expect(blocks.map((block) => block.text).join("\n")).toContain("Garlic is three");
    expect(blocks.map((block) => block.text).join("\n")).not.toContain("Advertisement");
  });

  it("is refused without HTML", async () => {
    const noHtml = page("").replace("Content-Type: text/html", "Content-Type: application/pdf");
    await expect(read(noHtml, "page.mhtml")).rejects.toThrow("holds no HTML");
  });
});

describe("a text that is none for people", () => {
  it.each([
    ["base64", Buffer.alloc(6_000, "memory").toString("base64").replace(/.{76}/g, "$&\n")],
    ["base64 of 64 columns", Buffer.alloc(6_000, "memory1").toString("base64").replace(/.{64}/g, "$&\n")],
    [
      "a dump with addresses",
      "000000c0  6c fc fa 0c 7a f9 0c b7  af 47 d6 c6 e3 ae 23 a6  |l...z....G....#.|\n".repeat(60),
    ],
    ["uuencode", `M${"28M0O77K".repeat(8).slice(0, 60)}\n`.repeat(60)],
    ["hexadecimal", Buffer.alloc(3_000, "memory").toString("hex")],
    ["a dump of bytes", "00000010: 4d65 6d6f 7279 4d65 6d6f 7279 4d65 6d6f  MemoryMemoryMemo\n".repeat(80)],
    ["markup", '<g class="a b" style="fill:none;stroke:#000"><path d="M10 10h5v5"/></g>\n'.repeat(80)],
  ])("is refused with a sentence: %s", async (_, text) => {
    await expect(read(text, "notes.txt")).rejects.toThrow("holds hardly any text");
  });

  it.each([
    ["a list of checksums", `${"a1".repeat(32)}  photos/2026/holiday-in-wales.jpg\n`.repeat(60)],
    ["addresses", "https://example.org/a/long/path/to/some/page?with=a&query=of&some=length\n".repeat(60)],
    [
      "feed of XML",
      "<item><title>The winter cover is in the attic, behind the skis</title><place>attic</place></item>\n".repeat(
        60,
      ),
    ],
    ["a word of millions of letters", "abcdefghij".repeat(300_000)],
    ["a sequence of genes", `${"ACGTTGCA".repeat(9)}\n`.repeat(60)],
    ["a table of numbers", "12 34 56 78 90 1999 2026 10:30\n".repeat(100)],
    ["minutes", "The boat leaves at nine from pier four, as always.\n".repeat(60)],
  ])("is not taken for one: %s", async (_, text) => {
    expect((await read(text, "notes.txt")).kind).toBe("txt");
  });
});

describe("appointments and contacts", () => {
  const event = [
    "BEGIN:VCALENDAR",
    "BEGIN:VTIMEZONE",
    "TZID:Europe/Berlin",
    "BEGIN:STANDARD",
    "DTSTART:19701025T030000",
    "END:STANDARD",
    "END:VTIMEZONE",
    "BEGIN:VEVENT",
    "UID:1",
    "DTSTART;TZID=Europe/Berlin:20250611T143000",
    "SUMMARY:Dentist\\, check",
    "DESCRIPTION:Bring the card\\nand a very long text th",
    " at is folded",
    'ATTENDEE;CN="Ilse K";PARTSTAT=ACCEPTED:mailto:ilse@x.org',
    "BEGIN:VALARM",
    "TRIGGER:-PT15M",
    "END:VALARM",
    "END:VEVENT",
    "END:VCALENDAR",
  ].join("\r\n");
  const shown =
    "Dentist, check\nFrom: 2025-06-11 14:30 (Europe/Berlin)\nDescription: Bring the card\nand a very long text that is folded\nAttendee: Ilse K <ilse@x.org>";

  it("are read field by field, in a file of one at its time", async () => {
    const document = await read(event, "a.ics");
    expect(linesOf(document)).toEqual([`paragraph: ${shown}`]);
    expect(document.occurredAt).toBe(Date.UTC(2025, 5, 11, 14, 30));
    const invitation = `From: a@x.org\r\nContent-Type: text/calendar\r\n\r\n${event}`;
    expect(linesOf(await read(invitation, "a.eml")).join("\n")).toContain("Dentist, check");
  });

  it("have no pictures, and names of old programs as they are spoken", async () => {
    const picture = Buffer.alloc(6_000, "picture1").toString("base64");
    const cards = [
      `BEGIN:VCARD\nVERSION:3.0\nN:Weber;Tom;;;\nFN:Tom Weber\nADR;TYPE=HOME:;;Seestr. 4;Erfurt;;99084;DE\nPHOTO;ENCODING=b:${picture}\nEND:VCARD`,
      "BEGIN:VCARD\nVERSION:2.1\nFN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:J=C3=BCr=\ngen\nTEL;HOME:0361 5550\nEND:VCARD",
    ].join("\n");
    expect(linesOf(await read(cards, "a.vcf"))).toEqual([
      "paragraph: Tom Weber\nAddress: Seestr. 4, Erfurt, 99084, DE",
      "paragraph: Jürgen\nTelephone: 0361 5550",
    ]);
  });
});

it("reads a text around the pictures that stand in it as data", async () => {
  const picture = Buffer.alloc(6_000_000, "picture1").toString("base64");
  const note = `The pump is red.\n\n![][image1]\n\n[image1]: <data:image/png;base64,${picture}>\n`;
  const texts = (await read(note, "note.md")).blocks.map(({ text }) => text).join("\n");
  expect(texts).toContain("The pump is red.");
  expect(texts).not.toContain(picture.slice(0, 40));
});

it("reads letters that JSON has as numbers, the encoding that XML declares, and no colours of a terminal", async () => {
  const textOf = async (content: string | Uint8Array, name: string) =>
    (await read(content, name)).blocks[0]?.text;
  expect(await textOf(String.raw`{"a": "f\u00fcr \\u00fc \ud83d\ude00"}`, "a.json")).toBe(
    String.raw`{"a": "für \\u00fc 😀"}`,
  );
  const xml = Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><to>Jürgen</to>', "latin1");
  expect(await textOf(xml, "a.xml")).toContain("<to>Jürgen</to>");
  expect(await textOf("\x1b[31mERROR\x1b[0m disk full", "a.log")).toBe("ERROR disk full");
});

it("reads a mail in a mail with its own head, and its date as that of the outer one", async () => {
  const inner =
    "From: cy@x.org\r\nSubject: Inner\r\nDate: Sat, 21 Apr 2001 00:16:13 +0000\r\n\r\nThe inner text.";
  const mail = `From: Ada <a@x.org>\r\nDate: Sun, 22 Apr 2001 10:00:00 +0000\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nSee below.\r\n--b\r\nContent-Type: message/rfc822\r\n\r\n${inner}\r\n--b--\r\n`;
  expect(linesOf(await read(mail, "a.eml"))).toEqual([
    "paragraph: From: Ada <a@x.org>\nDate: 2001-04-22T10:00:00.000Z",
    "paragraph: See below.",
    "paragraph: From: cy@x.org\nDate: 2001-04-21T00:16:13.000Z\nSubject: Inner",
    "paragraph: The inner text.",
  ]);
});

it("keeps the zeros that a workbook's format puts before a number, and its comments", async () => {
  const rows = '<row><c r="A1" s="6"><v>7</v></c><c r="B1" s="6"><v>-1234</v></c></row>';
  const comments = `<comments><commentList><comment ref="B1"><text><r><t>agreed </t></r><r><t>with Ada</t></r></text></comment></commentList></comments>`;
  const file = workbook(
    [{ name: "Agents", rows }],
    [],
    [
      {
        name: "xl/worksheets/_rels/sheet1.xml.rels",
        content:
          '<Relationships><Relationship Id="r1" Type="http://schemas/comments" Target="../comments1.xml"/></Relationships>',
      },
      { name: "xl/comments1.xml", content: comments },
    ],
  );
  expect(linesOf(await read(file, "a.xlsx"))).toEqual([
    "heading: Agents",
    "table-row: 007 | -1234",
    "paragraph: Comment on B1: agreed with Ada",
  ]);
});

it("reads a slide whose only text is a chart", async () => {
  const points = (name: string, ...values: string[]) =>
    `<c:${name}>${values.map((value, i) => `<c:pt idx="${i}"><c:v>${value}</c:v></c:pt>`).join("")}</c:${name}>`;
  const chart = `<c:title><a:p><a:r><a:t>Weather</a:t></a:r></a:p></c:title>
    <c:ser>${points("tx", "Rain")}${points("cat", "March", "April")}${points("val", "40", "55.5")}</c:ser>
    <c:ser>${points("tx", "Sun")}${points("cat", "March", "April")}${points("val", "120", "160")}</c:ser>`;
  expect(linesOf(await read(presentation([{ shapes: "", chart }]), "a.pptx"))).toEqual([
    "paragraph: Weather",
    "table-row: | Rain | Sun",
    "table-row: March | 40 | 120",
    "table-row: April | 55.5 | 160",
  ]);
});
