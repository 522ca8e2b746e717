import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Static } from "typebox";
import { readFrontMatter } from "../../files/front-matter.ts";
import { jsonOf } from "../../files/own-files.ts";
import { EXPORT_FORMAT, EXPORT_VERSION } from "../../schemas/wire.ts";
import { DocumentLine, EndLine, type MemoryLine } from "../../schemas/transfer.ts";
import { CliFailure } from "../output/output.ts";
import { faulty, type ImportItem, type ImportItems, objectOf, skipped } from "./import-item.ts";
import { type Line, MAX_NOTE_BYTES } from "./text-lines.ts";
import { Type, Value } from "../../schemas/typebox.ts";

/** The file of a Markdown export that lists its other files, in order. */
export const FOLDER_INDEX = "memoryd-export.ndjson";

/** The folder in it with the originals of documents, each named by its SHA-256. */
export const ORIGINALS = "originals";

/** The fields of a document's line that name its original. */
export const NamedOriginal = Type.Pick(DocumentLine, ["type", "id", "sha256"]);
export type NamedOriginal = Pick<Static<typeof DocumentLine>, "id" | "sha256">;

export const isExportHeader = (value: unknown): boolean => objectOf(value)?.["format"] === EXPORT_FORMAT;

/**
 * The records of an export of memoryd's own; with a folder, its memories come from the files that the lines
 * name, and originals of documents from beside them.
 * @throws {CliFailure} for an export of a later version.
 */
export async function* readExport(lines: AsyncIterable<Line>, folder?: string): ImportItems {
  const counts = new Map<unknown, number>();
  const documents: NamedOriginal[] = [];
  let end: Static<typeof EndLine> | undefined;
  let last = 0;
  for await (const line of lines) {
    const where = `line ${line.number}`;
    last = line.number;
    const value = "text" in line ? objectOf(jsonOf(line.text)) : undefined;
    if (value === undefined) {
      if ("fault" in line) yield faulty(where, line.fault);
      else if (line.text.trim() !== "") yield faulty(where, "is not a JSON object");
    } else if (isExportHeader(value)) {
      if (value["version"] === EXPORT_VERSION) continue;
      throw new CliFailure(
        `The export is of version ${String(value["version"]).slice(0, 20)}; this memoryd reads version ${EXPORT_VERSION}. Use the memoryd that wrote it, or a newer one.`,
      );
    } else if (Value.Check(EndLine, value)) end = value;
    else {
      const { type } = value;
      counts.set(type, (counts.get(type) ?? 0) + 1);
      if (Value.Check(NamedOriginal, value)) documents.push({ id: value.id, sha256: value.sha256 });
      if (folder !== undefined && type === "memory" && "file" in value)
        yield await readNoteOf(folder, value["file"], where);
      else yield { kind: "line", where, body: value };
    }
  }
  for (const document of documents) yield await originalOf(folder, document);
  if (end === undefined)
    return yield faulty(`after line ${last}`, "the export is cut off: its last line is missing");
  const { memories: memory, documents: document, waypoints: waypoint, facts: fact } = end;
  if (Object.entries({ memory, document, waypoint, fact }).some(([type, n]) => n !== (counts.get(type) ?? 0)))
    yield faulty(`line ${last}`, "the export is not whole: its last line counts other records");
}

async function originalOf(folder: string | undefined, { id, sha256 }: NamedOriginal): Promise<ImportItem> {
  const where = `${ORIGINALS}/${sha256}`;
  const path = join(folder ?? "", where);
  const found = folder === undefined ? undefined : await lstat(path).catch(() => undefined);
  if (found?.isFile() === true) return { kind: "original", where, documentId: id, path };
  return skipped(
    where,
    "originals that the export does not hold; the same files, ingested again, bring them back",
  );
}

async function readNoteOf(folder: string, file: unknown, where: string): Promise<ImportItem> {
  if (typeof file !== "string" || !NOTE_PATH.test(file)) return faulty(where, "names no file of an export");
  const path = join(folder, file);
  const found = await lstat(path).catch(() => undefined);
  if (found?.isFile() !== true) return faulty(file, "is not there");
  if (found.size > MAX_NOTE_BYTES) return faulty(file, `is larger than ${MAX_NOTE_BYTES} bytes`);
  const text = await readFile(path, "utf8");
  const exact = parseNote(text);
  if (exact !== undefined) return { kind: "line", where: file, body: exact };
  // An editor has rewritten its front matter.
  const split = readFrontMatter(text.replaceAll("\r\n", "\n"));
  if ("fault" in split) return faulty(file, split.fault);
  return { kind: "line", where: file, body: { ...split.fields, content: split.body.replace(/\n$/, "") } };
}

type ExportedNote = Static<typeof MemoryLine>;

const MAX_SLUG_CHARS = 40;

/**
 * The file of a memory, relative to the folder of the export: the same in every export while the memory begins alike
 * and keeps its day, no other's, and a name that every system takes.
 */
export function notePath(line: Pick<ExportedNote, "id" | "content" | "occurred_at" | "created_at">): string {
  const { id, content, occurred_at, created_at } = line;
  const day = String(occurred_at ?? created_at).slice(0, 10);
  const slug = content
    .slice(0, 200)
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_SLUG_CHARS)
    .replaceAll(/^-+|-+$/g, "");
  return `memories/${day.slice(0, 7)}/${day}${slug === "" ? "" : `-${slug}`}-${id}.md`;
}

/** Paths that `notePath` makes; an import of a folder reads no others. */
export const NOTE_PATH = /^memories\/\d{4}-\d{2}\/\d{4}-\d{2}-\d{2}-[a-z0-9-]{1,80}\.md$/;

/** Front matter of YAML, each value as JSON, which YAML takes; then the text exactly, and a line end. */
export function noteText({ content, ...fields }: ExportedNote): string {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return `---\n${lines.join("\n")}\n---\n${content}\n`;
}

/** The inverse of `noteText`; undefined for what it did not write, such as a file that an editor has changed. */
export function parseNote(text: string): Record<string, unknown> | undefined {
  const end = text.indexOf("\n---\n");
  if (!text.startsWith("---\n") || end < 0 || !text.endsWith("\n")) return undefined;
  try {
    const fields = text
      .slice(4, end)
      .split("\n")
      .map((line): [string, unknown] => {
        const colon = line.indexOf(": ");
        return [line.slice(0, colon), JSON.parse(line.slice(colon + 2))];
      });
    return { ...Object.fromEntries(fields), content: text.slice(end + 5, -1) };
  } catch {
    return undefined;
  }
}
