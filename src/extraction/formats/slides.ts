import type { Block, ExtractionLimits } from "../../core/documents/extraction.ts";
import { cleanField, cleanText, type ReadDocument } from "./clean-text.ts";
import { elementsOf, findElement, type HtmlElement, parseXml, textOf } from "./html-tree.ts";
import { officeProperties, relationshipsOf } from "./office-parts.ts";
import { openParts, type ZipParts } from "./zip.ts";

/** Placeholders that repeat on every slide. */
const FURNITURE = new Set(["sldNum", "dt", "ftr", "hdr", "sldImg"]);
const TITLES = new Set(["title", "ctrTitle"]);
/** The title that PowerPoint gives to every file. */
const USUAL_TITLE = /^PowerPoint\b/;

/**
 * A presentation: of each slide its title as a heading, its texts, lists and tables in the order of the file, and its notes. The
 * page of a block is the number of its slide. Pictures, diagrams, charts and comments are left out.
 * @throws {ServiceError} TOO_LARGE, UNPROCESSABLE
 */
export async function readSlides(bytes: Uint8Array, limits: ExtractionLimits): Promise<ReadDocument> {
  const parts = await openParts(bytes, limits);
  const names = await slideNames(parts);
  const blocks: Block[] = [];
  for (const [i, name] of names.entries()) {
    const page = i + 1;
    const own = blocksOf(parseXml(await parts.text(name)));
    const notesPart = (await relationshipsOf(parts, name)).find(({ type }) => type === "notesSlide");
    const notes = notesPart === undefined ? [] : blocksOf(parseXml(await parts.text(notesPart.target)));
    const said = notes.map(({ text }) => text).join("\n");
    if (said !== "") own.push({ type: "paragraph", text: `Notes: ${said}` });
    blocks.push(...own.map((block) => ({ ...block, page })));
  }
  const { title, ...properties } = officeProperties(await parts.text("docProps/core.xml"));
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
  return Array.from(elementsOf(parseXml(await parts.text(name))))
    .filter(({ tag }) => tag === "p:sldid")
    .flatMap(({ attributes }) => targets.get(attributes["r:id"] ?? "") ?? []);
}

function blocksOf(root: HtmlElement): Block[] {
  return root.children.flatMap((child) => {
    if (typeof child === "string") return [];
    if (child.tag === "p:sp") return shapeBlocks(child);
    return child.tag === "a:tbl" ? tableBlocks(child) : blocksOf(child);
  });
}

function shapeBlocks(shape: HtmlElement): Block[] {
  const placeholder = findElement(shape, ({ tag }) => tag === "p:ph");
  const type = placeholder?.attributes["type"] ?? "";
  if (FURNITURE.has(type)) return [];
  const paragraphs = Array.from(elementsOf(shape)).filter(({ tag }) => tag === "a:p");
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
    const properties = paragraph.children.find((child) => typeof child !== "string" && child.tag === "a:ppr");
    const level = Number((properties as HtmlElement | undefined)?.attributes["lvl"] ?? 0) + 1;
    return [{ type: "list-item", text: `- ${text}`, level: Number.isInteger(level) ? level : 1 }];
  });
}

function tableBlocks(table: HtmlElement): Block[] {
  const all = Array.from(elementsOf(table));
  const hasHeader = all.some(({ tag, attributes }) => tag === "a:tblpr" && attributes["firstRow"] === "1");
  return all
    .filter(({ tag }) => tag === "a:tr")
    .map((row) =>
      Array.from(elementsOf(row))
        .filter(({ tag }) => tag === "a:tc")
        .map((cell) => paragraphText(cell).replaceAll("\n", " "))
        .join(" | ")
        .trim(),
    )
    .filter((text) => /[^\s|]/.test(text))
    .map((text, i): Block => ({ type: "table-row", text, ...(i === 0 && hasHeader && { isHeader: true }) }));
}

function paragraphText(element: HtmlElement): string {
  const texts = Array.from(elementsOf(element), (part) =>
    part.tag === "a:t" ? textOf(part) : part.tag === "a:br" ? "\n" : "",
  );
  return cleanText(texts.join("")).trim();
}
