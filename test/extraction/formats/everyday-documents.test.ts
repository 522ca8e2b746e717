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
