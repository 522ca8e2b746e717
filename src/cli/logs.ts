import { existsSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { currentPlace } from "../move-data.ts";
import { logFileOf, logFilesOf } from "../rotating-log.ts";
import { CliFailure } from "./cli-failure.ts";
import { openLogTail } from "./log-tail.ts";
import { printBytes } from "./output.ts";

export interface LogsOptions {
  readonly follow?: boolean;
  /** How many lines of the past. */
  readonly lines?: number;
}

const USUAL_LINES = 50;
const POLL_MS = 250;

/** Prints the end of what the daemon of a data directory logged, and with `follow` what it logs from now on. */
export async function logs(
  dataDir: string,
  { follow = false, lines = USUAL_LINES }: LogsOptions,
): Promise<void> {
  if (!existsSync(logFileOf(dataDir)) && !follow)
    throw new CliFailure(
      `There is no log in ${dataDir}: a daemon that was started in a terminal logs there, one of \`memoryd start --detach\` or \`memoryd service\` here.`,
    );
  const tail = openLogTail(() => currentPlace(dataDir));
  await printBytes(Buffer.from(lastLines(dataDir, lines, tail.begunAt)));
  if (!follow) return tail.close();
  for (;;) {
    for (const bytes of tail.news()) await printBytes(bytes);
    await wait(POLL_MS);
  }
}

/**
 * The last lines of the logs of a data directory, the oldest first.
 *
 * @param size of the current log, as far as it is to be read.
 */
export function lastLines(dataDir: string, count: number, size = Infinity): string {
  const current = logFileOf(dataDir);
  let found: string[] = [];
  for (const file of logFilesOf(dataDir).reverse()) {
    if (found.length >= count || !existsSync(file)) continue;
    const bytes = readFileSync(file);
    const text = (file === current ? bytes.subarray(0, size) : bytes).toString("utf8");
    found = text
      .split(/(?<=\n)/)
      .filter((line) => line !== "")
      .concat(found);
  }
  return found.slice(Math.max(0, found.length - count)).join("");
}
