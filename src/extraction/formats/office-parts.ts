/** The parts of office packages: properties, and relationships of those of Office Open XML. */
import { posix } from "node:path";
import { cleanDate, cleanField, cleanLanguage, type ReadDocument } from "./clean-text.ts";
import { elementsOf, type HtmlElement, parseXml, textOf } from "./html-tree.ts";
import type { ZipParts } from "./zip.ts";

/** The times in the files that python-docx and python-pptx make every other from. */
const TIMES_OF_TEMPLATES: ReadonlySet<string> = new Set([
  "2013-12-23T23:15:00Z",
  "2013-01-27T09:14:16Z",
  "2013-01-27T09:15:58Z",
]);

/**
 * The properties of a document in `docProps/core.xml`, or in the same names in OpenDocument and EPUB; it is of the time when it
 * was last saved.
 */
export function officeProperties(
  root: HtmlElement,
): Pick<ReadDocument, "title" | "author" | "date" | "occurredAt" | "language"> {
  const properties = new Map<string, string>();
  for (const element of elementsOf(root))
    if (!properties.has(element.tag)) properties.set(element.tag, textOf(element));
  const timeOf = (name: string, other: string) => {
    const time = properties.get(name) ?? properties.get(other) ?? "";
    return TIMES_OF_TEMPLATES.has(time) ? undefined : cleanDate(time);
  };
  const date = timeOf("dcterms:created", "meta:creation-date");
  const saved = timeOf("dcterms:modified", "dc:date");
  return {
    title: cleanField(properties.get("dc:title")),
    author: cleanField(properties.get("meta:initial-creator") ?? properties.get("dc:creator")),
    date: date ?? saved,
    occurredAt: saved ?? date,
    language: cleanLanguage(properties.get("dc:language")),
  };
}

export interface Relationship {
  readonly id: string;
  /** The last word of its type, such as "slide" or "notesSlide". */
  readonly type: string;
  /** Name of a part of the same package. */
  readonly target: string;
}

/** The relationships of a part to other parts, in their order; addresses outside are left out. */
export async function relationshipsOf(parts: ZipParts, name: string): Promise<Relationship[]> {
  const folder = posix.dirname(name);
  const xml = await parts.text(`${folder}/_rels/${posix.basename(name)}.rels`);
  return elementsOf(parseXml(xml)).flatMap(({ tag, attributes }) => {
    const { Id: id, Target: target, Type: type = "", TargetMode } = attributes;
    if (tag !== "relationship" || id === undefined || target === undefined || TargetMode === "External")
      return [];
    const path = target.startsWith("/") ? target.slice(1) : posix.join(folder, target);
    return [{ id, type: posix.basename(type), target: path }];
  });
}
