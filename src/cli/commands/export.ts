import { createHash } from "node:crypto";
import { lstat, mkdir, open, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Static } from "typebox";
import { MemorydError } from "../../client/client.ts";
import { EndLine, type MemoryLine } from "../../schemas/transfer.ts";
import { CliFailure, complain, plural, printBytes, showProgress, usageFailure } from "../output/output.ts";
import { connect, type Daemon } from "../connect.ts";
import type { Flags } from "../output/options.ts";
import { notePath, noteText, FOLDER_INDEX, NamedOriginal, ORIGINALS } from "../import/read-export.ts";
import { type Fields } from "../../config/narrow.ts";
import { jsonOf, makeFolder } from "../../files/own-files.ts";
import { objectOf } from "../import/import-item.ts";
import { textLines } from "../import/text-lines.ts";
import { present } from "../../schemas/wire.ts";
import { Value } from "../../schemas/typebox.ts";

export interface ExportFlags extends Flags {
  readonly format?: "ndjson" | "markdown";
  readonly out?: string;
  readonly waypoints?: boolean;
  /** Include the files that documents were made of. */
  readonly originals?: boolean;
  readonly force?: boolean;
}

type Exported = {
  readonly end: Static<typeof EndLine>;
  readonly documents: readonly NamedOriginal[];
  readonly namesUsers: boolean;
};

const SHOW_EVERY_RECORDS = 100;
/** Maximum size of one line: a memory with everything in it, or a fact with a long history. */
const MAX_EXPORTED_LINE_BYTES = 256 * 1_024 * 1_024;
/** The field as the daemon writes it; inside a text its quotes would be escaped. */
const USER_FIELD = '"user_id":"';

/** Writes out everything, or what is of a user or a project; `import` reads it back as it was. */
export async function exportTo(options: ExportFlags): Promise<void> {
  const { format = "ndjson", out, originals = false, force = false } = options;
  const isFolder = format === "markdown" || originals;
  if (isFolder && out === undefined)
    throw usageFailure("Markdown and originals are written to a folder: name one with --out.");
  const daemon = await connect(options);
  if (out === undefined) {
    tellHowItComesBack(await readExported(written(bytesOf(daemon, options), printBytes)), { originals });
    return;
  }

  const target = resolve(out);
  await refuseTaken(target, isFolder, force);
  const partial = `${target}.partial-${process.pid}`;
  // Unfinished output has a name of its own, and an earlier export stays until the end.
  const giveUp = (): void => void rm(partial, { recursive: true, force: true }).then(() => process.exit(1));
  process.once("SIGINT", giveUp);
  try {
    const exported = await (isFolder ? writeFolder : writeFileOfLines)(daemon, options, partial);
    await putInPlace(partial, target, { isFolder, force });
    const { memories, documents, facts, waypoints } = exported.end;
    complain(
      `exported ${plural(memories, "memory")}, ${plural(documents, "document")}, ${plural(facts, "fact")} ` +
        `and ${plural(waypoints, "waypoint")} to ${target}`,
    );
    tellHowItComesBack(exported, { originals });
  } finally {
    process.removeListener("SIGINT", giveUp);
    await rm(partial, { recursive: true, force: true });
    showProgress("");
  }
}

async function* bytesOf({ api }: Daemon, { user, project, waypoints = true }: ExportFlags) {
  const query = present({ user_id: user, project, waypoints: waypoints ? undefined : false });
  const stream = await api.transfer.export(query);
  try {
    for await (const chunk of stream) yield chunk;
  } catch (cause) {
    throw new CliFailure("memoryd stopped answering; look at `memoryd status` and its log.", { cause });
  }
}

/** Passes bytes on, after each part was written. */
async function* written(bytes: AsyncIterable<Uint8Array>, write: (part: Uint8Array) => Promise<unknown>) {
  for await (const part of bytes) {
    await write(part);
    yield part;
  }
}

/** The contents of an export. @param keep gets each line first. @throws {CliFailure} if the last line is no end line. */
async function readExported(
  bytes: AsyncIterable<Uint8Array>,
  keep: (text: string, value: Fields) => Promise<unknown> = async () => {},
): Promise<Exported> {
  const documents: NamedOriginal[] = [];
  let end: Exported["end"] | undefined;
  let namesUsers = false;
  let records = 0;
  for await (const line of textLines(bytes, MAX_EXPORTED_LINE_BYTES)) {
    const value = "text" in line ? objectOf(jsonOf(line.text)) : undefined;
    if ("fault" in line || value === undefined) throw cutOff();
    await keep(line.text, value);
    namesUsers ||= line.text.includes(USER_FIELD);
    if (value["type"] === "document" && Value.Check(NamedOriginal, value))
      documents.push({ id: value.id, sha256: value.sha256 });
    if (value["type"] === "end" && Value.Check(EndLine, value)) end = value;
    records += 1;
    if (records % SHOW_EVERY_RECORDS === 0) showProgress(plural(records, "record"));
  }
  if (end === undefined) throw cutOff();
  return { end, documents, namesUsers };
}

