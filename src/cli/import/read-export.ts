import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Value } from "typebox/value";
import { EndLine, EXPORT_FORMAT, EXPORT_VERSION } from "../../schemas/transfer.ts";
import { CliFailure } from "../cli-failure.ts";
import { NOTE_PATH, parseNote } from "./note-file.ts";
import { MAX_NOTE_BYTES } from "./import-limits.ts";
import { type ImportItem, type ImportItems, objectOf } from "./import-item.ts";
import { splitFrontMatter } from "./read-notes.ts";
import { jsonOf } from "./read-record.ts";
import type { Line } from "./text-lines.ts";

/** The file in a Markdown export that says what else is in it, in order. */
export const FOLDER_INDEX = "memoryd-export.ndjson";

/** True of the first line of an export. */
export function isExportHeader(value: unknown): boolean {
  return objectOf(value)?.["format"] === EXPORT_FORMAT;
}

/**
 * The records of an export of memoryd's own; with a folder, its memories come from the files that the lines name.
 *
 * @throws {CliFailure} for an export of a later version.
 */
export async function* readExport(
  lines: AsyncIterable<Line>,
  folder?: string,
): ImportItems & AsyncGenerator<ImportItem> {
  const seen = { memory: 0, waypoint: 0, fact: 0 };
  let end: { memories: number; waypoints: number; facts: number } | undefined;
  let last = 0;
  for await (const line of lines) {
    const where = `line ${line.number}`;
    last = line.number;
    if ("fault" in line) {
      yield { kind: "faulty", where, reason: line.fault };
      continue;
    }
    if (line.text.trim() === "") continue;
    const value = objectOf(jsonOf(line.text));
    if (value === undefined) {
      yield { kind: "faulty", where, reason: "is not a JSON object" };
      continue;
    }
    if (isExportHeader(value)) {
      if (value["version"] === EXPORT_VERSION) continue;
      throw new CliFailure(
        `The export is of version ${String(value["version"]).slice(0, 20)}; this memoryd reads version ${EXPORT_VERSION}. Use the memoryd that wrote it, or a newer one.`,
      );
    }
    if (Value.Check(EndLine, value)) {
      end = value;
      continue;
    }
    const { type } = value;
    if (type === "memory" || type === "waypoint" || type === "fact") seen[type] += 1;
    if (folder !== undefined && type === "memory") yield await readNoteOf(folder, value["file"], where);
    else yield { kind: "line", where, body: value };
  }
  if (end === undefined) {
    yield {
      kind: "faulty",
      where: `after line ${last}`,
      reason: "the export is cut off: its last line is missing",
    };
  } else if (end.memories !== seen.memory || end.waypoints !== seen.waypoint || end.facts !== seen.fact) {
    yield {
      kind: "faulty",
      where: `line ${last}`,
      reason: "the export is not whole: its last line counts other records",
    };
  }
}

async function readNoteOf(folder: string, file: unknown, where: string): Promise<ImportItem> {
  if (typeof file !== "string" || !NOTE_PATH.test(file))
    return { kind: "faulty", where, reason: "names no file of an export" };
  const path = join(folder, file);
  const found = await lstat(path).catch(() => undefined);
  if (found?.isFile() !== true) return { kind: "faulty", where: file, reason: "is not there" };
  if (found.size > MAX_NOTE_BYTES)
    return { kind: "faulty", where: file, reason: `is larger than ${MAX_NOTE_BYTES} bytes` };
  const text = await readFile(path, "utf8");
  const exact = parseNote(text);
  if (exact !== undefined) return { kind: "line", where: file, body: exact };
  // An editor has written its front matter anew.
  const split = splitFrontMatter(text.replaceAll("\r\n", "\n"));
  if ("fault" in split) return { kind: "faulty", where: file, reason: split.fault };
  return { kind: "line", where: file, body: { ...split.fields, content: split.body.replace(/\n$/, "") } };
}
