import { createHash } from "node:crypto";
import { setImmediate as turnOfOthers } from "node:timers/promises";
import { v7 } from "uuid";
import type { Clock, IdSource } from "../core/ports.ts";

export const systemClock: Clock = { now: Date.now };

export const uuidSource: IdSource = { newId: (now) => v7({ msecs: now }) };

let lastTurn: Promise<void> = Promise.resolve();

/**
 * Resolves when others have had a turn of the event loop; of all that wait, one each turn. What asks at the same time would
 * else go on in one turn: eight long texts of a batch one right after the other.
 */
export function nextTurn(): Promise<void> {
  return (lastTurn = lastTurn.then(() => turnOfOthers()));
}

export function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}
