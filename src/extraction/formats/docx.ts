import mammoth from "mammoth";
import { unprocessable } from "../../core/errors.ts";
import type { Block, ExtractionLimits } from "../../core/documents/extraction.ts";
import { cleanLanguage, cleanLine, type ReadDocument } from "./clean-text.ts";
import { blocksOfHtml } from "./html-blocks.ts";
import { childrenOf, elementsOf, type HtmlElement, parseHtml, parseXml, textOf } from "./html-tree.ts";
import { officeProperties } from "./office-parts.ts";
import { openParts } from "./zip.ts";

/** Further styles than mammoth's own, which cover headings, lists and tables. */
const STYLES = [
  "p[style-name='Title'] => h1:fresh",
  "p[style-name='Subtitle'] => p:fresh",
  "p[style-name='Quote'] => blockquote:fresh",
  "p[style-name='Intense Quote'] => blockquote:fresh",
  "p[style-name='HTML Preformatted'] => pre:separator('\n')",
  "p[style-name='Code'] => pre:separator('\n')",
  "p[style-name='Source Code'] => pre:separator('\n')",
];

/**
 * The text of a Word document: headings, paragraphs, lists, tables, links; footnotes and endnotes stand at the end, their
 * numbers in the text; equations in one line, comments after them. Deleted text of tracked changes, page headers and pictures are left out.
 *
 * Its parts are inflated here, within the limit and without pictures: mammoth itself has no limit.
 * @throws {ServiceError} TOO_LARGE, UNPROCESSABLE
 */
export async function readDocx(bytes: Uint8Array, limits: ExtractionLimits): Promise<ReadDocument> {
  const parts = await inflateParts(bytes, limits);
  const properties = officeProperties(parseXml(parts.get("docProps/core.xml") ?? ""));
  const styles = parts.get("word/styles.xml") ?? "";
  const styled = /<w:lang\b[^<>]*\bw:val="([\w-]{2,35})"/.exec(styles)?.[1];
  const { root } = parseHtml(await convert(parts));
  return {
    blocks: [
      ...blocksOfHtml(root, { keepsLink: () => true, skips: isWayBack }),
      ...commentsIn(parts.get("word/comments.xml") ?? ""),
    ],
    ...properties,
    language: properties.language ?? cleanLanguage(styled),
  };
}

async function inflateParts(bytes: Uint8Array, limits: ExtractionLimits): Promise<Map<string, string>> {
  const zip = await openParts(bytes, limits);
  const parts = new Map<string, string>();
  for (const name of zip.names) {
    if (!/\.(?:xml|rels)$/i.test(name)) continue;
    const part = await zip.text(name);
    parts.set(name, /^word\/\w+\.xml$/.test(name) ? withTextBoxes(withEquations(part)) : part);
  }
  return parts;
}

async function convert(parts: ReadonlyMap<string, string>): Promise<string> {
  // Mammoth's own form of a zip file, which its types leave out.
  const file = {
    exists: (name: string) => parts.has(name),
    read: async (name: string) => parts.get(name) ?? "",
  };
  try {
    const { value } = await mammoth.convertToHtml({ file } as unknown as { buffer: Buffer }, {
      styleMap: STYLES,
      includeEmbeddedStyleMap: false,
      externalFileAccess: false,
      convertImage: mammoth.images.imgElement(async () => ({ src: "" })),
    });
    return value;
  } catch (cause) {
    throw unprocessable("The Word document is damaged. Open it in Word or LibreOffice and save it again.", {
      cause,
    });
  }
}

/** The comments of reviewers, each with its author. */
function commentsIn(xml: string): Block[] {
  return elementsOf(parseXml(xml), "w:comment").flatMap((comment) => {
    const texts = elementsOf(comment, "w:p").map((paragraph) =>
      elementsOf(paragraph, "w:t").map(textOf).join(""),
    );
    const text = cleanLine(texts.join(" "));
    const author = cleanLine(comment.attributes["w:author"] ?? "");
    return text === ""
      ? []
      : [{ type: "paragraph", text: `Comment${author && ` by ${author}`}: ${text}` } as const];
  });
}

/** The link from a note back to its place in the text. */
const isWayBack = ({ tag, attributes }: HtmlElement): boolean =>
  tag === "a" && /^#(?:foot|end)note-ref-/.test(attributes["href"] ?? "");

