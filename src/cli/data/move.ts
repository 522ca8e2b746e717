import { resolve } from "node:path";
import { type Settings, settingsBelow } from "../../config.ts";
import { ServiceError } from "../../core/errors.ts";
import { checkMove, finishMove, type MovedStore, moveStore, withRightThere } from "../../move-data.ts";
import { CliFailure } from "../cli-failure.ts";
import { type DaemonClient, findDaemon } from "../daemon-client.ts";
import { complain, print, printTable, showProgress } from "../output.ts";
import { startedRows, withRightToStart } from "../restart.ts";
import { planStartAgain, type StartAgain } from "../start-again.ts";
import { stopDaemon } from "../stop.ts";

const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Moves a data directory. A daemon that runs is stopped first and started again afterwards, whatever came of it. */
export async function moveData(settings: Settings, folder: string): Promise<void> {
  const from = settings.dataDir;
  const to = resolve(folder);
  const target = await checkMove(from, to);
  if (target.isHere) return await sayItIsThere(from);
  const daemon = await findDaemon(from);
  refuseSettingsBelow(from, { ...settings, ...daemon?.runtime.startedWith?.flags });
  const again = daemon && planStartAgain(settings, daemon);

  // Agents have no turn in either place until the daemon is there again.
  const move = async (): Promise<Outcome> => {
    if (daemon !== undefined) await stopDaemon(daemon, settings);
    let moved: TimedMove;
    try {
      moved = await moveStopped(from, to);
    } catch (error) {
      if (again !== undefined) await startAfterFailure(again);
      throw failure(error, to);
    }
    return { moved, started: again && (await startThere(again)) };
  };
  // What is said comes last: a reader of it that goes (`| head -1`) ends this process.
  const { moved, started } = await withRightToStart(from, () => withRightThere(to, target, move));
  sayItHasMoved(moved, from, to);
  if (started instanceof Error) throw started;
  if (started === undefined) return;
  print(`\nmemoryd is ready again${again?.keeper === undefined ? "" : `, started by ${again.keeper}`}`);
  printTable(startedRows(started, to));
}

interface TimedMove extends MovedStore {
  readonly milliseconds: number;
}

interface Outcome {
  readonly moved: TimedMove;
  /** The daemon that was started again, or why it was not; undefined where none ran. */
  readonly started: DaemonClient | Error | undefined;
}

async function sayItIsThere(place: string): Promise<void> {
  const isFinished = await finishMove(place);
  print(
    isFinished
      ? `Everything is in ${place} now; what an interrupted move had left in the old place is removed.`
      : `Everything is in ${place} already.`,
  );
}

async function moveStopped(from: string, to: string): Promise<TimedMove> {
  const interrupt = new AbortController();
  const abort = (): void => interrupt.abort(new CliFailure("Interrupted; nothing was changed."));
  for (const signal of STOP_SIGNALS) process.on(signal, abort);
  const begun = performance.now();
  try {
    const moved = await moveStore(from, to, {
      signal: interrupt.signal,
      onProgress: (progress) =>
        showProgress(`moving, ${inMegabytes(progress.bytes)} of ${inMegabytes(progress.totalBytes)} MB`),
    });
    return { ...moved, milliseconds: performance.now() - begun };
  } finally {
    showProgress("");
    for (const signal of STOP_SIGNALS) process.off(signal, abort);
  }
}

function sayItHasMoved(moved: TimedMove, from: string, to: string): void {
  const { files, bytes, copiedBytes, left, untold, mark, milliseconds } = moved;
  print(`Everything is in ${to} now.`);
  printTable([
    ["files", `${files}, ${inMegabytes(bytes)} MB`],
    ["copied", copiedBytes === 0 ? "nothing, it is the same disk" : `${inMegabytes(copiedBytes)} MB, and compared`],
    ["took", `${(milliseconds / 1_000).toFixed(1)} s`],
  ]);
  for (const path of left) complain(`${path} is not as it is in the new place, and was left there.`);
  for (const path of untold)
    complain(`${path}, of an earlier move, cannot be changed or is not there, and still leads where it did.`);
  print(
    `\nNothing else has to be changed: whatever names ${from}, be it an option, a variable, the service or an agent, is led there by ${mark}. Keep that file.`,
  );
}

async function startThere(again: StartAgain): Promise<DaemonClient | Error> {
  showProgress("starting memoryd again");
  try {
    return await again.start();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    showProgress("");
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
