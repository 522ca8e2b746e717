import { createReadStream } from "node:fs";
import { lstat, open, readdir, stat } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { isMissing, isObject } from "../../config/narrow.ts";
import { shortened } from "../../core/text/text-size.ts";
import { MAILBOX_START } from "../../files/file-kinds.ts";
import { timeOf } from "../../files/front-matter.ts";
import { jsonOf } from "../../files/own-files.ts";
import { looksLikeUtf16, textBy } from "../../files/text-decoding.ts";
import { CliFailure, usageFailure } from "../output/output.ts";
import { csvRows } from "./csv-rows.ts";
import {
  faulty,
  IMPORT_FORMATS,
  listOf,
  objectOf,
  type ImportFormat,
  type ImportItems,
} from "./import-item.ts";
import {
  type ConversationOptions,
  readChatGpt,
  readClaude,
  readOpenWebui,
  readClaudeMemories,
  readClaudeProject,
} from "./read-chats.ts";
import { FOLDER_INDEX, isExportHeader, readExport } from "./read-export.ts";
import { readMailbox } from "./read-mailbox.ts";
import { readNotes } from "./read-notes.ts";
import { readOlderService } from "./read-older-service.ts";
import { hasText, KNOWN_FORMATS, readGraphRecord, readRecord, readRow } from "./read-record.ts";
import { type Bytes, jsonElements, type Line, NOT_UTF8, notUtf8, textLines } from "./text-lines.ts";
import { archiveFiles } from "./zip-archive.ts";
import { parseTime } from "../../schemas/wire.ts";

export interface ReadingOptions extends ConversationOptions {
  /** How times in a table are written. */
  readonly dateFormat?: string | undefined;
  /** A label of the Encoding Standard, where the file is not UTF-8. */
  readonly encoding?: string | undefined;
}

export type ImportSource = Awaited<ReturnType<typeof openSource>>;

/** Files of a chat archive that hold what is worth keeping. */
const CHAT_FILES = /(?:^|\/)(?:conversations(?:-\d+)?|memories|projects|projects\/[\w-]{1,80})\.json$/;
/** Files of any other archive; names of systems and of Office's parts are left out. */
const RECORD_FILES = /^(?!__MACOSX\/).*\.(?:json|ndjson|jsonl|csv|tsv|mbox|md|markdown)$/i;
const HEAD_BYTES = 64 * 1_024;
const MAX_CHATS_DEEP = 3;
/** The file of a mailbox, which is a folder of Apple's Mail. */
const APPLE_MAILBOX = "mbox";
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
export async function openSource(path: string, format: ImportFormat | undefined, options: ReadingOptions) {
  const found = await stat(path).catch((error: unknown) => {
    throw isMissing(error) ? new CliFailure(`There is no ${path}.`) : error;
  });
  const isFolder = found.isDirectory();
  if (!isFolder) await requireFile(path);
  const kind = format ?? (isFolder ? await kindOfFolder(path) : await kindOfFile(path));
  if (options.dateFormat !== undefined && kind !== "csv")
    throw usageFailure(`--date-format is for CSV; ${path} is read as ${kind}.`);
  const isRecoded = RECODED.includes(kind);
  if (options.encoding !== undefined && !isRecoded)
    throw usageFailure(`--encoding is for ${RECODED.join(", ")}; ${path} is read as ${kind}.`);
  const file = isFolder ? join(path, (await chatFiles(path))[0] ?? "") : path;
  const changedAt = Math.round(Math.min((await stat(file)).mtimeMs, Date.now()));
  return {
    format: kind,
    /** When the file was changed, in epoch milliseconds: the time of records that name none. */
    changedAt,
    items: advised(itemsOf(path, kind, isFolder, options), isRecoded ? file : undefined),
  };
}

/** Says what to do about bytes that are not UTF-8. @param file whose encoding may be another one. */
async function* advised(items: ImportItems, file: string | undefined): ImportItems {
  let advice: string | undefined;
  for await (const item of items) {
    if ("reason" in item && item.reason === NOT_UTF8) {
      advice ??=
        file === undefined
          ? `${NOT_UTF8}; which exports always are: the file is damaged, or was converted; export it again`
          : notUtf8(await headOf(file, 16 * HEAD_BYTES));
      yield { ...item, reason: advice };
    } else yield item;
  }
}

/** Formats that may come in another encoding than UTF-8. */
const RECODED: readonly ImportFormat[] = ["csv", "json", "ndjson", "markdown"];

/** The bytes of a file in UTF-8. UTF-16 needs no name: its bytes tell it. @throws {CliFailure} where they are not of the encoding. */
async function* bytesOf(file: string, encoding: string | undefined): AsyncGenerator<Buffer> {
  const label = encoding ?? looksLikeUtf16(await headOf(file));
  if (label === undefined) return yield* createReadStream(file);
  const decoder = new TextDecoder(label, { fatal: true });
  try {
    for await (const chunk of createReadStream(file))
      yield Buffer.from(textBy(decoder, chunk as Buffer, { stream: true }));
    yield Buffer.from(textBy(decoder));
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw new CliFailure(`${file} is not ${label}. Name the encoding that it has with --encoding.`, {
      cause,
    });
  }
}

