import { resolve } from "node:path";
import { type Settings, settingsBelow } from "../../config.ts";
import { ServiceError } from "../../core/errors.ts";
import { checkMove, finishMove, moveStore } from "../../move-data.ts";
import { claimStart } from "../../start-claim.ts";
import { CliFailure } from "../cli-failure.ts";
import { findDaemon } from "../daemon-client.ts";
import { complain, print, printTable, showProgress } from "../output.ts";
import { startedRows, withRightToStart } from "../restart.ts";
import { planStartAgain, type StartAgain } from "../start-again.ts";
import { stopDaemon } from "../stop.ts";

const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Moves a data directory. A daemon that runs is stopped first and started again afterwards, whatever came of it. */
export async function moveData(settings: Settings, folder: string): Promise<void> {
  const from = settings.dataDir;
  const to = resolve(folder);
  if ((await checkMove(from, to)).isHere) return await sayItIsThere(from);
  const daemon = await findDaemon(from);
  refuseSettingsBelow(from, { ...settings, ...daemon?.runtime.startedWith?.flags });
  const again = daemon && planStartAgain(settings, daemon);

  await withRightToStart(from, async () => {
    if (daemon !== undefined) await stopDaemon(daemon, settings);
    try {
      await moveStopped(from, to);
    } catch (error) {
      if (again !== undefined) await startAfterFailure(again);
      throw failure(error, to);
    }
    if (again !== undefined) await startThere(again, to);
  });
}

async function sayItIsThere(place: string): Promise<void> {
  const isFinished = await finishMove(place);
  print(
    isFinished
      ? `Everything is in ${place} now; what an interrupted move had left in the old place is removed.`
      : `Everything is in ${place} already.`,
  );
}

async function moveStopped(from: string, to: string): Promise<void> {
  const interrupt = new AbortController();
  const abort = (): void => interrupt.abort(new CliFailure("Interrupted; nothing was changed."));
  for (const signal of STOP_SIGNALS) process.on(signal, abort);
  const begun = performance.now();
  try {
    const { files, bytes, copiedBytes, left, mark } = await moveStore(from, to, {
      signal: interrupt.signal,
      onProgress: (progress) =>
        showProgress(`moving, ${inMegabytes(progress.bytes)} of ${inMegabytes(progress.totalBytes)} MB`),
    });
    showProgress("");
    print(`Everything is in ${to} now.`);
    printTable([
      ["files", `${files}, ${inMegabytes(bytes)} MB`],
      ["copied", copiedBytes === 0 ? "nothing, it is the same disk" : `${inMegabytes(copiedBytes)} MB, and compared`],
      ["took", `${((performance.now() - begun) / 1_000).toFixed(1)} s`],
    ]);
    for (const path of left) complain(`${path} is not as it is in the new place, and was left there.`);
    print(
      `\nNothing else has to be changed: whatever names ${from}, be it an option, a variable, the service or an agent, is led there by ${mark}. Keep that file.`,
    );
  } finally {
    showProgress("");
    for (const signal of STOP_SIGNALS) process.off(signal, abort);
  }
}

/** Agents see at once that there is no daemon, and where it would be. */
async function startThere(again: StartAgain, to: string): Promise<void> {
  const claim = await claimStart(to);
  if (claim === undefined) return print("\nAn agent is starting memoryd there at this moment.");
  try {
    const started = await again.start();
    print(`\nmemoryd is ready again${again.keeper === undefined ? "" : `, started by ${again.keeper}`}`);
    printTable(startedRows(started, to));
  } finally {
    await claim.release();
  }
}

async function startAfterFailure(again: StartAgain): Promise<void> {
  try {
    await again.start();
    complain("memoryd was started again.");
  } catch (error) {
    complain(error instanceof Error ? error.message : String(error));
  }
}

/** They would be moved as well, and then not be found. */
function refuseSettingsBelow(folder: string, settings: Readonly<Record<string, unknown>>): void {
  const names = settingsBelow(folder, settings);
  if (names.length === 0) return;
  const paths = names.map((name) => `"${name}" (${String(settings[name])})`).join(" and ");
  throw new CliFailure(
    `The setting ${paths} names something inside of ${folder}, which would move. Put it elsewhere and change the setting first. Nothing was changed.`,
  );
}

function failure(error: unknown, to: string): Error {
  if (error instanceof CliFailure || error instanceof ServiceError) return error;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const message = error instanceof Error ? error.message : String(error);
  const reasons: Readonly<Record<string, string>> = {
    ENOSPC: `the disk of ${to} is full`,
    EDQUOT: `the disk of ${to} is full for you`,
    EROFS: `a disk can only be read (${message})`,
    EACCES: `something may not be read or written (${message})`,
    EPERM: `something may not be read or written (${message})`,
    EIO: `a disk does not work as it should (${message})`,
  };
  const reason = reasons[String(code)] ?? message;
  return new CliFailure(
    `The move failed: ${reason}. The same command tries again; \`memoryd data path\` says where everything is.`,
    { cause: error },
  );
}

function inMegabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
