import { execFile } from "node:child_process";
import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";
import { promisify } from "node:util";

/**
 * Tells one process from every other, also from a later one with its pid. Null where the system does not say:
 *
 * - Linux: all, from /proc.
 * - macOS: the boot id, from `sysctl`, which is part of the system.
 * - Windows and others: none of the three.
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** In the system's own words; only ever compared with another of the same host and boot. */
  readonly startTime: string | null;
  readonly bootId: string | null;
  readonly host: string;
  /** The pid's namespace; "" on systems without namespaces. */
  readonly pidNamespace: string | null;
}

export type Liveness = "alive" | "ended" | "unknown";

export async function ownIdentity(): Promise<ProcessIdentity> {
  const { pid } = process;
  const pidNamespace = await ownPidNamespace();
  return {
    pid,
    startTime: pidNamespace === null ? null : await startTimeOf(pid),
    bootId: await bootId(),
    host: hostname(),
    pidNamespace,
  };
}

/** Whether a process runs on this kernel. "ended": it ran here before the last boot. */
export function kernelOf(other: ProcessIdentity, own: ProcessIdentity): "same" | "ended" | "unknown" {
  const areBootsKnown = other.bootId !== null && own.bootId !== null;
  if (areBootsKnown && other.bootId === own.bootId) return "same";
  if (other.host !== own.host) return "unknown";
  return areBootsKnown ? "ended" : "same";
}

/** State of a pid on this kernel; unknown for pids of another or an unknown namespace. */
export async function livenessByPid(other: ProcessIdentity, own: ProcessIdentity): Promise<Liveness> {
  if (own.pidNamespace === null || other.pidNamespace !== own.pidNamespace) return "unknown";
  if (!isAlive(other.pid)) return "ended";
  const startTime = await startTimeOf(other.pid);
  if (startTime === ENDED) return "ended";
  if (other.startTime === null || startTime === null) return "unknown";
  return other.startTime === startTime ? "alive" : "ended";
}

/** A process that has ended and whose parent has not asked about it yet. */
const ENDED = "ended";

/** True while the process exists, be it another user's. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: another user's.
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}

/** Null also where /proc is that of another namespace: its pids are not those of this process. */
async function ownPidNamespace(): Promise<string | null> {
  if (process.platform !== "linux") return "";
  try {
    const [pid, namespace] = await Promise.all([readlink("/proc/self"), readlink("/proc/self/ns/pid")]);
    return pid === String(process.pid) ? namespace : null;
  } catch {
    return null;
  }
}

async function startTimeOf(pid: number): Promise<string | null> {
  if (process.platform !== "linux") return null;
  // Ended in the meantime, or hidden from this user.
  return startTimeIn(await readFile(`/proc/${pid}/stat`, "utf8").catch(() => ""));
}

/** Field 22 of /proc/PID/stat, in ticks since the boot; see proc(5). The name in field 2 may hold spaces and brackets. */
function startTimeIn(stat: string): string | null {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const state = fields[0];
  if (state === "Z" || state === "X") return ENDED;
  return fields[19] ?? null;
}

async function bootId(): Promise<string | null> {
  const sysctl = promisify(execFile);
  try {
    if (process.platform === "linux")
      return (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
    if (process.platform === "darwin")
      return (await sysctl("/usr/sbin/sysctl", ["-n", "kern.bootsessionuuid"])).stdout.trim() || null;
  } catch {
    // A system that hides it.
  }
  return null;
}
