import { mkdir, open, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Static } from "typebox";
import { Value } from "typebox/value";
import { EndLine, type MemoryLine } from "../schemas/transfer.ts";
import { CliFailure, EXIT } from "./cli-failure.ts";
import { connect, type DaemonClient } from "./daemon-client.ts";
import { writeOriginals } from "./export-originals.ts";
import { putInPlace, refuseTaken } from "./export-place.ts";
import { notePath, noteText } from "./import/note-file.ts";
import { FOLDER_INDEX, NamedOriginal } from "./import/read-export.ts";
import { jsonOf } from "./import/read-record.ts";
import { textLines } from "./import/text-lines.ts";
import { complain, printBytes, showProgress } from "./output.ts";
import { plural } from "./plural.ts";

export interface ExportOptions {
  readonly format?: "ndjson" | "markdown";
  readonly user?: string;
  readonly project?: string;
  readonly out?: string;
  /** False where `--no-waypoints` was given. */
  readonly waypoints?: boolean;
  /** Whether the files that documents were made of come too. */
  readonly originals?: boolean;
  readonly force?: boolean;
}

interface Exported {
  readonly end: Static<typeof EndLine>;
  /** Whether a record says whose it is. */
  readonly namesUsers: boolean;
}

const NEWLINE = 0x0a;
const SHOW_EVERY_RECORDS = 100;
/** Of one line: a memory with everything in it, or a fact with a long history. */
const MAX_EXPORTED_LINE_BYTES = 256 * 1_024 * 1_024;

/** Writes out everything, or what is of a user or a project; `import` reads it back as it was. */
export async function exportTo(dataDir: string, options: ExportOptions): Promise<void> {
  const { format = "ndjson", out, originals = false, force = false } = options;
  const isFolder = format === "markdown" || originals;
  if (isFolder && out === undefined) {
    throw new CliFailure("Markdown and originals are written to a folder: name one with --out.", {
      exitCode: EXIT.usage,
    });
  }
  const daemon = await connect(dataDir);
  if (out === undefined) {
    tellHowItComesBack(await copy(daemon, options, printBytes), { originals });
    return;
  }

  const target = resolve(out);
  await refuseTaken(target, isFolder, force);
  const partial = `${target}.partial-${process.pid}`;
  // Whatever ends this: what is unfinished has a name that says so, and what was there stays.
  const giveUp = (): void => void rm(partial, { recursive: true, force: true }).then(() => process.exit(1));
  process.once("SIGINT", giveUp);
  try {
    const exported = await (isFolder ? writeFolder : writeFileOfLines)(daemon, options, partial);
    await putInPlace(partial, target, { isFolder, force });
    const { memories, documents, facts, waypoints } = exported.end;
    complain(
      `exported ${plural(memories, "memory", "memories")}, ${plural(documents, "document")}, ${plural(facts, "fact")} ` +
        `and ${plural(waypoints, "waypoint")} to ${target}`,
    );
    tellHowItComesBack(exported, { originals });
  } finally {
    process.removeListener("SIGINT", giveUp);
    await rm(partial, { recursive: true, force: true });
    showProgress("");
  }
}

function addressOf({ user, project, waypoints = true }: ExportOptions): string {
  const query = new URLSearchParams({
    ...(user !== undefined && { user_id: user }),
    ...(project !== undefined && { project }),
    ...(!waypoints && { waypoints: "false" }),
  });
  return `/export?${query.toString()}`;
}

/** Hands on every byte. @throws {CliFailure} if the last line is not the one that says it is the last. */
async function copy(
  daemon: DaemonClient,
  options: ExportOptions,
  write: (bytes: Uint8Array) => Promise<unknown>,
): Promise<Exported> {
  let tail = Buffer.alloc(0);
  let namesUsers = false;
  let records = 0;
  for await (const chunk of daemon.read(addressOf(options))) {
    await write(chunk);
    for (const byte of chunk) if (byte === NEWLINE) records += 1;
    showProgress(plural(records, "record"));
    const seen = Buffer.concat([tail, chunk]);
    namesUsers ||= seen.includes(USER_FIELD);
    tail = seen.subarray(-EndLineBytes);
  }
  const last = jsonOf(tail.toString("utf8").trimEnd().split("\n").at(-1) ?? "");
  if (!Value.Check(EndLine, last)) throw cutOff();
  return { end: last, namesUsers };
}
const EndLineBytes = 256;
/** As the daemon writes it; inside a text its quotes are escaped. */
const USER_FIELD = '"user_id":"';

async function writeFileOfLines(
  daemon: DaemonClient,
  options: ExportOptions,
  partial: string,
): Promise<Exported> {
  await mkdir(dirname(partial), { recursive: true });
  const file = await open(partial, "wx", 0o600);
  try {
    const exported = await copy(daemon, options, (bytes) => file.writeFile(bytes));
    await file.sync();
    return exported;
  } finally {
    await file.close();
  }
}

/** All lines in one file; in Markdown that only names those of memories, which have a file each. */
async function writeFolder(daemon: DaemonClient, options: ExportOptions, partial: string): Promise<Exported> {
  await mkdir(partial, { recursive: true, mode: 0o700 });
  const index = await open(join(partial, FOLDER_INDEX), "wx", 0o600);
  const folders = new Set<string>();
  const documents: NamedOriginal[] = [];
  let end: Exported["end"] | undefined;
  let namesUsers = false;
  let records = 0;
  try {
    for await (const line of textLines(daemon.read(addressOf(options)), MAX_EXPORTED_LINE_BYTES)) {
      if ("fault" in line) throw cutOff();
      const value = jsonOf(line.text) as { readonly type?: string } | undefined;
      namesUsers ||= line.text.includes(USER_FIELD);
      if (Value.Check(EndLine, value)) end = value;
      if (Value.Check(NamedOriginal, value)) documents.push({ id: value.id, sha256: value.sha256 });
      if (options.format !== "markdown" || value?.type !== "memory") {
        await index.writeFile(`${line.text}\n`);
        continue;
      }
      const memory = value as Static<typeof MemoryLine>;
      const file = notePath(memory);
      const folder = dirname(join(partial, file));
      if (!folders.has(folder)) await mkdir(folder, { recursive: true, mode: 0o700 });
      folders.add(folder);
      await writeFile(join(partial, file), noteText(memory), { flag: "wx", mode: 0o600 });
      await index.writeFile(`${JSON.stringify({ type: "memory", file })}\n`);
      records += 1;
      if (records % SHOW_EVERY_RECORDS === 0) showProgress(`${records} memories`);
    }
  } finally {
    await index.close();
  }
  if (end === undefined) throw cutOff();
  if (options.originals === true) await writeOriginals(daemon, documents, partial);
  return { end, namesUsers };
}

function tellHowItComesBack(
  { end: { documents }, namesUsers }: Exported,
  { originals }: { readonly originals: boolean },
): void {
  if (documents > 0 && !originals) {
    complain(
      `The originals of ${plural(documents, "document")} are not in it; export to a folder with --originals to have them too.`,
    );
  }
  if (namesUsers)
    complain("It says whose records are: `memoryd import --keep-users` brings them back to their users.");
}

function cutOff(): CliFailure {
  return new CliFailure(
    "The export was cut off; nothing was left behind. Look at `memoryd status`, and export again.",
  );
}