async function writeFileOfLines(daemon: Daemon, options: ExportFlags, partial: string): Promise<Exported> {
  makeFolder(dirname(partial), 0o777);
  const file = await open(partial, "wx", 0o600);
  try {
    const exported = await readExported(written(bytesOf(daemon, options), (part) => file.writeFile(part)));
    await file.sync();
    return exported;
  } finally {
    await file.close();
  }
}

/** All lines in one file; in Markdown that only names those of memories, which have a file each. */
async function writeFolder(daemon: Daemon, options: ExportFlags, partial: string): Promise<Exported> {
  makeFolder(partial);
  const index = await open(join(partial, FOLDER_INDEX), "wx", 0o600);
  try {
    const exported = await readExported(bytesOf(daemon, options), async (text, value) => {
      if (options.format !== "markdown" || value["type"] !== "memory") return index.writeFile(`${text}\n`);
      const memory = value as Static<typeof MemoryLine>;
      const file = notePath(memory);
      makeFolder(dirname(join(partial, file)));
      await writeFile(join(partial, file), noteText(memory), { flag: "wx", mode: 0o600 });
      return index.writeFile(`${JSON.stringify({ type: "memory", file })}\n`);
    });
    if (options.originals === true) await writeOriginals(daemon, exported.documents, partial);
    return exported;
  } finally {
    await index.close();
  }
}

function tellHowItComesBack(
  { end: { documents }, namesUsers }: Exported,
  { originals }: { readonly originals: boolean },
): void {
  if (documents > 0 && !originals)
    complain(
      `The originals of ${plural(documents, "document")} are not in it; export to a folder with --originals to have them too.`,
    );
  if (namesUsers)
    complain("It says whose records are: `memoryd import --keep-users` brings them back to their users.");
}

function cutOff(): CliFailure {
  return new CliFailure(
    "The export was cut off; nothing was left behind. Look at `memoryd status`, and export again.",
  );
}

/** Writes each original once, by its SHA-256; damaged ones are left out. */
async function writeOriginals(
  { api }: Daemon,
  documents: readonly NamedOriginal[],
  folder: string,
): Promise<void> {
  const written = new Set<string>();
  let missing = 0;
  await mkdir(join(folder, ORIGINALS), { mode: 0o700 });
  for (const [i, { id, sha256 }] of documents.entries()) {
    showProgress(`${i + 1}/${documents.length} originals`);
    if (written.has(sha256)) continue;
    const path = join(folder, ORIGINALS, sha256);
    const original = await api.documents.file(id).catch((error: unknown) => {
      if (error instanceof MemorydError && (error.status === 404 || error.code === "DAMAGED"))
        return undefined;
      throw error;
    });
    if (original !== undefined && (await hashWhileWriting(original, path)) === sha256) written.add(sha256);
    else {
      await rm(path, { force: true });
      missing += 1;
    }
  }
  const lacking =
    missing === 0 ? "" : `; those of ${plural(missing, "document")} are not kept here, or are damaged`;
  complain(`with ${plural(written.size, "original")}${lacking}`);
}

async function hashWhileWriting(original: Blob, path: string): Promise<string> {
  const hash = createHash("sha256");
  const file = await open(path, "wx", 0o600);
  try {
    for await (const chunk of original.stream()) {
      hash.update(chunk);
      await file.writeFile(chunk);
    }
    await file.sync();
    return hash.digest("hex");
  } finally {
    await file.close();
  }
}

/** @throws {CliFailure} for a place that is taken, unless it may be replaced and holds what an export left there. */
async function refuseTaken(target: string, isFolder: boolean, force: boolean): Promise<void> {
  const found = await lstat(target).catch(() => undefined);
  if (found === undefined) return;
  if (!force)
    throw new CliFailure(`${target} is there already; name another place, or replace it with --force.`);
  if (!found.isDirectory()) {
    if (isFolder)
      throw new CliFailure(
        `${target} is a file, and Markdown and originals are written to a folder; name another place.`,
      );
    return;
  }
  const index = await lstat(join(target, FOLDER_INDEX)).catch(() => undefined);
  if (!isFolder || index === undefined)
    throw new CliFailure(
      `${target} is a folder that no export made; it is not replaced. Name another place.`,
    );
}

/** Gives a complete export its name. @throws {CliFailure} for a place taken meanwhile, which stays. */
export async function putInPlace(
  partial: string,
  target: string,
  { isFolder, force }: { readonly isFolder: boolean; readonly force: boolean },
): Promise<void> {
  await refuseTaken(target, isFolder, force);
  const replacesFolder = (await lstat(target).catch(() => undefined))?.isDirectory() === true;
  if (!replacesFolder) return await rename(partial, target);
  const old = `${target}.old-${process.pid}`;
  await rename(target, old);
  await rename(partial, target);
  await rm(old, { recursive: true, force: true });
}
