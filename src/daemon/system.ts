import { createHash } from "node:crypto";
import { setImmediate as turnOfOthers } from "node:timers/promises";
import { destination, type DestinationStream, type Logger, pino, stdTimeFunctions } from "pino";
import { v7 } from "uuid";
import type { Settings } from "../config/config.ts";
import type { Clock, IdSource } from "../core/ports.ts";

export const systemClock: Clock = { now: Date.now };

export const uuidSource: IdSource = { newId: (now) => v7({ msecs: now }) };

let lastTurn: Promise<void> = Promise.resolve();

/**
 * Resolves when others have had a turn of the event loop; of all that wait, one each turn. What asks at the same time would
 * else go on in one turn: eight long texts of a batch one right after the other.
 */
export const nextTurn = (): Promise<void> => (lastTurn = lastTurn.then(() => turnOfOthers()));

export const sha256 = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");

/** A constant phrase and an object with what varies: never text of memories, queries or facts, nor a key. */
export type { Logger };

/** Logs to a sink or to standard error; a line is written before the call returns. */
export function createLogger(level: Settings["logLevel"], sink?: DestinationStream): Logger {
  return pino(
    { level, base: null, timestamp: stdTimeFunctions.isoTime },
    sink ?? destination({ dest: 2, sync: true }),
  );
}
