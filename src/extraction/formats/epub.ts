import { posix } from "node:path";
import { unprocessable } from "../../core/errors.ts";
import type { Block, ExtractionLimits } from "../../core/documents/extraction.ts";
import type { ReadDocument } from "./clean-text.ts";
import { blocksOfHtml } from "./html-blocks.ts";
import { elementsOf, type HtmlElement, parseHtml, parseXml } from "./html-tree.ts";
import { officeProperties } from "./office-parts.ts";
import { openParts, type ZipParts } from "./zip.ts";
import { decodedAddress } from "../../files/text-decoding.ts";

/**
 * A book in EPUB 2 or 3: its chapters in reading order, without the table of contents. Pictures are left out.
 * @throws {ServiceError} TOO_LARGE; UNPROCESSABLE if it is protected against copying, or damaged.
 */
export async function readEpub(bytes: Uint8Array, limits: ExtractionLimits): Promise<ReadDocument> {
  const parts = await openParts(bytes, limits);
  const container = parseXml(await parts.text("META-INF/container.xml"));
  const rootFile = elementsOf(container, "rootfile")[0]?.attributes["full-path"] ?? "";
  const book = parseXml(await parts.text(rootFile));
  const elements = elementsOf(book);
  const chapters = chapterNames(elements, rootFile);
  await assertOpen(parts, chapters);
  const blocks: Block[] = [];
  for (const name of chapters) {
    const { root } = parseHtml(await parts.text(name), { isXml: /\.xhtml$/i.test(name) });
    const body = elementsOf(root, "body")[0] ?? root;
    // A chapter of a million blocks would pass the limit of arguments.
    for (const block of blocksOfHtml(body)) blocks.push(block);
  }
  // A book tells of no time at which it happened.
  const { occurredAt: _, ...properties } = officeProperties(book);
  return { blocks, ...properties };
}

function chapterNames(elements: readonly HtmlElement[], rootFile: string): string[] {
  const folder = posix.dirname(rootFile);
  const items = new Map(
    elements
      .filter(({ tag }) => tag === "item" || tag === "opf:item")
      .map(({ attributes }) => [attributes["id"], attributes]),
  );
  return elements
    .filter(({ tag }) => tag === "itemref" || tag === "opf:itemref")
    .flatMap(({ attributes: { idref = "" } }) => {
      const { href, properties = "" } = items.get(idref) ?? {};
      if (href === undefined || /(?:^|\s)nav(?:\s|$)/.test(properties)) return [];
      return [posix.join(folder, decodedAddress(href.split("#", 1)[0] ?? ""))];
    });
}

async function assertOpen(parts: ZipParts, chapters: readonly string[]): Promise<void> {
  const locked = new Set(
    elementsOf(parseXml(await parts.text("META-INF/encryption.xml"))).map(({ attributes }) =>
      decodedAddress(attributes["URI"] ?? ""),
    ),
  );
  if (chapters.some((name) => locked.has(name)))
    throw unprocessable(
      "The book is protected against copying, and its text is encrypted. Send a copy without protection.",
    );
}
