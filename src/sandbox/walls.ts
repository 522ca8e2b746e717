import { type ChildProcess, execFile } from "node:child_process";
import { promisify } from "node:util";

/** A program that starts another one without a network, where it can see and signal no process but its own. */
export interface Walls {
  readonly by: "bubblewrap" | "namespaces";
  /** Put before the command that is to run behind the walls. It ends with this process, and its child with it. */
  readonly command: readonly [program: string, ...args: string[]];
}

/**
 * The best first. Both keep a process of their own as the first of the new namespace: the kernel would ignore a SIGKILL that
 * the first one, such as a watchdog's, sends to itself.
 */
export const WALLS: readonly Walls[] = [
  {
    by: "bubblewrap",
    // Files can be read as before, and none written. No session of its own, which the group that is killed would not
    // hold: the group itself was started without a terminal.
    command: [
      "bwrap",
      ..."--unshare-all --die-with-parent --cap-drop ALL --ro-bind / / --dev /dev --proc /proc --".split(" "),
    ],
  },
  {
    by: "namespaces",
    command: [
      "setpriv",
      ..."--pdeathsig KILL -- unshare --user --map-current-user --net --ipc --pid --fork --kill-child --mount-proc".split(
        " ",
      ),
      "sh",
      "-c",
      '"$0" "$@"; exit $?',
    ],
  },
];

const MAX_DETECTION_MS = 5_000;

let detected: Promise<Walls | undefined> | undefined;

/** The walls that this system offers; undefined for none. Detected once, and again after a detection that took too long. */
export function standingWalls(): Promise<Walls | undefined> {
  detected ??= findWalls();
  return detected;
}

async function findWalls(): Promise<Walls | undefined> {
  if (process.platform !== "linux") return undefined;
  for (const walls of WALLS) {
    const found = await canStand(walls);
    // A busy machine says nothing of what the system offers.
    if (found === undefined) detected = undefined;
    if (found === true) return walls;
  }
  return undefined;
}

/** Whether a program runs behind them: they may be missing, or forbidden by the system. Undefined after `timeout` ms. */
export async function canStand(walls: Walls, timeout = MAX_DETECTION_MS): Promise<boolean | undefined> {
  const [program, ...args] = behind(walls, process.execPath, ["--version"]);
  // Without an environment only the folders of the system are searched.
  return await promisify(execFile)(program, args, { env: {}, timeout }).then(
    () => true,
    (error: { readonly killed?: boolean }) => (error.killed === true ? undefined : false),
  );
}

/**
 * Ends a process that was started as a group (`detached`), with all that is in it: killed while it builds the walls, bubblewrap
 * alone would leave a child that waits for it for ever.
 */
export function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
  } catch {
    // No group where the system has none, or all of it is gone.
  }
  child.kill("SIGKILL");
}

/** The command that runs a program behind the walls, or as it is where there are none. */
export function behind(
  walls: Walls | undefined,
  program: string,
  args: readonly string[],
): readonly [program: string, ...args: string[]] {
  return walls === undefined ? [program, ...args] : [...walls.command, program, ...args];
}
