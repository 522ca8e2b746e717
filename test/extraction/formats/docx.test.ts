import { describe, expect, it } from "vitest";
import { extractDocument } from "../../../src/extraction/extract-document.ts";
import { EXTRACTION_LIMITS } from "../../support/extraction-limits.ts";
import { emptyDocx, minutesDocx } from "../../fixtures/documents/docx-documents.ts";
import { bareDocx } from "../../fixtures/documents/bare-docx.ts";

const read = (bytes: Uint8Array, limits = {}) =>
  extractDocument(bytes, {}, { ...EXTRACTION_LIMITS, ...limits });
const paragraph = (text: string) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;

describe("a Word document's text", () => {
  it("comes with headings, lists, tables, notes, links, and what the file says of itself", async () => {
    const { blocks, ...document } = await read(await minutesDocx());
    expect(document).toMatchObject({
      kind: "docx",
      method: "mammoth",
      title: "Minutes of the garden club",
      author: "Ines Okafor",
      date: expect.any(Number),
    });
    expect(blocks).toEqual([
      { type: "heading", text: "Minutes", level: 1 },
      { type: "heading", text: "Seeds", level: 1 },
      { type: "paragraph", text: "We hold 412 packets[1] in the shed." },
      { type: "paragraph", text: "The list is at [the seed page](https://example.org/seeds)." },
      { type: "heading", text: "To do", level: 2 },
      { type: "list-item", text: "1. Sort the beans", level: 1 },
      { type: "list-item", text: "1. by colour", level: 2 },
      { type: "list-item", text: "2. Label the drawers", level: 1 },
      { type: "table-row", text: "Plant | Packets" },
      { type: "table-row", text: "Bean | 120" },
      { type: "table-row", text: "Leek | 31" },
      { type: "paragraph", text: "Next meeting on 4 June." },
      { type: "list-item", text: "1. Counted twice, by two people.", level: 1 },
    ]);
  });

  it("has no title where its properties close themselves, and what stands behind them", async () => {
    const core =
      '<?xml version="1.0"?><cp:coreProperties xmlns:cp="c" xmlns:dc="d"><dc:title/><dc:subject/><dc:creator>Ines</dc:creator><cp:keywords>a b</cp:keywords></cp:coreProperties>';
    const document = await read(
      bareDocx(paragraph("Alone."), {}, [{ name: "docProps/core.xml", content: core }]),
    );
    expect(document).toMatchObject({ author: "Ines" });
    expect(document.title).toBeUndefined();
  });

  it("has comments behind the text, and text boxes that are written without a form for old programs", async () => {
    const box = `<mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wps:txbx><w:txbxContent>${paragraph("In a box")}</w:txbxContent></wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict></w:pict></mc:Fallback></mc:AlternateContent>`;
    const comment = `<w:comments xmlns:w="w"><w:comment w:id="0" w:author="Bo"><w:p><w:r><w:t>Back </w:t></w:r><w:r><w:t>by July</w:t></w:r></w:p></w:comment></w:comments>`;
    const document = bareDocx(`${paragraph("Deposit")}<w:p><w:r>${box}</w:r></w:p>`, {}, [
      { name: "word/comments.xml", content: comment },
    ]);
    expect((await read(document)).blocks.map(({ text }) => text)).toEqual([
      "Deposit",
      "In a box",
      "Comment by Bo: Back by July",
    ]);
  });

  it("is of the time when it was last saved, and of none where a program copied that from its template", async () => {
    const core = (created: string, saved: string) => ({
      name: "docProps/core.xml",
      content: `<cp:coreProperties xmlns:cp="c" xmlns:dcterms="d"><dcterms:created>${created}</dcterms:created><dcterms:modified>${saved}</dcterms:modified></cp:coreProperties>`,
    });
    const times = async (...given: [string, string]) => {
      const { date, occurredAt } = await read(bareDocx(paragraph("x"), {}, [core(...given)]));
      return [date, occurredAt];
    };
    const [made, saved] = ["2024-05-06T09:00:00Z", "2024-05-07T09:00:00Z"];
    expect(await times(made, saved)).toEqual([Date.parse(made), Date.parse(saved)]);
    expect(await times("2013-12-23T23:15:00Z", "2013-12-23T23:15:00Z")).toEqual([undefined, undefined]);
  });

  it("has its equations, in one line", async () => {
    const text = (value: string) => `<m:r><m:t>${value}</m:t></m:r>`;
    const fraction = `<m:f><m:num>${text("a+b")}</m:num><m:den>${text("2")}</m:den></m:f>`;
    const square = `<m:sSup><m:e>${text("x")}</m:e><m:sup>${text("2")}</m:sup></m:sSup>`;
    const body =
      `<w:p><w:r><w:t xml:space="preserve">The mean is </w:t></w:r><m:oMath>${fraction}</m:oMath><w:r><w:t>.</w:t></w:r></w:p>` +
      `<w:p><m:oMathPara><m:oMathParaPr><m:jc m:val="center"/></m:oMathParaPr><m:oMath>${text("E=m&lt;")}${square}</m:oMath></m:oMathPara></w:p>`;
    expect((await read(bareDocx(body))).blocks.map(({ text }) => text)).toEqual([
      "The mean is (a+b)/2.",
      "E=m<x^2",
    ]);
  });

  it("has a header where the first row of a table is bold, and merged cells in each row and column", async () => {
    const cell = (value: string, { bold = false, props = "" } = {}) =>
      `<w:tc><w:tcPr>${props}</w:tcPr><w:p><w:r>${bold ? "<w:rPr><w:b/></w:rPr>" : ""}<w:t>${value}</w:t></w:r></w:p></w:tc>`;
    const row = (...cells: string[]) => `<w:tr>${cells.join("")}</w:tr>`;
    const start = '<w:vMerge w:val="restart"/>';
    const table = `<w:tbl>${[
      row(cell("Bed", { bold: true }), cell("Plant", { bold: true }), cell("Count", { bold: true })),
      row(cell("3", { props: start }), cell("Garlic"), cell("24")),
      row(cell("", { props: "<w:vMerge/>" }), cell("Leek"), cell("31")),
      row(cell("all", { props: '<w:gridSpan w:val="2"/>' }), cell("55")),
    ].join("")}</w:tbl>`;
    expect((await read(bareDocx(table))).blocks).toEqual([
      { type: "table-row", text: "Bed | Plant | Count", isHeader: true },
      { type: "table-row", text: "3 | Garlic | 24" },
      { type: "table-row", text: "3 | Leek | 31" },
      { type: "table-row", text: "all | all | 55" },
    ]);
  });

  it("is read from the barest file", async () => {
    expect((await read(bareDocx(paragraph("Alone.")))).blocks).toEqual([
      { type: "paragraph", text: "Alone." },
    ]);
  });
});

