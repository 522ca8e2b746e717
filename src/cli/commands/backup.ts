import { basename, dirname, join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Command } from "commander";
import type { Backup } from "../../daemon/backup-service.ts";
import { formatTime, present } from "../../schemas/wire.ts";
import { type Daemon, findDaemon } from "../connect.ts";
import {
  CliFailure,
  complain,
  inBytes,
  leaveToDaemon,
  plural,
  print,
  printJson,
  printTable,
  showProgress,
  minute,
} from "../output/output.ts";
import { addCommand, type Flags, settingsOf, wholeNumber } from "../output/options.ts";

interface BackupFlags extends Flags {
  readonly to?: string;
  readonly name?: string;
  readonly keep?: number;
}

const POLL_MS = 250;
const SAME_DISK =
  "Backups on the disk of the data do not protect from its loss: name a folder on another one with --to, or with " +
  "`memoryd start --backup-to FOLDER`.";

/** `memoryd backup …` and `memoryd restore` */
export function addBackupCommands(memoryd: Command): void {
  const backup = withFolder(
    addCommand(memoryd, "backup", "copy the whole store, while it is used, and list or check such copies"),
  )
    .option("--name <name>", "name it (default: the time in UTC)")
    .option("--json", "print JSON")
    .action(create);
  withFolder(addCommand(backup, "list", "list backups, newest first"))
    .option("--json", "print JSON")
    .action(list);
  withFolder(addCommand(backup, "verify", "read every file of a backup and open its tables"))
    .argument("[name]", "the backup (default: the newest)")
    .option("--json", "print JSON")
    .action(verify);
  withFolder(addCommand(backup, "prune", "remove the oldest backups that are named by their time"))
    .requiredOption("--keep <number>", "how many stay", wholeNumber(1, 99_999))
    .option("--json", "print JSON")
    .action(prune);

  memoryd
    .command("restore")
    .description("make a new data directory of a backup")
    .argument("<backup>", "its name, or its folder")
    .requiredOption("--to <folder>", "the new data directory; it must be missing or empty")
    .option("--from <folder>", "the data directory that the backup is of, to find it by its name")
    .option("--config <file>", "read the folder of backups from this configuration file")
    .option("--json", "print JSON")
    .action(restore);
}

const withFolder = (command: Command): Command =>
  command.option("--to <folder>", "the folder of backups (default: that of the daemon; --backup-to)");

async function create(flags: BackupFlags): Promise<void> {
  const { connectOrStart } = await import("../mcp/daemon-link.ts");
  const backup = await createInDaemon(await connectOrStart(flags, "reading"), flags);
  showProgress("");
  if (flags.json === true) return printJson(recordOf(backup));
  print(
    `made ${backup.name}: ${plural(backup.memories, "memory")}, ${inBytes(backup.bytes)}, of which ` +
      `${inBytes(backup.addedBytes)} are new`,
  );
  if (backup.sharesDisk) complain(SAME_DISK);
}

async function createInDaemon(daemon: Daemon, { to, name }: BackupFlags): Promise<Backup> {
  const folder = to === undefined ? undefined : resolve(to);
  leaveToDaemon("`memoryd backup list` shows it when it is done.");
  const started = await daemon.api.backups.create(present({ name, folder }));
  for (;;) {
    const { running, last, folder: usual } = await daemon.api.backups.list();
    if (running?.name === started.name) {
      showProgress(inWords(running.done, running.total));
      await wait(POLL_MS);
      continue;
    }
    if (last?.name !== started.name)
      throw new CliFailure("The daemon stopped before the backup was made; start it and try again.");
    if (last.problem !== null) throw new CliFailure(last.problem);
    return await find(folder ?? usual, started.name);
  }
}

