import mammoth from "mammoth";
import { ServiceError } from "../core/errors.ts";
import type { ExtractionLimits } from "../core/documents/extraction.ts";
import { cleanDate, cleanField, cleanLanguage, type ReadDocument } from "./clean-text.ts";
import { blocksOfHtml } from "./html-blocks.ts";
import { elementsOf, type HtmlElement, parseHtml, textOf } from "./html-tree.ts";
import { withEquations } from "./docx-equations.ts";
import { inflateEntry, readZipDirectory } from "./zip.ts";

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
 * numbers in the text; equations in one line. Deleted text of tracked changes, comments, page headers and pictures are left out.
 *
 * Its parts are inflated here, within the limit and without pictures: mammoth itself has no limit.
 *
 * @throws {ServiceError} TOO_LARGE, UNPROCESSABLE
 */
export async function readDocx(bytes: Uint8Array, limits: ExtractionLimits): Promise<ReadDocument> {
  const parts = inflateParts(bytes, limits.maxInflatedBytes);
  const properties = propertiesOf(parts.get("docProps/core.xml"));
  const styles = textFrom(parts.get("word/styles.xml"));
  const language =
    properties.get("dc:language") ?? /<w:lang\b[^<>]*\bw:val="([\w-]{2,35})"/.exec(styles)?.[1];

  const { root } = parseHtml(await convert(parts));
  return {
    blocks: blocksOfHtml(root, { keepsLink: () => true, skips: isWayBack }),
    title: cleanField(properties.get("dc:title")),
    author: cleanField(properties.get("dc:creator")),
    date: cleanDate(properties.get("dcterms:created")) ?? cleanDate(properties.get("dcterms:modified")),
    language: cleanLanguage(language),
  };
}

function inflateParts(bytes: Uint8Array, maxInflatedBytes: number): Map<string, Uint8Array> {
  const parts = new Map<string, Uint8Array>();
  const entries = readZipDirectory(bytes).filter((entry) => /\.(?:xml|rels)$/i.test(entry.name));
  // Checked before anything is inflated: no entry gets more than the directory declares.
  const total = entries.reduce((sum, entry) => sum + entry.inflatedBytes, 0);
  if (total > maxInflatedBytes) {
    throw new ServiceError(
      "TOO_LARGE",
      `The document grows to more than ${maxInflatedBytes} bytes when it is unpacked. Send it in parts.`,
    );
  }
  for (const entry of entries) {
    if (entry.isEncrypted) {
      throw new ServiceError(
        "UNPROCESSABLE",
        "The document is encrypted. Save it without a password and send that.",
      );
    }
    const part = inflateEntry(bytes, entry);
    parts.set(entry.name, /^word\/\w+\.xml$/.test(entry.name) ? withEquations(part) : part);
  }
  return parts;
}

async function convert(parts: ReadonlyMap<string, Uint8Array>): Promise<string> {
  // Mammoth's own form of a zip file, which its types leave out.
  const file = {
    exists: (name: string) => parts.has(name),
    read: async (name: string, encoding?: string) =>
      encoding === undefined ? parts.get(name) : textFrom(parts.get(name)),
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
    throw new ServiceError(
      "UNPROCESSABLE",
      "The Word document is damaged. Open it in Word or LibreOffice and save it again.",
      { cause },
    );
  }
}

/** The link from a note back to its place in the text. */
function isWayBack({ tag, attributes }: HtmlElement): boolean {
  return tag === "a" && /^#(?:foot|end)note-ref-/.test(attributes["href"] ?? "");
}

function propertiesOf(part: Uint8Array | undefined): Map<string, string> {
  const properties = new Map<string, string>();
  for (const element of elementsOf(parseHtml(textFrom(part), { isXml: true }).root))
    properties.set(element.tag, textOf(element));
  return properties;
}

const textFrom = (part: Uint8Array | undefined) => new TextDecoder().decode(part ?? new Uint8Array());
