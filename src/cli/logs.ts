import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { logFileOf, logFilesOf } from "../rotating-log.ts";
import { CliFailure } from "./cli-failure.ts";
import { printBytes } from "./output.ts";

export interface LogsOptions {
  readonly follow?: boolean;
  /** How many lines of the past. */
  readonly lines?: number;
}

const USUAL_LINES = 50;
const POLL_MS = 250;
const CHUNK_BYTES = 64 * 1024;

/** Prints the end of what the daemon of a data directory logged, and with `follow` what it logs from now on. */
export async function logs(
  dataDir: string,
  { follow = false, lines = USUAL_LINES }: LogsOptions,
): Promise<void> {
  const file = logFileOf(dataDir);
  if (!existsSync(file) && !follow)
    throw new CliFailure(
      `There is no log in ${dataDir}: a daemon that was started in a terminal logs there, one of \`memoryd start --detach\` or \`memoryd service\` here.`,
    );
  // Asked first: what is written meanwhile is then printed twice at most once, and never missed.
  let offset = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  let number = statSync(file, { throwIfNoEntry: false })?.ino;
  await printBytes(Buffer.from(lastLines(dataDir, lines, offset)));

  if (!follow) return;
  for (;;) {
    await wait(POLL_MS);
    const now = statSync(file, { throwIfNoEntry: false });
    if (now === undefined) continue;
    // Set aside: the rest of it first, then the new one from its beginning.
    if (number !== undefined && now.ino !== number) {
      await printFrom(`${file}.1`, offset);
      offset = 0;
    }
    number = now.ino;
    if (now.size < offset) offset = 0;
    offset = await printFrom(file, offset);
  }
}

/** @param size of the current log, as far as it is to be read. */
function lastLines(dataDir: string, count: number, size: number): string {
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

/** Returns where it stopped. */
async function printFrom(path: string, offset: number): Promise<number> {
  if (!existsSync(path)) return offset;
  const file = openSync(path, "r");
  try {
    const end = fstatSync(file).size;
    let at = offset;
    while (at < end) {
      const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, end - at));
      const read = readSync(file, chunk, 0, chunk.length, at);
      if (read === 0) break;
      await printBytes(chunk.subarray(0, read));
      at += read;
    }
    return at;
  } finally {
    closeSync(file);
  }
}
