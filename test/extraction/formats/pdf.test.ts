import { describe, expect, it } from "vitest";
import type { ExtractedDocument } from "../../../src/core/documents/extraction.ts";
import { extractDocument } from "../../../src/extraction/extract-document.ts";
import { EXTRACTION_LIMITS } from "../../support/extraction-limits.ts";
import {
  encryptedPdf,
  LEFT_COLUMN,
  ownerLockedPdf,
  type Placed,
  placedPdf,
  reportPdf,
  RIGHT_COLUMN,
  scannedPdf,
  SECRET_TEXT,
  twoColumnPdf,
} from "../../fixtures/documents/pdf-documents.ts";
import {
  formPdf,
  japanesePdf,
  ligaturePdf,
  onePage,
  rightToLeftPdf,
} from "../../fixtures/documents/raw-pdf.ts";

const read = (bytes: Uint8Array): Promise<ExtractedDocument> => extractDocument(bytes, {}, EXTRACTION_LIMITS);
const textOf = (document: ExtractedDocument) => document.blocks.map((block) => block.text).join("\n");
const paragraph = (lines: readonly string[], left = 72, top = 100): Placed[] =>
  lines.map((line, n) => [line, left, top + n * 12]);

describe("a PDF's text", () => {
  it("comes with pages, headings, title, author, date and language", async () => {
    const document = await read(await reportPdf());
    expect(document).toMatchObject({
      kind: "pdf",
      mediaType: "application/pdf",
      pages: 6,
      title: "Water report 1962",
      author: "Ada Quill",
      date: Date.UTC(2026, 2, 14, 9, 30),
      language: "en-GB",
    });
    expect(
      document.blocks.filter((block) => block.type === "heading").map(({ text, page }) => [text, page]),
    ).toEqual(
      ["A", "B", "C", "D", "E", "F"].map((letter, n) => [`${n + 1}. Gauges of district ${letter}`, n + 1]),
    );
    expect(document.blocks.find((block) => block.text.includes("Orrin"))).toMatchObject({ page: 4 });
    expect(document.charCount).toBe(document.blocks.reduce((total, block) => total + block.text.length, 0));
  });

  it("keeps the first of the headers and footers that repeat", async () => {
    const text = textOf(await read(await reportPdf()));
    expect(text.match(/Water report/g)).toHaveLength(1);
    expect(text).not.toMatch(/Page \d of 6/);
  });

  it("goes on where a line runs over the edge of the page, and has nothing that begins behind it", async () => {
    const fonts = "/F1 5 0 R /F2 6 0 R";
    const courier = (name: string) => ({ dictionary: `/Type /Font /Subtype /Type1 /BaseFont /${name}` });
    const content = `BT /F1 10 Tf 400 700 Td (See https://lists.example.org/to/PACKAGE/changelog.html) Tj 0 -14 Td (It fits.) Tj
      0 -14 Td (Call ) Tj /F2 10 Tf (dpkg-buildpackage --build=source --unsigned) Tj /F1 10 Tf ( at the end.) Tj ET
      BT /F1 10 Tf 620 600 Td (CROP MARK) Tj ET`;
    const file = onePage(content, fonts, { 5: courier("Courier"), 6: courier("Courier-Bold") });
    expect(textOf(await read(file))).toBe(
      "See https://lists.example.org/to/PACKAGE/changelog.html\nIt fits.\nCall dpkg-buildpackage --build=source --unsigned at the end.",
    );
  });

  const body = (page: number): Placed[] =>
    Array.from({ length: 40 }, (_, line): Placed => [
      `Row ${line * 7 + page} of the log, kept by the mate, tells of wind from the ${page % 2 ? "west" : "east"}.`,
      72,
      130 + line * 14,
    ]);
  const pagesWith = (count: number, edge: (page: number) => Placed[]) =>
    placedPdf(Array.from({ length: count }, (_, n) => [...edge(n + 1), ...body(n + 1)]));

  it.each(["Chapter", "Section", "Article"])(
    "keeps a numbered heading that begins each page: %s",
    async (word) => {
      const large = await read(
        await pagesWith(12, (page) => [[`${word} ${page}`, 72, 80, 18, "Times-Bold"]]),
      );
      const headings = large.blocks
        .filter(({ type }) => type === "heading")
        .map(({ text, page }) => [text, page]);
      expect(headings).toEqual(Array.from({ length: 12 }, (_, n) => [`${word} ${n + 1}`, n + 1]));
      const plain = textOf(
        await read(await pagesWith(12, (page) => [[`${word} ${page}.`, 72, 80, 10, "Times-Bold"]])),
      );
      expect(plain.match(new RegExp(`${word} \\d+\\.`, "g"))).toHaveLength(12);
    },
  );

  it("keeps the first header of each chapter, and none of the pages' numbers beside them", async () => {
    const text = textOf(
      await read(
        await pagesWith(20, (page) => [
          [`Chapter ${Math.ceil(page / 5)}`, 72, 60, 9],
          ["The log of the Margarethe", 72, 740, 10],
          [String(page + 11), 500, 740, 10],
        ]),
      ),
    );
    expect(text.match(/Chapter \d/g)).toEqual(["Chapter 1", "Chapter 2", "Chapter 3", "Chapter 4"]);
    expect(text.match(/Margarethe \d+/g)).toEqual(["Margarethe 12"]);
  });

  it("takes the numbers off two pages, in roman figures too", async () => {
    const arabic = textOf(await read(await pagesWith(2, (page) => [[`- ${page} -`, 300, 740, 10]])));
    expect(arabic).not.toMatch(/- \d -/);
    const roman = textOf(
      await read(await pagesWith(3, (page) => [["iii iv v".split(" ")[page - 1] ?? "", 300, 740]])),
    );
    expect(roman).not.toMatch(/\b(?:iii|iv|v)\b/);
  });

  it("keeps what repeats on pages that hold little else", async () => {
    const slides = ["Tides", "Winds", "Ships", "Rope"].map((word): Placed[] => [
      ["Lecture of the sea scouts", 72, 40],
      [`${word} are what we speak of now`, 72, 300],
    ]);
    const text = textOf(await read(await placedPdf(slides)));
    expect(text.match(/Lecture of the sea scouts/g)).toHaveLength(4);
  });

  it("reads two columns one after the other, though they are drawn line by line", async () => {
    const document = await read(await twoColumnPdf());
    expect(document.blocks).toEqual([
      { type: "heading", text: "A short history of the harbour", level: 1, page: 1 },
      { type: "paragraph", text: LEFT_COLUMN.join(" "), page: 1 },
      { type: "paragraph", text: RIGHT_COLUMN.join(" "), page: 1 },
    ]);
  });

  it("joins words broken at a line's end, and leaves compounds", async () => {
    const lines = [
      "The old ferry was a well-known sight, and its trans-",
      "portation of sheep was praised in letters. It was well-",
      "known to the farmers on both banks of the long river",
    ];
    const [block] = (await read(await placedPdf([paragraph(lines)]))).blocks;
    expect(block?.text).toBe(
      "The old ferry was a well-known sight, and its transportation of sheep was praised in letters. It was " +
        "well-known to the farmers on both banks of the long river",
    );
  });

  it("joins a sentence that goes on after a page's end", async () => {
    const first = paragraph([
      "The last of the lamps was lit in the",
      "tower and burned until the keeper had",
    ]);
    const second = paragraph(["gone down to the boats, which was long after midnight."]);
    const { blocks } = await read(await placedPdf([first, second]));
    expect(blocks).toEqual([
      {
        type: "paragraph",
        text: "The last of the lamps was lit in the tower and burned until the keeper had gone down to the boats, which was long after midnight.",
        page: 1,
      },
    ]);
  });

  it("tells lists, tables and code", async () => {
    const lines: Placed[] = [
      ["• Oars, four of them, all of ash", 72, 100],
      ["• A bucket", 72, 112],
      ["Boat", 72, 140],
      ["Length", 200, 140],
      ["Built", 300, 140],
      ["Heron", 72, 152],
      ["9 m", 200, 152],
      ["1911", 300, 152],
      ["Tern", 72, 164],
      ["6 m", 200, 164],
      ["1934", 300, 164],
      ["if (tide > 3) {", 72, 200, 10, "Courier"],
      ["stay();", 84, 212, 10, "Courier"],
      ["}", 72, 224, 10, "Courier"],
    ];
    expect((await read(await placedPdf([lines]))).blocks.map(({ type, text }) => [type, text])).toEqual([
      ["list-item", "• Oars, four of them, all of ash"],
      ["list-item", "• A bucket"],
      ["table-row", "Boat | Length | Built"],
      ["table-row", "Heron | 9 m | 1911"],
      ["table-row", "Tern | 6 m | 1934"],
      ["code", "if (tide > 3) {\n  stay();\n}"],
    ]);
  });

  it("comes with what was written into a form", async () => {
    expect(textOf(await read(formPdf("Name:", "Ines Okafor")))).toBe("Name: Ines Okafor");
  });

  it("takes ligatures apart", async () => {
    expect(textOf(await read(ligaturePdf()))).toBe("The office filed it.");
  });

  it("reads Japanese in a font that is not in the file, and joins its lines without spaces", async () => {
    expect(textOf(await read(japanesePdf(["港は冬に掘られた。人々は", "石切り場から来た。"])))).toBe(
      "港は冬に掘られた。人々は石切り場から来た。",
    );
  });

  it("reads Hebrew in the order it is read in", async () => {
    expect(textOf(await read(rightToLeftPdf(["שלום לכולם"])))).toBe("שלום לכולם");
  });

  it("is read when only its owner is locked out of nothing", async () => {
    expect(textOf(await read(await ownerLockedPdf()))).toBe(SECRET_TEXT);
  });
});