const [BOX, BOX_END] = ["<w:txbxContent>", "</w:txbxContent>"];

/** A part in which each text box has the form of before 2010, the only one that mammoth reads; LibreOffice leaves that empty. */
function withTextBoxes(part: string): string {
  const [before = "", ...pieces] = part.split("<mc:AlternateContent>");
  const mended = pieces.map((piece) => {
    const [choices = "", ...rest] = piece.split("</mc:AlternateContent>");
    const [choice = "", fallback = ""] = choices.split("<mc:Fallback>");
    const boxes = fallback.includes(BOX) ? [] : choice.split(BOX).slice(1);
    if (rest.length === 0 || boxes.length === 0) return `<mc:AlternateContent>${piece}`;
    const shapes = boxes.map(
      (box) => `<v:shape><v:textbox>${BOX}${box.split(BOX_END, 1)[0]}${BOX_END}</v:textbox></v:shape>`,
    );
    return `<w:pict xmlns:v="urn:schemas-microsoft-com:vml">${shapes.join("")}</w:pict>${rest.join("</mc:AlternateContent>")}`;
  });
  return before + mended.join("");
}

const OPEN = "<m:oMath";
const CLOSE = "</m:oMath>";
/** Around equations in a paragraph of their own; mammoth drops it with its content. */
const PARAGRAPH_TAGS = /<\/?m:oMathPara(?:\s[^<>]*)?>|<m:oMathParaPr(?:\s[^<>]*)?\/>/g;
const PARAGRAPH_PROPERTIES =
  /<m:oMathParaPr(?:\s[^<>]*)?>(?:<(?!\/?m:oMathParaPr\b)[^<>]*>)*<\/m:oMathParaPr>/g;

/** A part of a Word document in which equations (Office Math) are runs of plain text, since mammoth knows none. */
function withEquations(part: string): string {
  const xml = part.replace(PARAGRAPH_PROPERTIES, "").replace(PARAGRAPH_TAGS, "");
  const pieces: string[] = [];
  let done = 0;
  for (let start = xml.indexOf(OPEN); start >= 0; start = xml.indexOf(OPEN, done)) {
    const end = xml.indexOf(CLOSE, start);
    if (end < 0) break;
    const after = end + CLOSE.length;
    pieces.push(xml.slice(done, start), runOf(xml.slice(start, after)));
    done = after;
  }
  pieces.push(xml.slice(done));
  return pieces.join("");
}

function runOf(equation: string): string {
  const text = lineOf(parseXml(equation)).trim();
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return escaped === "" ? "" : `<w:r><w:t xml:space="preserve">${escaped}</w:t></w:r>`;
}

/** In one line, such as `(a+b)/2`, `x^2`, `√(y)`. */
function lineOf(element: HtmlElement): string {
  const part = (tag: string) => childrenOf(element, tag).slice(0, 1).map(lineOf).join("");
  switch (element.tag) {
    case "m:t":
      return textOf(element);
    case "m:f":
      return `${grouped(part("m:num"))}/${grouped(part("m:den"))}`;
    case "m:ssup":
      return `${part("m:e")}^${grouped(part("m:sup"))}`;
    case "m:ssub":
      return `${part("m:e")}_${grouped(part("m:sub"))}`;
    case "m:ssubsup":
      return `${part("m:e")}_${grouped(part("m:sub"))}^${grouped(part("m:sup"))}`;
    case "m:rad":
      return `${part("m:deg")}√(${part("m:e")})`;
    case "m:d":
      return `(${childrenOf(element, "m:e").map(lineOf).join(", ")})`;
    case "m:nary": {
      const bound = (mark: string, text: string) => (text === "" ? "" : mark + grouped(text));
      return `${signOf(element)}${bound("_", part("m:sub"))}${bound("^", part("m:sup"))} ${part("m:e")}`;
    }
    case "m:mr":
      return `${childrenOf(element, "m:e").map(lineOf).join(", ")}; `;
    default:
      return element.children.map((child) => (typeof child === "string" ? "" : lineOf(child))).join("");
  }
}

/** In brackets, unless it is one word or number. */
const grouped = (text: string) => (/^[\p{L}\p{N}]*$/u.test(text) ? text : `(${text})`);

/** The sign of a sum, product or integral; an integral by default. */
const signOf = (element: HtmlElement): string => elementsOf(element, "m:chr")[0]?.attributes["m:val"] ?? "∫";
