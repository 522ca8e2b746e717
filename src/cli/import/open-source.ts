import { createReadStream } from "node:fs";
import { lstat, open, readdir, stat } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { timeOf } from "../../files/front-matter.ts";
import { jsonOf } from "../../files/own-files.ts";
import { CliFailure, usageFailure } from "../output/output.ts";
import { csvRows } from "./csv-rows.ts";
import { faulty, IMPORT_FORMATS, listOf, objectOf } from "./import-item.ts";
import type { ImportFormat, ImportItems } from "./import-item.ts";
import { type ConversationOptions, readChatGpt, readClaude, readOpenWebui } from "./read-chats.ts";
import { readClaudeMemories, readClaudeProject } from "./read-chats.ts";
import { FOLDER_INDEX, isExportHeader, readExport } from "./read-export.ts";
import { readMailbox } from "./read-mailbox.ts";
import { readNotes } from "./read-notes.ts";
import { readOlderService } from "./read-older-service.ts";
import { readGraphRecord, readRecord, readRow } from "./read-record.ts";
import { timeReader } from "./time-format.ts";
import { type Bytes, jsonElements, type Line, NOT_UTF8, textLines } from "./text-lines.ts";
import { archiveFiles } from "./zip-archive.ts";

export interface ReadingOptions extends ConversationOptions {
  /** How times in a table are written. */
  readonly dateFormat?: string | undefined;
  /** A label of the Encoding Standard, where the file is not UTF-8. */
  readonly encoding?: string | undefined;
}

export interface ImportSource {
  readonly format: ImportFormat;
  readonly items: ImportItems;
}

/** Files of a chat archive that hold what is worth keeping. */
const CHAT_FILES = /(?:^|\/)(?:conversations(?:-\d+)?|memories|projects)\.json$/;
const HEAD_BYTES = 64 * 1_024;
/** The first bytes of SQLite databases and of zip archives, empty ones too. */
const MAGIC = [
  ["SQLite format 3\0", "openmemory"],
  ["PK\u0003\u0004", "chats"],
  ["PK\u0005\u0006", "chats"],
] as const;
const EXTENSIONS: Readonly<Record<string, ImportFormat>> = {
  ".json": "json",
  ".ndjson": "ndjson",
  ".jsonl": "ndjson",
  ".csv": "csv",
  ".tsv": "csv",
  ".mbox": "mbox",
  ".md": "markdown",
  ".markdown": "markdown",
};

/**
 * Opens an import file or folder. Its format is `format`, or follows from its first bytes and its name.
 * @throws {CliFailure} if there is no such path, or its format is not supported.
 */
export async function openSource(
  path: string,
  format: ImportFormat | undefined,
  options: ReadingOptions,
): Promise<ImportSource> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) throw new CliFailure(`There is no ${path}.`);
  const isFolder = found.isDirectory();
  if (!isFolder) await requireFile(path);
  const kind = format ?? (isFolder ? await kindOfFolder(path) : await kindOfFile(path));
  if (options.dateFormat !== undefined && kind !== "csv")
    throw usageFailure(`--date-format is for CSV; ${path} is read as ${kind}.`);
  const isRecoded = RECODED.includes(kind);
  if (options.encoding !== undefined && !isRecoded)
    throw usageFailure(`--encoding is for ${RECODED.join(", ")}; ${path} is read as ${kind}.`);
  return { format: kind, items: advised(itemsOf(path, kind, isFolder, options), isRecoded) };
}

/** Says what to do about bytes that are not UTF-8. */
async function* advised(items: ImportItems, isRecoded: boolean): ImportItems {
  const advice = isRecoded
    ? "name its encoding: --encoding windows-1252 (Western Europe), windows-1251 (Cyrillic)"
    : "which exports always are: the file is damaged, or was converted; export it again";
  for await (const item of items)
    yield "reason" in item && item.reason === NOT_UTF8 ? { ...item, reason: `${NOT_UTF8}; ${advice}` } : item;
}

/** Formats that may come in another encoding than UTF-8. */
const RECODED: readonly ImportFormat[] = ["csv", "json", "ndjson", "markdown"];

/** The bytes of a file in UTF-8. */
async function* bytesOf(file: string, encoding: string | undefined): AsyncGenerator<Buffer> {
  if (encoding === undefined) return yield* createReadStream(file);
  const decoder = new TextDecoder(encoding);
  for await (const chunk of createReadStream(file))
    yield Buffer.from(decoder.decode(chunk as Buffer, { stream: true }));
  yield Buffer.from(decoder.decode());
}

/** Opens nothing before it is read: an error of a file that cannot be opened would come while nothing waits for it. */
async function* itemsOf(
  path: string,
  format: ImportFormat,
  isFolder: boolean,
  options: ReadingOptions,
): ImportItems {
  const linesOf = (file: string) => textLines(bytesOf(file, options.encoding));
  switch (format) {
    case "memoryd":
      return yield* isFolder
        ? readExport(linesOf(join(path, FOLDER_INDEX)), path)
        : readExport(linesOf(path));
    case "markdown":
      return yield* readNotes(path, options.encoding);
    case "mbox":
      return yield* readMailbox(createReadStream(path), basename(path, extname(path)));
    case "openmemory":
      return yield* readOlderService(path, options);
    case "ndjson":
      return yield* readLines(linesOf(path));
    case "csv":
      return yield* readTable(linesOf(path), options.dateFormat);
    case "json":
      return yield* readElements(bytesOf(path, options.encoding), basename(path), options);
    case "chats":
      if (!isFolder) return yield* readChats(path, options);
      for (const name of await chatFiles(path))
        yield* readElements(createReadStream(join(path, name)), name, options);
  }
}

