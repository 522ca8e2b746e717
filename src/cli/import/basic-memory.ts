/** What a note of basic-memory says line by line: observations, `- [decision] text #tag`, and relations, `- type [[note]]`. */
import { type ImportItem, memory } from "./import-item.ts";

const OBSERVATION = /^\s*[-*+] +\[([^[\]()]+)\]\s+(\S.*)$/;
/** A type of several words is in quotes; what follows a link makes the line a sentence, unless it is in brackets. */
const RELATION =
  /^\s*[-*+] +(?:"([^"[\]]+)"|'([^'[\]]+)'|([^\s"'[\]]+)) *\[\[([^[\]|]+)(?:\|[^[\]]*)?\]\] *(?:\(.*\))?$/;
/** Of tasks. */
const MARK = /^(?:[^\p{L}\p{N}]?|[xX])$/u;
/** Of transcripts, with a colon. */
const TIME = /^[\d:.,\s-]+$/;
const isCategory = (name: string): boolean => !MARK.test(name) && !(name.includes(":") && TIME.test(name));
const FENCE = /^\s*(?:```|~~~)/;
const TAG = /(?<=\s)#([^\s#]+)/g;

interface Note {
  readonly where: string;
  readonly title: string;
  readonly date: unknown;
}

/** The note's text without its observations; each of them as a memory; and its relations as facts. */
export function readLines(body: string, { where, title, date }: Note) {
  const rest: string[] = [];
  const observations: ImportItem[] = [];
  const relations: ImportItem[] = [];
  let isCode = false;
  for (const line of body.split("\n")) {
    if (FENCE.test(line)) isCode = !isCode;
    const [, category = "", text = ""] = (isCode ? null : OBSERVATION.exec(line.trimEnd())) ?? [];
    if (text === "" || !isCategory(category.trim())) rest.push(line);
    else {
      const tags = [category.trim(), ...Array.from(` ${text}`.matchAll(TAG), ([, tag = ""]) => tag)];
      const metadata = { source: "basic-memory", title, path: where, category: category.trim() };
      const content = text.includes(title) ? text : `${title}: ${text}`;
      const place = `${where}, observation ${observations.length + 1}`;
      observations.push(memory(place, { content, tags: [...new Set(tags)], occurred_at: date, metadata }));
    }
    const [, ...found] = (isCode ? null : RELATION.exec(line.trimEnd())) ?? [];
    const [predicate, object] = [found[0] ?? found[1] ?? found[2], found[3]];
    if (predicate === undefined || object === undefined) continue;
    const fact = { subject: title, predicate, object: object.trim(), valid_from: date, cardinality: "many" };
    const metadata = { source: "basic-memory", path: where };
    relations.push({
      kind: "fact",
      where: `${where}, relation ${relations.length + 1}`,
      body: { ...fact, metadata },
    });
  }
  return { rest: rest.join("\n"), observations, relations };
}