describe("a PDF that cannot be read", () => {
  it.each([
    ["encrypted", encryptedPdf, "UNPROCESSABLE", /encrypted\. Save it without a password/],
    ["a scan", scannedPdf, "UNPROCESSABLE", /2 pages of the PDF hold no text.*OCRmyPDF/],
    ["without text", async () => onePage("", "", {}), "UNPROCESSABLE", /no text/],
    ["cut off", async () => (await reportPdf()).slice(0, 3_000), "UNPROCESSABLE", /cut off/],
    [
      "noise",
      async () => new TextEncoder().encode("%PDF-1.7\nnothing\nstartxref\n0\n%%EOF"),
      "UNPROCESSABLE",
      /damaged/,
    ],
  ] as const)("%s: is refused with a sentence that says what to do", async (_, make, code, message) => {
    await expect(read(await make())).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it.each([
    [{ maxChars: 1_000 }, /1000 characters/],
    [{ maxPages: 5 }, /6 pages; the limit is 5/],
  ])("has more than %j", async (limit, message) => {
    const limits = { ...EXTRACTION_LIMITS, ...limit };
    await expect(extractDocument(await reportPdf(), {}, limits)).rejects.toMatchObject({
      code: "TOO_LARGE",
      message: expect.stringMatching(message),
    });
  });
});
