import { constants, setPriority } from "node:os";

/** Lets questions be answered while that process works: they come first where both want the processor. */
export function lowerPriority(pid: number = process.pid): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // A courtesy that some systems refuse.
  }
}
