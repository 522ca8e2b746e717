import { describe, expect, it } from "vitest";
import { extractDocument } from "../../src/extraction/extract-document.ts";
import { DEFAULT_EXTRACTION_LIMITS } from "../../src/extraction/sandboxed-text-extractor.ts";
import { emptyDocx, minutesDocx } from "../fixtures/documents/docx-documents.ts";
import { bareDocx } from "../fixtures/documents/zip-archive.ts";

const read = (bytes: Uint8Array, limits = {}) =>
  extractDocument(bytes, {}, { ...DEFAULT_EXTRACTION_LIMITS, ...limits });
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
      async () => bareDocx(paragraph("x".repeat(5_000)), { declaredBytes: 100 }),
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
