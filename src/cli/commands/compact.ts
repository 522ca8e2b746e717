import { setTimeout as wait } from "node:timers/promises";
import type { Command } from "commander";
import { type Compaction, MemorydError } from "../../client/client.ts";
import { addCommand, type Flags, settingsOf } from "../output/options.ts";
import {
  minute,
  CliFailure,
  inBytes,
  leaveToDaemon,
  plural,
  print,
  printJson,
  printTable,
  showProgress,
  usageFailure,
} from "../output/output.ts";
import type { Daemon } from "../connect.ts";
import { printCopies } from "./users.ts";

type Finished = NonNullable<Compaction["last"]>;

const POLL_MS = 250;

export function addCompactCommand(memoryd: Command): void {
  addCommand(memoryd, "compact", "erase deleted data from the disk, or say how much waits for it")
    .option("--now", "erase it now")
    .option("--backups", "then replace all backups of the store by a new one")
    .option("--json", "print JSON")
    .action(compact);
}

async function compact(flags: Flags): Promise<void> {
  const { now = false, json = false, backups = false } = flags;
  if (backups && !now) throw usageFailure("Backups are replaced by a purge: give --now too.");
  const daemon = await (await import("../mcp/daemon-link.ts")).connectOrStart(flags, "reading");
  if (!now) return await sayWhatWaits(daemon, json, settingsOf(flags).compactAfterMinutes);
  const finished = await compactInDaemon(daemon, backups);
  showProgress("");
  if (finished.problem !== undefined) throw new CliFailure(finished.problem);
  if (json) printJson(finished);
  else {
    printReport(finished);
    printCopies(finished.backups, "--backups makes a new one in their place");
  }
}

async function sayWhatWaits(daemon: Daemon, json: boolean, compactAfterMinutes: number): Promise<void> {
  const status = await daemon.api.compaction.status();
  if (json) return printJson(status);
  if (status.running !== undefined) print(`erasing: ${inWords(status.running)}`);
  else if (status.waiting === undefined) print("nothing that was deleted is left on the disk");
  else {
    const when =
      compactAfterMinutes === 0 ? "" : `, ${plural(compactAfterMinutes, "minute")} after that by itself, or`;
    const isOne = status.waiting.items === 1;
    print(
      `${status.waiting.items} deleted or replaced since ${minute(status.waiting.since)} ${isOne ? "is" : "are"} left on the disk; ` +
        `${isOne ? "it goes" : "they go"}${when} with \`memoryd compact --now\``,
    );
  }
}

/** Resolves when everything that was deleted before the call is gone, also if an earlier purge was running. */
async function compactInDaemon(daemon: Daemon, backups: boolean): Promise<Finished> {
  leaveToDaemon("`memoryd compact` says how far it is.");
  for (;;) {
    const { started } = await daemon.api.compaction.start({ backups }).catch((error: unknown) => {
      // The purge that runs leaves backups as they are: the next one is ours.
      if (error instanceof MemorydError && error.code === "CONFLICT") return { started: false };
      throw error;
    });
    const status = await untilDone(daemon);
    const { last, waiting } = status;
    if (!started && (waiting !== undefined || backups)) continue;
    if (last !== undefined) return last;
    throw new CliFailure("The daemon stopped before it had finished; start it and try again.");
  }
}

async function untilDone(daemon: Daemon): Promise<Compaction> {
  for (;;) {
    const status = await daemon.api.compaction.status();
    if (status.running === undefined) return status;
    showProgress(inWords(status.running));
    await wait(POLL_MS);
  }
}

function inWords(progress: Pick<NonNullable<Compaction["running"]>, "stage" | "done" | "total">) {
  const { stage, done, total } = progress;
  return stage === "copying" ? `copying what stays, ${done} of ${plural(total, "row")}` : stage;
}

function printReport({ took_ms, tables = [], journal, originals }: Finished): void {
  const parts = [...tables, ...(journal ? [journal] : [])];
  const bytes = (when: "before" | "after") => parts.reduce((sum, part) => sum + part[when].bytes, 0);
  print(
    `what was deleted is erased; ${inBytes(bytes("before") + (originals?.bytes ?? 0))} became ` +
      `${inBytes(bytes("after"))} in ${(took_ms / 1_000).toFixed(1)} s`,
  );
  const change = (was: { bytes: number; files: number }, is: { bytes: number; files: number }) =>
    `${inBytes(was.bytes)} in ${plural(was.files, "file")} became ${inBytes(is.bytes)} in ${is.files}`;
  printTable([
    ...tables.map(
      ({ table, rows, before, after }) =>
        [table, `${plural(rows, "deleted or replaced row")} went; ${change(before, after)}`] as const,
    ),
    ["journal", journal && change(journal.before, journal.after)],
    ["originals", originals && `${plural(originals.files, "file")} of ${inBytes(originals.bytes)} went`],
  ]);
}