/** @throws {CliFailure} for a device, a pipe or a socket, which may never end. */
export async function requireFile(path: string): Promise<void> {
  const found = await stat(path);
  if (found.isFile() || found.isDirectory()) return;
  throw new CliFailure(
    `${path} is a device or a pipe, and no file; write what it gives to a file, and name that.`,
  );
}

async function kindOfFolder(path: string): Promise<ImportFormat> {
  if (await isFile(join(path, FOLDER_INDEX))) return "memoryd";
  return (await chatFiles(path)).length > 0 ? "chats" : "markdown";
}

/** The files of an unpacked export of chats, in the order of their names; none in another folder. */
async function chatFiles(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => CHAT_FILES.test(name)).sort();
  return names.some((name) => name.startsWith("conversations")) ? names : [];
}

const isFile = async (path: string): Promise<boolean> =>
  (await lstat(path).catch(() => undefined))?.isFile() === true;

async function kindOfFile(path: string): Promise<ImportFormat> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const head = buffer.toString("utf8", 0, bytesRead).replace(/^\uFEFF/, "");
    const [, known] = MAGIC.find(([magic]) => head.startsWith(magic)) ?? [];
    if (known !== undefined) return known;
    if (isExportHeader(jsonOf(head.split(/\r?\n/, 1)[0] ?? ""))) return "memoryd";
  } finally {
    await file.close();
  }
  const named = EXTENSIONS[extname(path).toLowerCase()];
  if (named !== undefined) return named;
  throw usageFailure(
    `It cannot be told what ${path} is; name its format with --format, one of ${IMPORT_FORMATS.join(", ")}.`,
  );
}

async function* readLines(lines: AsyncIterable<Line>): ImportItems {
  for await (const line of lines) {
    const where = `line ${line.number}`;
    if ("fault" in line) yield faulty(where, line.fault);
    else if (line.text.trim() !== "") {
      const value = jsonOf(line.text);
      if (value === undefined) yield faulty(where, "is not JSON");
      else yield* readGraphRecord(value, where) ?? readRecord(value, where);
    }
  }
}

async function* readTable(lines: AsyncIterable<Line>, dateFormat: string | undefined): ImportItems {
  const reader = dateFormat === undefined ? () => undefined : timeReader(dateFormat);
  const times = {
    read: (value: unknown) => (typeof value === "string" ? reader(value) : undefined) ?? timeOf(value),
    advice:
      dateFormat === undefined
        ? " (say how it is written: --date-format DD.MM.YYYY)"
        : `, which --date-format ${dateFormat} does not fit`,
  };
  let columns: readonly string[] | undefined;
  for await (const row of csvRows(lines)) {
    const where = `line ${row.line}`;
    if ("fault" in row) yield faulty(where, row.fault);
    else if (columns === undefined) columns = row.cells.map((cell) => cell.trim());
    else if (row.cells.length > columns.length)
      yield faulty(where, `has ${row.cells.length} cells, and the first row has ${columns.length}`);
    else
      yield* readRow(
        columns.map((column, i) => [column, row.cells[i] ?? ""] as const),
        where,
        times,
      );
  }
}

async function* readChats(path: string, options: ConversationOptions): ImportItems {
  let isChats = false;
  for await (const { name, bytes } of archiveFiles(path, CHAT_FILES)) {
    isChats = true;
    yield* readElements(bytes, name.split("/").at(-1) ?? "", options);
  }
  if (!isChats)
    throw new CliFailure(
      `${path} holds no conversations.json: it is no export of ChatGPT or Claude. Unpack it, and import the files in it.`,
    );
}

/** Elements of a JSON file: conversations of either service by their shape, what Claude keeps by the file's name, else records. */
async function* readElements(bytes: Bytes, file: string, options: ConversationOptions): ImportItems {
  for await (const element of jsonElements(bytes)) {
    const where = `${file} ${element.number}`;
    if ("fault" in element) {
      yield faulty(where, element.fault);
      continue;
    }
    const value = objectOf(element.value);
    if (Array.isArray(value?.["results"])) {
      // The answer of a service that lists its memories; mem0's has a graph beside them.
      for (const [i, record] of value["results"].entries())
        yield* readRecord(record, `${where}, result ${i + 1}`);
      for (const [i, relation] of listOf(value["relations"]).entries()) {
        const place = `${where}, relation ${i + 1}`;
        yield* readGraphRecord(relation, place, "mem0") ?? [faulty(place, "is no relation")];
      }
    } else if (value?.["mapping"] !== undefined) yield* readChatGpt(value, where, options);
    else if (value?.["chat_messages"] !== undefined) yield* readClaude(value, where, options);
    else if (objectOf(value?.["chat"]) !== undefined) yield* readOpenWebui(value ?? {}, where, options);
    else if (Array.isArray(value?.["entities"]) && Array.isArray(value["relations"])) {
      for (const record of [...value["entities"], ...value["relations"]])
        yield* readGraphRecord(record, where) ?? readRecord(record, where);
    } else if (value !== undefined && file === "memories.json" && !("content" in value))
      yield* readClaudeMemories(value, where);
    else if (value !== undefined && file === "projects.json") yield* readClaudeProject(value, where);
    else yield* readGraphRecord(element.value, where) ?? readRecord(element.value, where);
  }
}