async function headOf(path: string, length = HEAD_BYTES): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
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
      return yield* readMailbox(
        createReadStream(isFolder ? join(path, APPLE_MAILBOX) : path),
        basename(path, extname(path)),
      );
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
        yield* readElements(createReadStream(join(path, name)), chatFileName(name), options);
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
  if (await isFile(join(path, APPLE_MAILBOX))) return "mbox";
  return (await chatFiles(path)).length > 0 ? "chats" : "markdown";
}

/** The files of an unpacked export of chats, in the order of their names, from it or a folder in it; none in another folder. */
async function chatFiles(folder: string, depth = 0): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const projects = entries.some((entry) => entry.name === "projects" && entry.isDirectory())
    ? (await readdir(join(folder, "projects"))).map((name) => `projects/${name}`)
    : [];
  const names = [...entries.map(({ name }) => name), ...projects].filter((name) => CHAT_FILES.test(name));
  if (names.some((name) => name.startsWith("conversations"))) return names.sort();
  // Notes are what a folder with notes holds.
  if (depth === MAX_CHATS_DEEP || entries.some(({ name }) => /\.md$/i.test(name))) return [];
  for (const { name } of entries.filter((entry) => entry.isDirectory())) {
    const below = await chatFiles(join(folder, name), depth + 1);
    if (below.length > 0) return below.map((file) => join(name, file));
  }
  return [];
}

/** Claude writes its projects into one file, or each into one of its own. */
const chatFileName = (name: string): string =>
  /(?:^|[\\/])projects[\\/][^\\/]+$/.test(name) ? "projects.json" : (name.split(/[\\/]/).at(-1) ?? "");

const isFile = async (path: string): Promise<boolean> =>
  (await lstat(path).catch(() => undefined))?.isFile() === true;

async function kindOfFile(path: string): Promise<ImportFormat> {
  const bytes = await headOf(path);
  const head = new TextDecoder(looksLikeUtf16(bytes) ?? "utf-8").decode(bytes);
  const [, known] = MAGIC.find(([magic]) => head.startsWith(magic)) ?? [];
  if (known !== undefined) return known;
  const [first = "", second = ""] = head.split(/\r?\n/, 2).map(jsonOf);
  if (isExportHeader(first)) return "memoryd";
  const named = EXTENSIONS[extname(path).toLowerCase()];
  // The reference memory server called its lines memory.json before.
  if (named === "json" && isObject(first) && isObject(second)) return "ndjson";
  if (named !== undefined) return named;
  if (MAILBOX_START.test(head)) return "mbox";
  throw usageFailure(
    `${path} is of no known format. Known are ${KNOWN_FORMATS}; --format says which it is, if it is one (${IMPORT_FORMATS.join(", ")}). \`memoryd ingest\` makes documents of texts and other files.`,
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

const MAX_NAMES_CHARS = 200;

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
    else if (columns === undefined) {
      columns = row.cells.map((cell) => cell.trim());
      if (hasText(columns)) continue;
      const names = shortened(columns.join(", "), MAX_NAMES_CHARS);
      return yield faulty(
        where,
        `names no column content, text or memory, and none of a fact; its columns are ${names}`,
      );
    } else if (row.cells.slice(columns.length).some((cell) => cell !== ""))
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
    yield* readElements(bytes, chatFileName(name), options);
  }
  if (isChats) return;
  let isKnown = false;
  for await (const { name, bytes } of archiveFiles(path, RECORD_FILES)) {
    isKnown = true;
    const base = name.split("/").at(-1) ?? "";
    const kind = EXTENSIONS[extname(base).toLowerCase()];
    if (kind === "markdown") yield faulty(name, "is a note in an archive; unpack it, and import its folder");
    else if (kind === "mbox") yield* readMailbox(bytes, basename(base, extname(base)));
    else if (kind === "json") yield* readElements(bytes, base, options);
    else yield* kind === "csv" ? readTable(textLines(bytes), undefined) : readLines(textLines(bytes));
  }
  if (!isKnown)
    throw new CliFailure(
      `${path} holds no conversations.json: it is no export of ChatGPT or Claude, and has no other records. Unpack it, and import its folder; \`memoryd ingest\` makes a document of an Office file or a book.`,
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

const PART = /(YYYY|MM|DD|HH|mm|ss)/;

/**
 * Reads times that are written in a format such as `DD.MM.YYYY HH:mm`, in UTC; undefined for what is not written so.
 * @throws {CliFailure} for a format without year, month and day, or with a part twice.
 */
export function timeReader(format: string): (text: string) => number | undefined {
  const pieces = format.split(PART);
  const names = pieces.filter((piece) => PART.test(piece));
  if (!["YYYY", "MM", "DD"].every((name) => names.includes(name)) || new Set(names).size < names.length)
    throw usageFailure(
      `--date-format needs YYYY, MM and DD once each, and may have HH, mm and ss; got ${JSON.stringify(format)}.`,
    );
  return (text) => {
    const parts = new Map<string, string>();
    let rest = text.trim();
    for (const piece of pieces) {
      const digits = piece === "YYYY" ? /^\d{4}/ : /^\d{1,2}/;
      const found = PART.test(piece) ? digits.exec(rest)?.[0] : piece;
      if (found === undefined || !rest.startsWith(found)) return undefined;
      parts.set(piece, found.padStart(2, "0"));
      rest = rest.slice(found.length);
    }
    const part = (name: string) => parts.get(name) ?? "00";
    const day = `${part("YYYY")}-${part("MM")}-${part("DD")}`;
    return rest === "" ? parseTime(`${day}T${part("HH")}:${part("mm")}:${part("ss")}Z`) : undefined;
  };
}