describe("a Word document that cannot be read", () => {
  it.each([
    ["empty", emptyDocx, "UNPROCESSABLE", /no text/],
    ["cut off", async () => (await minutesDocx()).slice(0, 2_000), "UNPROCESSABLE", /damaged or cut off/],
    ["of broken XML", async () => bareDocx("<w:p><w:r>"), "UNPROCESSABLE", /damaged/],
    [
      "a lie about its size",
      async () => bareDocx(paragraph("x".repeat(5_000)), { claimedBytes: 100 }),
      "UNPROCESSABLE",
      /damaged/,
    ],
    [
      "a bomb",
      async () => bareDocx(paragraph(" ".repeat(3_000_000))),
      "TOO_LARGE",
      /more than 2000000 bytes when it is unpacked/,
    ],
  ] as const)("%s: is refused with a sentence that says what to do", async (_, make, code, message) => {
    await expect(read(await make(), { maxInflatedBytes: 2_000_000 })).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });

  it("does not inflate pictures", async () => {
    const picture = { name: "word/media/image1.png", content: " ".repeat(3_000_000) };
    const document = await read(bareDocx(paragraph("Alone."), {}, [picture]), {
      maxInflatedBytes: 2_000_000,
    });
    expect(document.charCount).toBe(6);
  });
});
