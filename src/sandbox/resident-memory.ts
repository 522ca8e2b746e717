import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const MEASURE_EVERY_MS = 50;
/** Where each measurement starts a program. */
const MEASURE_SELDOM_MS = 500;
const BYTES_PER_KILOBYTE = 1_024;

/**
 * Watches the resident memory of a process and its children until the signal, and calls `onPassed` once when it is above the
 * limit. For programs that cannot watch themselves. On Windows nothing is watched.
 */
export async function watchMemory(
  pid: number,
  maxBytes: number,
  signal: AbortSignal,
  onPassed: () => void,
): Promise<void> {
  if (process.platform === "win32") return;
  const isLinux = process.platform === "linux";
  while (!signal.aborted) {
    const bytes = isLinux ? residentBytes(pid) : await residentBytesByPs(pid);
    if (bytes > maxBytes) return onPassed();
    await sleep(isLinux ? MEASURE_EVERY_MS : MEASURE_SELDOM_MS, undefined, { signal, ref: false }).catch(
      () => undefined,
    );
  }
}

/** Resident bytes of a process and its descendants; 0 for one that is gone. Linux only. */
export function residentBytes(pid: number): number {
  const proc = (file: string): string => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, "latin1");
    } catch {
      return "";
    }
  };
  const own = Number(/^VmRSS:\s*(\d+) kB/m.exec(proc("status"))?.[1] ?? 0) * BYTES_PER_KILOBYTE;
  const children = proc(`task/${pid}/children`).split(" ").filter(Boolean);
  return children.reduce((sum, child) => sum + residentBytes(Number(child)), own);
}

/** No walls stand where there is no /proc: the program itself is the process. */
async function residentBytesByPs(pid: number): Promise<number> {
  const { stdout } = await promisify(execFile)("ps", ["-o", "rss=", "-p", String(pid)]).catch(() => ({
    stdout: "",
  }));
  return Number(stdout) * BYTES_PER_KILOBYTE;
}
