import { lstat, readdir, readFile } from "node:fs/promises";
import { basename, extname, join, relative, sep } from "node:path";
import { parse } from "yaml";
import { CliFailure } from "../output/cli-failure.ts";
import { type ImportItem, objectOf, type Progress, textOf, faulty, skipped } from "./import-item.ts";
import { tagsOf, timeOf } from "./read-record.ts";
import { MAX_FRONT_MATTER_CHARS, MAX_NOTE_BYTES, MAX_NOTES } from "./text-lines.ts";

const EXTENSIONS = new Set([".md", ".markdown"]);
const DATE_NAMES = ["occurred_at", "date", "created", "created_at"];
const READ_ELSEWHERE = new Set([...DATE_NAMES, "tags", "tag", "title"]);

/** The Markdown files of a folder, or one file: one memory a note. Links and hidden folders are passed over. */
export async function* readNotes(root: string, progress: Progress): AsyncGenerator<ImportItem> {
  const isFolder = (await lstat(root)).isDirectory();
  const paths = isFolder ? await findNotes(root) : [root];
  progress.total = paths.length;
  for (const path of paths) {
    const where = isFolder ? relative(root, path).split(sep).join("/") : basename(path);
    yield await readNote(path, where);
    progress.done += 1;
  }
}

/** Sorted, so that every run finds them in one order. */
async function findNotes(root: string): Promise<string[]> {
  const found: string[] = [];
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile() && EXTENSIONS.has(extname(entry.name).toLowerCase())) found.push(path);
    }
    if (found.length > MAX_NOTES)
      throw new CliFailure(
        `There are more than ${MAX_NOTES} notes in ${root}; import its folders one by one.`,
      );
  }
  return found.sort((a, b) => (a < b ? -1 : 1));
}

async function readNote(path: string, where: string): Promise<ImportItem> {
  const { size } = await lstat(path);
  if (size > MAX_NOTE_BYTES)
    return faulty(where, `is larger than ${MAX_NOTE_BYTES} bytes; use \`memoryd ingest\``);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(await readFile(path));
  } catch {
    return faulty(where, "is not UTF-8");
  }
  const split = splitFrontMatter(text);
  if ("fault" in split) return faulty(where, split.fault);
  const { fields, body } = split;
  if (body.trim() === "") return skipped(where, "empty notes");

  const name = basename(path, extname(path));
  const title = textOf(fields["title"])?.trim() || name;
  const day = /^\d{4}-\d{2}-\d{2}(?!\d)/.exec(name)?.[0];
  const date =
    DATE_NAMES.map((date) => fields[date]).find((date) => date !== undefined && date !== null) ?? day;
  const others = Object.entries(fields).filter(([key, value]) => !READ_ELSEWHERE.has(key) && value !== null);
  return {
    kind: "memory",
    where,
    body: {
      // A note is found by its title too, which most do not repeat.
      content: body.includes(title) ? body.trim() : `${title}\n\n${body.trim()}`,
      tags: noteTags(fields["tags"] ?? fields["tag"]),
      ...(date !== undefined && { occurred_at: timeOf(date instanceof Date ? date.getTime() : date) }),
      metadata: {
        ...(JSON.parse(JSON.stringify(Object.fromEntries(others))) as object),
        source: "markdown",
        title,
        path: where,
      },
    },
  };
}

export type FrontMatter =
  | { readonly fields: Readonly<Record<string, unknown>>; readonly body: string }
  | { readonly fault: string };

/** The fields between two lines of `---` at the beginning, and what follows them. */
export function splitFrontMatter(text: string): FrontMatter {
  const opening = /^---[ \t]*\r?\n/.exec(text)?.[0];
  if (opening === undefined) return { fields: {}, body: text };
  const closing = /^(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/m.exec(text.slice(opening.length));
  if (closing === null) return { fields: {}, body: text };
  const yaml = text.slice(opening.length, opening.length + closing.index);
  const body = text.slice(opening.length + closing.index + closing[0].length);
  if (yaml.length > MAX_FRONT_MATTER_CHARS)
    return { fault: `has front matter of more than ${MAX_FRONT_MATTER_CHARS} characters` };
  try {
    const fields = (parse(yaml, { maxAliasCount: 100, logLevel: "error" }) ?? {}) as unknown;
    return { fields: objectOf(fields) ?? {}, body };
  } catch {
    return { fault: "has front matter that is not YAML" };
  }
}

function noteTags(value: unknown): unknown {
  if (typeof value === "string") return tagsOf(value.includes(",") ? value : value.replaceAll(/\s+/g, ","));
  if (!Array.isArray(value)) return [];
  return value
    .filter((tag) => tag !== null)
    .map((tag) => (typeof tag === "object" ? tag : String(tag).replace(/^#/, "")));
}
