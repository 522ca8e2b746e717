import { lstat, open } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { CliFailure, usageFailure } from "../output/output.ts";
import { csvRows } from "./csv-rows.ts";
import { faulty, IMPORT_FORMATS, objectOf } from "./import-item.ts";
import type { ImportFormat, ImportItem, ImportItems, Progress } from "./import-item.ts";
import { type JsonElement, jsonElements, type Line, readFileBytes, textLines } from "./text-lines.ts";
import { type ConversationOptions, readChatGpt } from "./read-chatgpt.ts";
import { readClaude, readClaudeMemories, readClaudeProject } from "./read-claude.ts";
import { FOLDER_INDEX, isExportHeader, readExport } from "./read-export.ts";
import { readNotes } from "./read-notes.ts";
import { readOlderService } from "./read-older-service.ts";
import { jsonOf } from "../../files/own-files.ts";
import { readRecord, readRow } from "./read-record.ts";
import { openArchive } from "./zip-archive.ts";

export interface ImportSource {
  readonly format: ImportFormat;
  items(progress: Progress): ImportItems;
}

/** Files of a chat archive that hold what is worth keeping. */
const CHAT_FILES = /(?:^|\/)(?:conversations(?:-\d+)?|memories|projects)\.json$/;
const HEAD_BYTES = 64 * 1_024;
const SQLITE_MAGIC = "SQLite format 3\0";
const ZIP_MAGIC = "PK\u0003\u0004";
const EMPTY_ZIP_MAGIC = "PK\u0005\u0006";

/**
 * Opens an import file or folder. Its format is `format`, or follows from its first bytes and its name.
 * @throws {CliFailure} if there is no such path, or its format is not supported.
 */
export async function openSource(
  path: string,
  format: ImportFormat | undefined,
  options: ConversationOptions,
): Promise<ImportSource> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) throw new CliFailure(`There is no ${path}.`);
  const kind = format ?? (found.isDirectory() ? await kindOfFolder(path) : await kindOfFile(path));
  return { format: kind, items: (progress) => itemsOf(path, kind, found.isDirectory(), options, progress) };
}

function itemsOf(
  path: string,
  format: ImportFormat,
  isFolder: boolean,
  options: ConversationOptions,
  progress: Progress,
): ImportItems {
  const lines = (file = path) => textLines(readFileBytes(file, progress));
  switch (format) {
    case "memoryd":
      return isFolder ? readExport(lines(join(path, FOLDER_INDEX)), path) : readExport(lines());
    case "markdown":
      return readNotes(path, progress);
    case "openmemory":
      return readOlderService(path, progress, options);
    case "ndjson":
      return readLines(lines());
    case "csv":
      return readTable(lines());
    case "json":
      return readElements(jsonElements(readFileBytes(path, progress)), basename(path), options);
    case "chats":
      return readChats(path, options, progress);
  }
}

/** File of conversations in the exports of chat services. */
const CONVERSATIONS = "conversations.json";

async function kindOfFolder(path: string): Promise<ImportFormat> {
  if (await isFile(join(path, FOLDER_INDEX))) return "memoryd";
  if (await isFile(join(path, CONVERSATIONS)))
    throw new CliFailure(
      `${path} looks like an unpacked export of chats; name ${join(path, CONVERSATIONS)}, or the zip archive, instead.`,
    );
  return "markdown";
}

const isFile = async (path: string): Promise<boolean> =>
  (await lstat(path).catch(() => undefined))?.isFile() === true;

async function kindOfFile(path: string): Promise<ImportFormat> {
  const buffer = Buffer.alloc(HEAD_BYTES);
  const file = await open(path);
  let bytesRead: number;
  try {
    ({ bytesRead } = await file.read(buffer, 0, HEAD_BYTES, 0));
  } finally {
    await file.close();
  }
  const head = buffer
    .subarray(0, bytesRead)
    .toString("utf8")
    .replace(/^\uFEFF/, "");
  if (head.startsWith(SQLITE_MAGIC)) return "openmemory";
  if (head.startsWith(ZIP_MAGIC) || head.startsWith(EMPTY_ZIP_MAGIC)) return "chats";
  const [firstLine = ""] = head.split(/\r?\n/, 1);
  if (isExportHeader(jsonOf(firstLine))) return "memoryd";
  switch (extname(path).toLowerCase()) {
    case ".json":
      return "json";
    case ".ndjson":
    case ".jsonl":
      return "ndjson";
    case ".csv":
    case ".tsv":
      return "csv";
    case ".md":
    case ".markdown":
      return "markdown";
    default:
      throw usageFailure(
        `It cannot be told what ${path} is; name its format with --format, one of ${IMPORT_FORMATS.join(", ")}.`,
      );
  }
}

async function* readLines(lines: AsyncIterable<Line>): AsyncGenerator<ImportItem> {
  for await (const line of lines) {
    const where = `line ${line.number}`;
    if ("fault" in line) yield faulty(where, line.fault);
    else if (line.text.trim() !== "") {
      const value = jsonOf(line.text);
      yield value === undefined ? faulty(where, "is not JSON") : readRecord(value, where);
    }
  }
}

async function* readTable(lines: AsyncIterable<Line>): AsyncGenerator<ImportItem> {
  let columns: readonly string[] | undefined;
  for await (const row of csvRows(lines)) {
    const where = `line ${row.line}`;
    if ("fault" in row) yield faulty(where, row.fault);
    else if (columns === undefined) columns = row.cells.map((cell) => cell.trim().toLowerCase());
    else if (row.cells.length > columns.length)
      yield faulty(where, `has ${row.cells.length} cells, and the first row has ${columns.length}`);
    else yield readRow(zip(columns, row.cells), where);
  }
}

const zip = (columns: readonly string[], cells: readonly string[]): [string, string][] =>
  columns.map((column, i) => [column, cells[i] ?? ""]);

async function* readChats(
  path: string,
  options: ConversationOptions,
  progress: Progress,
): AsyncGenerator<ImportItem> {
  const archive = await openArchive(path, CHAT_FILES);
  try {
    if (archive.files.length === 0)
      throw new CliFailure(
        `${path} holds no conversations.json: it is no export of ChatGPT or Claude. Unpack it, and import the files in it.`,
      );
    progress.total = archive.files.reduce((sum, { compressedBytes }) => sum + compressedBytes, 0);
    for (const file of archive.files)
      yield* readElements(jsonElements(file.read(progress)), file.name, options);
  } finally {
    archive.close();
  }
}

/** Elements of a JSON file: conversations of either service by their shape, what Claude remembers by the file's name, else records. */
async function* readElements(
  elements: AsyncIterable<JsonElement>,
  name: string,
  options: ConversationOptions,
): AsyncGenerator<ImportItem> {
  const file = name.split("/").at(-1) ?? "";
  for await (const element of elements) {
    const where = `${file} ${element.number}`;
    if ("fault" in element) {
      yield faulty(where, element.fault);
      continue;
    }
    const value = objectOf(element.value);
    if (Array.isArray(value?.["results"])) {
      // The answer of a service that lists its memories.
      for (const [i, record] of value["results"].entries())
        yield readRecord(record, `${where}, result ${i + 1}`);
    } else if (value?.["mapping"] !== undefined) yield* readChatGpt(value, where, options);
    else if (value?.["chat_messages"] !== undefined) yield* readClaude(value, where, options);
    else if (value !== undefined && file === "memories.json" && !("content" in value))
      yield* readClaudeMemories(value, where);
    else if (file === "projects.json") yield* readClaudeProject(element.value, where);
    else yield readRecord(element.value, where);
  }
}
