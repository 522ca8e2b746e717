import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * Tells one process from every other, also from a later one with its pid. Start time and boot id are null where
 * the system does not say:
 *
 * - Linux: both, from /proc.
 * - macOS: both, from `ps` and `sysctl`, which are part of the system.
 * - Windows and others: neither. A pid that was given to another process then passes for the first one.
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** In the system's own words; only ever compared with another of the same host and boot. */
  readonly startTime: string | null;
  readonly bootId: string | null;
  readonly host: string;
}

export async function ownIdentity(): Promise<ProcessIdentity> {
  const { pid } = process;
  return { pid, startTime: await startTimeOf(pid), bootId: await bootId(), host: hostname() };
}

/**
 * Whether the process is certainly gone. False where that cannot be known: on another host, or where the system
 * does not say when a process started and one of that pid is there.
 */
export async function hasEnded(other: ProcessIdentity, own: ProcessIdentity): Promise<boolean> {
  if (other.host !== own.host) return false;
  if (other.bootId !== null && own.bootId !== null && other.bootId !== own.bootId) return true;
  if (!isThere(other.pid)) return true;
  const startTime = await startTimeOf(other.pid);
  if (startTime === ENDED) return true;
  return other.startTime !== null && startTime !== null && other.startTime !== startTime;
}

/** A process that has ended and whose parent has not asked about it yet. */
const ENDED = "ended";

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: another user's.
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}

async function startTimeOf(pid: number): Promise<string | null> {
  try {
    if (process.platform === "linux") return startTimeIn(await readFile(`/proc/${pid}/stat`, "utf8"));
    if (process.platform === "darwin") {
      const { stdout } = await run("/bin/ps", ["-o", "lstart=", "-p", String(pid)], {
        env: { LC_ALL: "C", TZ: "UTC" },
      });
      return stdout.trim() || null;
    }
  } catch {
    // Ended in the meantime, or hidden from this user: the pid alone must do.
  }
  return null;
}

/** Field 22 of /proc/PID/stat, in ticks since the boot; see proc(5). The name in field 2 may hold spaces and brackets. */
function startTimeIn(stat: string): string | null {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const state = fields[0];
  if (state === "Z" || state === "X") return ENDED;
  return fields[19] ?? null;
}

async function bootId(): Promise<string | null> {
  try {
    if (process.platform === "linux")
      return (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
    if (process.platform === "darwin") {
      return (await run("/usr/sbin/sysctl", ["-n", "kern.bootsessionuuid"])).stdout.trim() || null;
    }
  } catch {
    // A system that hides it: stale locks are then told by pid and start time.
  }
  return null;
}
