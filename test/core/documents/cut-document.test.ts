import { describe, expect, it } from "vitest";
import { cutDocument } from "../../../src/core/documents/cut-speech.ts";
import type { Block, ExtractedDocument } from "../../../src/core/documents/extraction.ts";
import { planDocument } from "../../../src/core/documents/store-document.ts";

const words = (count: number) => Array.from({ length: count }, (_, i) => `word${i}`).join(" ");
const document = (blocks: readonly Block[], title?: string): ExtractedDocument => ({
  kind: "pdf",
  mediaType: "application/pdf",
  method: "pdf.js",
  charCount: 9,
  blocks,
  ...(title !== undefined && { title }),
});
const heading = (text: string, page: number): Block => ({ type: "heading", level: 1, text, page });
const paragraph = (text: string, page: number): Block => ({ type: "paragraph", text, page });

describe("cutDocument", () => {
  it("keeps a short document whole, without a digest", () => {
    const { chunks, digest, title } = cutDocument(
      document([heading("Note", 3), paragraph("The garlic is in.", 4)]),
    );
    expect(chunks).toEqual([{ content: "# Note\n\nThe garlic is in.", headings: [], page: 3 }]);
    expect(digest).toBeUndefined();
    expect(title).toBe("Note");
  });

  it("gives a long one chunks and a digest, and only a heading above all else is its title", () => {
    const blocks = [heading("One", 1), paragraph(words(150), 1), heading("Two", 2), paragraph(words(150), 2)];
    const { chunks, digest, title } = cutDocument(document(blocks));
    expect(chunks.map(({ headings, page }) => [headings, page])).toEqual([
      [["One"], 1],
      [["Two"], 2],
    ]);
    expect(digest?.outline).toBe("- One\n- Two");
    expect(title).toBeUndefined();
  });
});

describe("planDocument", () => {
  it("gives the root no page: it stands for all of them", () => {
    const cut = cutDocument(document([paragraph(words(400), 7), paragraph(words(200), 8)], "Almanac"));
    const { memories } = planDocument("d", cut, { filename: "a.pdf", url: null });
    expect(memories[0]?.source).toEqual({
      documentId: "d",
      filename: "a.pdf",
      mediaType: "application/pdf",
      chunkIndex: -1,
      chunkCount: cut.chunks.length,
    });
    expect(memories[1]?.source).toMatchObject({ chunkIndex: 0, page: 7, section: "Almanac" });
  });

  it("names the title of a short document only where its text does not", () => {
    const sections = ["Garlic", "Soil"].map((title) => {
      const cut = cutDocument(document([paragraph("Garlic is in.", 1)], title));
      return planDocument("d", cut, { filename: null, url: null }).memories[0]?.source.section;
    });
    expect(sections).toEqual([undefined, "Soil"]);
  });
});
