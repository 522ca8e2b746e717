import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import {
  isWithin,
  readWatchedFolders,
  readWatchStatus,
  type WatchedFolder,
  writeWatchedFolders,
} from "../../files/watched-folders.ts";
import { present } from "../../schemas/wire.ts";
import { findDaemon } from "../connect.ts";
import * as options from "../output/options.ts";
import { CliFailure, complain, oneLine, plural, print, printJson } from "../output/output.ts";

const { addCommand, settingsOf } = options;
const MAX_FAILURES_SHOWN = 5;

type Flags = options.Flags;

/** The list of watched folders is a file of the data directory: no request over HTTP changes it. */
export function addWatchCommands(memoryd: Command): void {
  const watch = memoryd
    .command("watch")
    .description("follow folders: their files become documents, and stay so");
  options
    .withNewOwner(addCommand(watch, "add", "follow a folder, now and after restarts"), "documents")
    .argument("<folder>", "a folder; .gitignore applies")
    .option("-t, --tag <tag>", "add a tag; may be given several times", options.tags)
    .option("-l, --language <tag>", "name the language of recordings, such as en (default: detected)")
    .action(add);
  addCommand(watch, "list", "list the followed folders and what could not be ingested")
    .option("--json", "print JSON")
    .action(list);
  addCommand(watch, "remove", "follow a folder no longer; its documents stay")
    .argument("<folder>", "a followed folder")
    .action(remove);
}

async function add(given: string, flags: Flags): Promise<void> {
  const { dataDir } = settingsOf(flags);
  const path = folderAt(given);
  if (isWithin(realpathSync(dataDir), path))
    throw new CliFailure(`${path} lies in the data directory of memoryd; follow another folder.`);
  const folders = readWatchedFolders(dataDir);
  if (folders.some((folder) => folder.path === path))
    throw new CliFailure(`${path} is followed already; \`memoryd watch remove\` it first to change how.`);
  const { user, project, tag, language } = flags;
  const around = folders.find((folder) => isWithin(folder.path, path) || isWithin(path, folder.path));
  if (around !== undefined) {
    const place = isWithin(around.path, path) ? `lies in ${around.path}` : `holds ${around.path}`;
    if (around.user === user && around.project === project)
      throw new CliFailure(
        `${path} ${place}, which is followed; follow one of them: \`memoryd watch remove\` the other.`,
      );
    complain(
      `${path} ${place}, which is followed for another user or project; files in both become documents of each.`,
    );
  }
  const folder: WatchedFolder = { path, ...present({ user, project, tag, language }) };
  writeWatchedFolders(dataDir, [...folders, folder]);
  print(`follows ${path}`);
  if ((await findDaemon(dataDir)) === undefined)
    complain("memoryd is not running; it follows the folder from its next start on.");
}

function folderAt(given: string): string {
  try {
    const path = realpathSync(resolve(given));
    if (statSync(path).isDirectory()) return path;
  } catch {
    throw new CliFailure(`There is no folder ${given}.`);
  }
  throw new CliFailure(`${given} is no folder; \`memoryd ingest\` takes files.`);
}

function list(flags: Flags): void {
  const { dataDir } = settingsOf(flags);
  const folders = readWatchedFolders(dataDir);
  const status = readWatchStatus(dataDir);
  if (flags.json === true)
    return printJson(
      folders.map((folder) => ({ ...folder, ...(status[folder.path] ?? { state: "waiting" }) })),
    );
  if (folders.length === 0) return print("No folder is followed; `memoryd watch add FOLDER` adds one.");
  for (const { path, user, project } of folders) {
    const owner = [
      user === undefined ? "" : `user ${user}`,
      project === undefined ? "" : `project ${project}`,
    ];
    const { state, files = 0, waiting = 0, kept = 0, failed = [] } = status[path] ?? {};
    const words =
      state === undefined
        ? "not looked at yet"
        : state === "kept"
          ? `gone, or its files are; ${plural(kept, "document")} of them stay`
          : `${plural(files, "file")}${waiting === 0 ? "" : `, ${waiting} of them still to be ingested`}`;
    print([oneLine(path), ...owner, words].filter(Boolean).join("  "));
    for (const { path: file, reason } of failed.slice(0, MAX_FAILURES_SHOWN))
      print(`  failed ${oneLine(file)}: ${oneLine(reason)}`);
    if (failed.length > MAX_FAILURES_SHOWN)
      print(`  … and ${failed.length - MAX_FAILURES_SHOWN} more; --json lists them`);
  }
}

function remove(given: string, flags: Flags): void {
  const { dataDir } = settingsOf(flags);
  const folders = readWatchedFolders(dataDir);
  const path = resolve(given);
  // A folder that is gone has no real path any more.
  const real = statSync(path, { throwIfNoEntry: false }) === undefined ? path : realpathSync(path);
  const left = folders.filter((folder) => folder.path !== path && folder.path !== real);
  if (left.length === folders.length)
    throw new CliFailure(`${given} is not followed; \`memoryd watch list\` says which folders are.`);
  writeWatchedFolders(dataDir, left);
  print(`follows ${real} no longer; its documents stay`);
}
