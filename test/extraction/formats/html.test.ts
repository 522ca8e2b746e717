import { describe, expect, it } from "vitest";
import type { Block } from "../../../src/core/documents/extraction.ts";
import { readHtml } from "../../../src/extraction/formats/html.ts";
import {
  ARTICLE_PAGE,
  MANUAL_PAGE,
  nestedPage,
  SCRIPTED_PAGE,
} from "../../fixtures/documents/html-documents.ts";
import { mainTextOf, PAGE_TEMPLATES } from "../../fixtures/documents/page-templates.ts";
import { WILD_PAGES } from "../../fixtures/documents/wild-pages.ts";

/** F1 of the words, each as often as it stands there, without addresses of links. */
function likeness(expected: string, blocks: readonly Block[]): number {
  const wordsOf = (text: string) => text.match(/[\p{L}\p{N}]+/gu) ?? [];
  const [words, found] = [
    wordsOf(expected),
    wordsOf(blocks.map(({ text }) => text.replace(/\]\(\S+\)/g, "]")).join("\n")),
  ];
  const left = new Map<string, number>();
  for (const word of words) left.set(word, (left.get(word) ?? 0) + 1);
  const hits = found.filter((word) => {
    const count = left.get(word) ?? 0;
    left.set(word, count - 1);
    return count > 0;
  }).length;
  return (2 * hits) / (words.length + found.length);
}

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

  it.each(WILD_PAGES)("finds the main text of %s, and little else", (_, html) => {
    const main = /<div class="main-column">(.*)<div class="rail">/s.exec(html)?.[1] ?? "";
    const { blocks, method } = readHtml(html, "https://site.example/page");
    expect(method).toBe("readability");
    expect(likeness(main.replace(/<[^>]+>/g, " "), blocks)).toBeGreaterThan(0.97);
  });

  it("finds the main text of pages after the templates of common software", () => {
    const found = PAGE_TEMPLATES.map(([name, html]) => {
      const { blocks } = readHtml(html, "https://site.example/page");
      return { name, likeness: likeness(mainTextOf(html), blocks) };
    });
    expect(found.filter((page) => page.likeness < 0.91)).toEqual([]);
    expect(found.reduce((sum, page) => sum + page.likeness, 0) / found.length).toBeGreaterThan(0.97);
  });

  it("keeps the lists of a page that is lists of links within the site", () => {
    const lakes = (county: string) =>
      Array.from(
        { length: 12 },
        (_, i) => `<li><a href="/wiki/${county}_${i}">Lake ${i} of ${county}</a></li>`,
      );
    const listOf = (county: string) => `<h2>${county}</h2><ul>${lakes(county).join("")}</ul>`;
    const { blocks } = readHtml(
      `<body><nav><a href="/">Home</a></nav><h1>Lakes</h1>${["North", "South", "West"].map(listOf).join("")}</body>`,
      "https://site.example/lakes",
    );
    expect(blocks.filter(({ type }) => type === "list-item")).toHaveLength(36);
    expect(blocks.map(({ text }) => text)).not.toContain("Home");
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

  const rows = (table: string) =>
    readHtml(`<body><p>Before.</p><table>${table}</table>`)
      .blocks.slice(1)
      .map(({ type, text, isHeader }) =>
        isHeader === true ? `# ${text}` : type === "table-row" ? text : `(${type}) ${text}`,
      );

  it("repeats a cell that spans rows or columns in each of them", () => {
    expect(
      rows(
        "<tr><th rowspan=2>Year<th colspan=2>Rain</tr><tr><th>min<th>max</tr>" +
          "<tr><td>2025<td>3<td>9</tr><tr><td rowspan=2>2026<td colspan=2>none</tr><tr><td>4<td>5</tr>" +
          "<tr><td colspan=3>Measured at the quay.</tr>",
      ),
    ).toEqual([
      "# Year | Rain | Rain",
      "# Year | min | max",
      "2025 | 3 | 9",
      "2026 | none | none",
      "2026 | 4 | 5",
      "Measured at the quay.",
    ]);
  });

  it("keeps the rows of a table with a table or a list in one cell, and takes apart what only lays out a page", () => {
    const plain = "<tr><td>Tern<td>6 m<td>white</tr><tr><td>Wren<td>4 m<td>red</tr>";
    expect(
      rows(
        `<tr><td>Heron<td>9 m<td><table><tr><td>sails<td>2</tr><tr><td>oars<td>4</tr></table></tr>${plain}`,
      ),
    ).toEqual(["Heron | 9 m | sails, 2; oars, 4", "Tern | 6 m | white", "Wren | 4 m | red"]);
    const layout = `<tr><td><h2>News</h2><p>The ferry is late.</p><td><h2>Links</h2><p>None.</p></tr>`;
    expect(rows(layout)).toEqual([
      "(heading) News",
      "(paragraph) The ferry is late.",
      "(heading) Links",
      "(paragraph) None.",
    ]);
  });

  it("takes a first row in bold for a header, unless all are", () => {
    const row = (a: string, b: string) => `<tr><td>${a}<td>${b}</tr>`;
    expect(rows(row("<b>Boat</b>", "<strong>Built</strong>") + row("Heron", "1911"))).toEqual([
      "# Boat | Built",
      "Heron | 1911",
    ]);
    expect(rows(row("<b>Boat</b>", "<b>Built</b>") + row("<b>Heron</b>", "<b>1911</b>"))[0]).toBe(
      "Boat | Built",
    );
  });

  it("keeps the addresses of links that lead away from the site, and not in headings", () => {
    const page =
      '<nav><a href="https://else.example/">Menu</a></nav><h1><a href="https://else.example/x">Ferry</a></h1>' +
      '<p>See <a href="https://else.example/plan">the plan</a>, <a href="/fares">fares</a>, ' +
      '<a href="https://www.port.example/map">map</a> or <a href="mailto:ann@port.example">Ann</a>; not <a href="javascript:go()">this</a>.</p>';
    const texts = (base?: string) => readHtml(`<body>${page}`, base).blocks.map(({ text }) => text);
    expect(texts("https://port.example/ferry")).toEqual([
      "Ferry",
      "See [the plan](https://else.example/plan), fares, map or [Ann](mailto:ann@port.example); not this.",
    ]);
    expect(texts()[1]).toContain("[map](https://www.port.example/map)");
  });
});
