import type { Block, ExtractionLimits } from "../../core/documents/extraction.ts";
import { cleanField, cleanText, type ReadDocument } from "./clean-text.ts";
import { childrenOf, elementsOf, type HtmlElement, parseXml, textOf } from "./html-tree.ts";
import { officeProperties, relationshipsOf } from "./office-parts.ts";
import { openParts, type ZipParts } from "./zip.ts";

/** Placeholders that repeat on every slide. */
const FURNITURE = new Set(["sldNum", "dt", "ftr", "hdr", "sldImg"]);
const TITLES = new Set(["title", "ctrTitle"]);
const MAX_CHART_ROWS = 1_000;
/** The title that PowerPoint gives to every file. */
const USUAL_TITLE = /^PowerPoint\b/;

/**
 * A presentation: of each slide its title as a heading, its texts, lists and tables in the order of the file, and its notes. The
 * page of a block is the number of its slide. Of charts the titles and values are read as a table; pictures, diagrams and comments are left out.
 * @throws {ServiceError} TOO_LARGE, UNPROCESSABLE
 */
export async function readSlides(bytes: Uint8Array, limits: ExtractionLimits): Promise<ReadDocument> {
  const parts = await openParts(bytes, limits);
  const names = await slideNames(parts);
  const blocks: Block[] = [];
  for (const [i, name] of names.entries()) {
    const page = i + 1;
    const own = blocksOf(parseXml(await parts.text(name)));
    const links = await relationshipsOf(parts, name);
    for (const { type, target } of links)
      if (type === "chart") own.push(...chartBlocks(parseXml(await parts.text(target))));
    const notesPart = links.find(({ type }) => type === "notesSlide");
    const notes = notesPart === undefined ? [] : blocksOf(parseXml(await parts.text(notesPart.target)));
    const said = notes.map(({ text }) => text).join("\n");
    if (said !== "") own.push({ type: "paragraph", text: `Notes: ${said}` });
    blocks.push(...own.map((block) => ({ ...block, page })));
  }
  const { title, ...properties } = officeProperties(parseXml(await parts.text("docProps/core.xml")));
  return {
    blocks,
    ...properties,
    title: title !== undefined && !USUAL_TITLE.test(title) ? title : cleanField(blocks[0]?.text),
    pages: names.length,
  };
}

/** The slides' parts in the order in which they are shown. */
async function slideNames(parts: ZipParts): Promise<string[]> {
  const name = "ppt/presentation.xml";
  const targets = new Map((await relationshipsOf(parts, name)).map(({ id, target }) => [id, target]));
  return elementsOf(parseXml(await parts.text(name)), "p:sldid").flatMap(
    ({ attributes }) => targets.get(attributes["r:id"] ?? "") ?? [],
  );
}

function blocksOf(root: HtmlElement): Block[] {
  return root.children.flatMap((child) => {
    if (typeof child === "string") return [];
    if (child.tag === "p:sp") return shapeBlocks(child);
    return child.tag === "a:tbl" ? tableBlocks(child) : blocksOf(child);
  });
}

function shapeBlocks(shape: HtmlElement): Block[] {
  const placeholder = elementsOf(shape, "p:ph")[0];
  const type = placeholder?.attributes["type"] ?? "";
  if (FURNITURE.has(type)) return [];
  const paragraphs = elementsOf(shape, "a:p");
  const texts = paragraphs.map((paragraph) => ({ paragraph, text: paragraphText(paragraph) }));
  if (TITLES.has(type)) {
    const text = texts
      .map((each) => each.text.replaceAll("\n", " "))
      .join(" ")
      .trim();
    return text === "" ? [] : [{ type: "heading", text, level: 1 }];
  }
  const isList = placeholder !== undefined && (type === "" || type === "body") && paragraphs.length > 1;
  return texts.flatMap(({ paragraph, text }): Block[] => {
    if (text === "") return [];
    if (!isList) return [{ type: "paragraph", text }];
    const [properties] = childrenOf(paragraph, "a:ppr");
    const level = Number(properties?.attributes["lvl"] ?? 0) + 1;
    return [{ type: "list-item", text: `- ${text}`, level: Number.isInteger(level) ? level : 1 }];
  });
}

function tableBlocks(table: HtmlElement): Block[] {
  const hasHeader = elementsOf(table, "a:tblpr")[0]?.attributes["firstRow"] === "1";
  return elementsOf(table, "a:tr")
    .map((row) =>
      elementsOf(row, "a:tc")
        .map((cell) => paragraphText(cell).replaceAll("\n", " "))
        .join(" | ")
        .trim(),
    )
    .filter((text) => /[^\s|]/.test(text))
    .map((text, i): Block => ({ type: "table-row", text, ...(i === 0 && hasHeader && { isHeader: true }) }));
}

/** A chart's titles, and a row for each category with the value of each series. */
function chartBlocks(chart: HtmlElement): Block[] {
  const titles = elementsOf(chart, "c:title").map(paragraphText);
  const pointsOf = (series: HtmlElement, name: string): Map<string, string> => {
    const list = elementsOf(series, name)[0];
    const points = list === undefined ? [] : elementsOf(list, "c:pt");
    return new Map(points.map((point) => [point.attributes["idx"] ?? "", cleanText(textOf(point)).trim()]));
  };
  const series = elementsOf(chart, "c:ser").map((one) => ({
    name: [...pointsOf(one, "c:tx").values()].join(" "),
    categories: new Map([...pointsOf(one, "c:xval"), ...pointsOf(one, "c:cat")]),
    values: new Map([...pointsOf(one, "c:yval"), ...pointsOf(one, "c:val")]),
  }));
  const places = [...new Set(series.flatMap(({ values }) => [...values.keys()]))].slice(0, MAX_CHART_ROWS);
  const rows = places.map((place) => [
    series.map(({ categories }) => categories.get(place)).find((category) => category !== undefined) ?? "",
    ...series.map(({ values }) => values.get(place) ?? ""),
  ]);
  const header = ["", ...series.map(({ name }) => name)];
  const table = rows.length === 0 ? [] : [header, ...rows].map((cells) => cells.join(" | ").trim());
  return [
    ...titles.filter((text) => text !== "").map((text): Block => ({ type: "paragraph", text })),
    ...table
      .filter((text) => /[^\s|]/.test(text))
      .map((text, i): Block => ({ type: "table-row", text, ...(i === 0 && { isHeader: true }) })),
  ];
}

function paragraphText(element: HtmlElement): string {
  const texts = elementsOf(element).map((part) =>
    part.tag === "a:t" ? textOf(part) : part.tag === "a:br" ? "\n" : "",
  );
  return cleanText(texts.join("")).trim();
}
