import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutIntoChunks, isShort, wholeText } from "../../../src/core/documents/chunking.ts";
import type { Block, BlockType } from "../../../src/core/documents/extraction.ts";
import { sizeOf } from "../../../src/core/text/text-size.ts";
import { times } from "../../support/stress.ts";

const words = (count: number, word = "word") =>
  Array.from({ length: count }, (_, i) => `${word}${i}`).join(" ");
const sentences = (count: number, size = 20) =>
  Array.from({ length: count }, (_, i) => `S${i} ${words(size - 1)}.`).join(" ");
const heading = (text: string, level = 1, page?: number): Block => ({
  type: "heading",
  text,
  level,
  ...(page !== undefined && { page }),
});
const paragraph = (text: string, page?: number): Block => ({
  type: "paragraph",
  text,
  ...(page !== undefined && { page }),
});

describe("cutIntoChunks", () => {
  it("cuts at headings and gives each chunk its path and page", () => {
    const chunks = cutIntoChunks([
      heading("Report", 1, 1),
      heading("Sales", 2, 1),
      paragraph(words(100, "sales"), 1),
      heading("Costs", 2, 2),
      paragraph(words(80, "costs"), 3),
    ]);
    expect(chunks).toEqual([
      { content: words(100, "sales"), headings: ["Report", "Sales"], page: 1 },
      { content: words(80, "costs"), headings: ["Report", "Costs"], page: 3 },
    ]);
  });

  it("indents nested items, and cites no page for text of more than two", () => {
    const item = (text: string, level: number, page: number): Block => ({
      type: "list-item",
      text,
      level,
      page,
    });
    const blocks = [item("1. Prepare", 1, 1), item("- cut\nthin", 2, 2), item("2. Cook", 1, 2)];
    const content = "1. Prepare\n  - cut\n  thin\n2. Cook";
    expect(cutIntoChunks(blocks)).toEqual([{ content, headings: [], page: 1 }]);
    expect(wholeText(blocks)).toBe(content);
    const [chunk] = cutIntoChunks([...blocks, item("3. Eat", 1, 3)]);
    expect(chunk).not.toHaveProperty("page");
  });

  it("keeps paragraphs whole where they fit, and cuts large ones between sentences", () => {
    const chunks = cutIntoChunks([
      paragraph(words(150, "a")),
      paragraph(words(120, "b")),
      paragraph(sentences(40)),
    ]);
    expect(chunks[0]?.content).toBe(words(150, "a"));
    expect(chunks[1]?.content.startsWith(`${words(120, "b")}\n\nS0 `)).toBe(true);
    for (const { content } of chunks.slice(1)) expect(content.endsWith(".")).toBe(true);
    expect(
      chunks
        .map(({ content }) => content)
        .join(" ")
        .match(/S\d+/g),
    ).toHaveLength(40);
  });

  it("joins small sections, their headings in the text", () => {
    const chunks = cutIntoChunks([
      heading("FAQ"),
      heading("Where?", 2),
      paragraph("Here, in the garden."),
      heading("When?", 2),
      paragraph("Now."),
    ]);
    expect(chunks).toEqual([
      { content: "Where?\n\nHere, in the garden.\n\nWhen?\n\nNow.", headings: ["FAQ"] },
    ]);
  });

  it("keeps a heading that nothing stands below", () => {
    const [first, last] = cutIntoChunks([paragraph(words(210)), heading("To be written")]);
    expect(first?.headings).toEqual([]);
    expect(last).toEqual({ content: "To be written", headings: ["To be written"] });
  });

  it("cuts code between lines, as it stands", () => {
    const code = Array.from({ length: 120 }, (_, i) => `  line ${i} = call(${i});`).join("\n");
    const chunks = cutIntoChunks([{ type: "code", text: code }]);
    expect(chunks.length).toBeGreaterThan(1);
    expect(chunks.map(({ content }) => content).join("\n")).toBe(code);
  });

  it("cuts lines of data, which no full stop ends, between lines, and a sentence of a paragraph nowhere", () => {
    const rows = Array.from({ length: 200 }, (_, i) => `user${i}: took ${i} ms, port ${8_000 + i}`);
    const chunks = cutIntoChunks([{ type: "paragraph", text: rows.join("\n") }]);
    expect(chunks.length).toBeGreaterThan(2);
    expect(chunks.map(({ content }) => content).join("\n")).toBe(rows.join("\n"));
    const verses = Array.from({ length: 90 }, (_, i) => `Line ${i} of a verse\nthat goes on here.`).join(" ");
    for (const { content } of cutIntoChunks([{ type: "paragraph", text: verses }]))
      expect(content).toMatch(/^Line \d+ of[^]*here\.$/);
  });

  it("repeats the header row where a table goes on", () => {
    const rows = Array.from({ length: 60 }, (_, i): Block => ({
      type: "table-row",
      text: `item ${i} | ${words(6)}`,
    }));
    const chunks = cutIntoChunks([{ type: "table-row", text: "Item | Notes", isHeader: true }, ...rows]);
    expect(chunks.length).toBeGreaterThan(2);
    for (const { content } of chunks) expect(content.split("\n")[0]).toBe("Item | Notes");
    expect(chunks.flatMap(({ content }) => content.match(/item \d+/g))).toHaveLength(60);
  });

  it("cuts a sentence, and a word, that is larger than a chunk", () => {
    const chunks = cutIntoChunks([
      paragraph(words(1_000)),
      paragraph("字".repeat(3_000)),
      paragraph("x".repeat(20_000)),
    ]);
    for (const { content } of chunks) expect(sizeOf(content)).toBeLessThanOrEqual(262);
    const text = chunks.map(({ content }) => content).join(" ");
    expect(text.match(/word\d+/g)).toHaveLength(1_000);
    expect(text.match(/字/g)).toHaveLength(3_000);
    expect(text.match(/x/g)).toHaveLength(20_000);
  });

  const anyBlock = fc
    .record({
      type: fc.constantFrom<BlockType>("heading", "paragraph", "list-item", "table-row", "code", "quote"),
      text: fc
        .string({ unit: fc.constantFrom("a", "b ", "c. ", "D", "字", "\n"), minLength: 1, maxLength: 3_000 })
        .map((text) => `x${text.trim()}x`),
      level: fc.integer({ min: 1, max: 6 }),
    })
    .map((block): Block => block);

  it("loses no text, makes no empty chunk and passes the size by no more than a sentence", () => {
    const letters = (text: string) => text.replaceAll(/\s/g, "");
    fc.assert(
      fc.property(fc.array(anyBlock, { minLength: 1, maxLength: 30 }), (blocks) => {
        const chunks = cutIntoChunks(blocks);
        const all = letters(chunks.map(({ content }) => content).join(""));
        const body = letters(
          blocks
            .filter(({ type }) => type !== "heading")
            .map(({ text }) => text)
            .join(""),
        );
        if (!blocks.some(({ type }) => type === "heading")) expect(all).toBe(body);
        for (const { content } of chunks) expect(content.trim()).not.toBe("");
        for (const { type, text } of blocks) {
          const known =
            type === "heading" &&
            chunks.some(({ headings }) => headings.some((h) => text.startsWith(h.replace(/…$/, ""))));
          const isThere = known || all.includes(letters(text).slice(0, 20));
          expect(isThere).toBe(true);
        }
      }),
      { numRuns: times(30) },
    );
  });

  it("is linear in hostile documents", () => {
    const many = Array.from({ length: 50_000 }, (_, i) => heading(`h${i}`, (i % 6) + 1));
    expect(cutIntoChunks(many).length).toBeGreaterThan(1);
    expect(cutIntoChunks(Array.from({ length: 100_000 }, () => paragraph("a"))).length).toBeGreaterThan(400);
    expect(cutIntoChunks([paragraph("a. ".repeat(700_000).trim())]).length).toBeGreaterThan(3_000);
    // One line without a space: each character was a match, and a part, of its own.
    expect(cutIntoChunks([paragraph("漢".repeat(2_000_000))])).toHaveLength(5_000);
  });
});

describe("isShort", () => {
  it("is true for a document of one chunk, whose whole text keeps its structure", () => {
    const blocks = [
      heading("Garlic", 2),
      paragraph("Planted it."),
      { type: "list-item", text: "- bed 3" } as const,
    ];
    expect(isShort(blocks)).toBe(true);
    expect(wholeText(blocks)).toBe("## Garlic\n\nPlanted it.\n\n- bed 3");
    expect(isShort([paragraph(words(260))])).toBe(false);
  });
});