async function list(flags: BackupFlags): Promise<void> {
  const folder = await folderOf(flags);
  const { items, damaged } = await (await backupsIn(folder)).list();
  if (flags.json === true) return printJson({ folder, items: items.map(recordOf), damaged });
  printTable(
    items.map((backup) => [
      backup.name,
      `${minute(backup.createdAt)}  ${plural(backup.memories, "memory")}, ${inBytes(backup.bytes)} ` +
        `(${inBytes(backup.addedBytes)} new), found whole ${minute(backup.verifiedAt)}`,
    ]),
  );
  if (items.length === 0) print(`There are no backups in ${folder}; \`memoryd backup\` makes one.`);
  if (items.some(({ sharesDisk }) => sharesDisk)) complain(SAME_DISK);
  for (const sentence of damaged) complain(sentence);
}

async function verify(name: string | undefined, flags: BackupFlags): Promise<void> {
  const folder = await folderOf(flags);
  const backups = await backupsIn(folder);
  const wanted = name ?? (await backups.list()).items[0]?.name;
  if (wanted === undefined) throw new CliFailure(`There are no backups in ${folder}.`);
  const backup = await backups.verify(wanted);
  if (flags.json === true) printJson(recordOf(backup));
  else print(`${backup.name} is whole: ${plural(backup.memories, "memory")}, ${inBytes(backup.bytes)}`);
}

async function prune(flags: BackupFlags & { readonly keep: number }): Promise<void> {
  const folder = await folderOf(flags);
  const removed = await (await backupsIn(folder)).prune(flags.keep);
  if (flags.json === true) return printJson({ folder, removed });
  for (const name of removed) print(`removed ${name}`);
  if (removed.length === 0) print("Nothing to remove.");
}

interface RestoreFlags extends Flags {
  readonly to: string;
  readonly from?: string;
}

async function restore(backup: string, flags: RestoreFlags): Promise<void> {
  const isPath = /[\\/]/.test(backup);
  const folder = isPath
    ? dirname(resolve(backup))
    : await folderOf(present({ config: flags.config, dataDir: flags.from }));
  const target = resolve(flags.to);
  const { restore: restoreFrom } = await import("../../daemon/stopped-store.ts");
  const { createLogger } = await import("../../daemon/system.ts");
  const { memories, createdAt, erasedUsers } = await restoreFrom(join(folder, basename(backup)), target, {
    log: createLogger("error"),
    from: flags.from,
    onProgress: (done, total) => showProgress(inWords(done, total)),
  });
  showProgress("");
  if (flags.json === true)
    return printJson({
      data_dir: target,
      memories,
      created_at: formatTime(createdAt),
      erased_users: erasedUsers,
    });
  print(
    `restored ${plural(memories, "memory")} as of ${minute(createdAt)} to ${target}; ` +
      `\`memoryd start --data-dir ${target}\` serves it`,
  );
  if (erasedUsers > 0)
    print(`left out what was erased since then: the data of ${plural(erasedUsers, "user")}`);
}

/** The folder of backups: that of the flag, else that of the running daemon, else the configured one. */
async function folderOf({ to, ...flags }: BackupFlags): Promise<string> {
  if (to !== undefined) return resolve(to);
  const settings = settingsOf(flags);
  const daemon = await findDaemon(settings.dataDir);
  if (daemon !== undefined) return (await daemon.api.backups.list()).folder;
  return (await import("../../daemon/backup-service.ts")).backupFolder(settings);
}

async function backupsIn(folder: string) {
  return (await import("../../daemon/backup-service.ts")).backupsIn(folder);
}

async function find(folder: string, name: string): Promise<Backup> {
  const found = (await (await backupsIn(folder)).list()).items.find((backup) => backup.name === name);
  if (found === undefined) throw new CliFailure(`The backup ${name} is no longer in ${folder}.`);
  return found;
}

/** The record of `GET /backups`, made without the schemas, which load more slowly than the rest of the command. */
const recordOf = ({ storeId, createdAt, addedBytes, sharesDisk, verifiedAt, ...backup }: Backup) => ({
  ...backup,
  created_at: formatTime(createdAt),
  store_id: storeId,
  added_bytes: addedBytes,
  shares_disk: sharesDisk,
  verified_at: formatTime(verifiedAt),
});

const inWords = (done: number, total: number): string =>
  total === 0 ? "preparing" : `copying, ${inBytes(done)} of ${inBytes(total)}`;
