import { describe, expect, it } from "vitest";
import type { Block } from "../../../src/core/documents/extraction.ts";
import { digestOf, digestText } from "../../../src/core/text/extractive-summary.ts";

const paragraph = (text: string): Block => ({ type: "paragraph", text });

describe("digestOf", () => {
  const blocks: Block[] = [
    { type: "heading", level: 1, text: "Garlic" },
    paragraph("Garlic is planted in autumn in beds with good drainage. Hello there."),
    { type: "heading", level: 2, text: "Planting" },
    paragraph(
      "Plant garlic cloves in autumn, in beds with good drainage! The neighbour's cat is called Tom and sleeps.",
    ),
    { type: "heading", level: 2, text: "Harvest" },
    paragraph(
      "Garlic planted in autumn beds is harvested in July when leaves turn yellow. It rained on Tuesday.",
    ),
  ];

  it("chooses the sentences at the centre, in order, without repeats", () => {
    const { summary } = digestOf(blocks, "Garlic");
    expect(summary).toMatch(/^Garlic is planted in autumn/);
    expect(summary).toContain("harvested in July");
    expect(summary).not.toContain("Plant garlic cloves");
  });

  it("lists the headings below the title", () => {
    expect(digestText("Garlic", digestOf(blocks, "Garlic"))).toMatch(
      /^Garlic\n\nGarlic is .*\n\nContents:\n {2}- Planting\n {2}- Harvest$/s,
    );
  });

  it("keeps a long outline to its upper levels", () => {
    const many = Array.from({ length: 500 }, (_, i): Block => ({
      type: "heading",
      level: i % 50 === 0 ? 1 : 3,
      text: `h ${i}`,
    }));
    expect(digestOf(many, "t").outline.split("\n")).toHaveLength(10);
  });

  it("says something of a text without sentences, and nothing of none", () => {
    expect(digestOf([paragraph("just a few words here")], "").summary).toBe("just a few words here");
    expect(digestOf([{ type: "code", text: "x = 1" }], "t")).toEqual({
      summary: "",
      outline: "",
    });
  });

  it("takes a long document in bounded time", () => {
    const long = Array.from({ length: 20_000 }, (_, i) =>
      paragraph(`Sentence number ${i} tells of thing ${i % 77} and of garlic.`),
    );
    expect(digestOf(long, "t").summary.length).toBeLessThanOrEqual(1_300);
  });
});
