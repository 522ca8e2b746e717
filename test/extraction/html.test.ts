import { describe, expect, it } from "vitest";
import { readHtml } from "../../src/extraction/html.ts";
import {
  ARTICLE_PAGE,
  MANUAL_PAGE,
  nestedPage,
  SCRIPTED_PAGE,
} from "../fixtures/documents/html-documents.ts";

describe("readHtml", () => {
  it("finds an article's text and what the page says of it", () => {
    const { blocks, ...page } = readHtml(ARTICLE_PAGE, "https://post.example/2026/ferry?from=mail");
    expect(page).toEqual({
      title: "The last ferry",
      author: "Ada Quill, Ben Osei",
      date: Date.UTC(2026, 2, 14, 8),
      language: "en-US",
      url: "https://post.example/2026/ferry",
      method: "readability",
    });
    expect(blocks.map(({ type, text }) => [type, text.slice(0, 20)])).toEqual([
      ["heading", "The last ferry"],
      ["paragraph", "The ferry between Br"],
      ["paragraph", "Four hundred people "],
      ["heading", "What comes next"],
      ["paragraph", "A bridge will open i"],
      ["quote", "I will miss the morn"],
      ["paragraph", "The council has kept"],
    ]);
    expect(JSON.stringify(blocks)).not.toContain("FURNITURE");
  });

  it("loses nothing of a page that is no article", () => {
    const { blocks, method, title } = readHtml(MANUAL_PAGE);
    expect({ method, title }).toEqual({ method: "html-rules", title: "Pump P-7 manual" });
    expect(blocks).toEqual([
      { type: "heading", text: "Pump P-7", level: 1 },
      { type: "paragraph", text: "Read this first." },
      { type: "heading", text: "Parts", level: 2 },
      { type: "table-row", text: "Part | Number", isHeader: true },
      { type: "table-row", text: "Gasket | GX-114" },
      { type: "table-row", text: "Valve | VV-20" },
      { type: "heading", text: "Start", level: 2 },
      { type: "list-item", text: "3. Open the tap.", level: 1 },
      { type: "list-item", text: "- Slowly.", level: 2 },
      { type: "list-item", text: "4. Press START.\nWait for the lamp.", level: 1 },
      { type: "code", text: "p7 --prime\n  --seconds 30" },
      { type: "paragraph", text: "E4" },
      { type: "paragraph", text: "Air in the pipe." },
      { type: "paragraph", text: "Service: call 555 0134.\nMondays only." },
    ]);
  });

  it("reads a table that only lays out a page as what it lays out", () => {
    const { blocks } = readHtml(
      "<table><tr><td><h2>Left</h2><p>One.</p></td><td><p>Two.</p></td></tr></table>",
    );
    expect(blocks.map(({ type, text }) => [type, text])).toEqual([
      ["heading", "Left"],
      ["paragraph", "One."],
      ["paragraph", "Two."],
    ]);
  });

  it("says that a page's text is written by scripts", () => {
    expect(() => readHtml(SCRIPTED_PAGE)).toThrow(
      expect.objectContaining({
        code: "UNPROCESSABLE",
        message: expect.stringMatching(/written by scripts/),
      }),
    );
  });

  it("reads a short page that merely has a script", () => {
    expect(
      readHtml(
        "<body><div id=root>Open from nine to five on weekdays, and on Saturdays until the bread is sold out, which is about noon.</div><script>1</script>",
      ).blocks,
    ).toHaveLength(1);
  });

  it("keeps the text of nested elements in order", () => {
    const { blocks } = readHtml(nestedPage(5_000, "In the middle."));
    expect(blocks.map((block) => block.text)).toEqual(["Before it.", "In the middle.", "After it."]);
  });

  it("refuses what nobody nests", () => {
    expect(() => readHtml(nestedPage(100_000, "x"))).toThrow(
      expect.objectContaining({ code: "UNPROCESSABLE", message: expect.stringMatching(/10000 elements/) }),
    );
  });
});
