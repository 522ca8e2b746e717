import { destination, pino, stdTimeFunctions, type Logger } from "pino";
import type { Settings } from "../config/config.ts";
import type { LineSink } from "./rotating-log.ts";

/**
 * One line of JSON a message: a constant phrase, and an object with what varies. Never the text of a memory, a query,
 * a fact, a file name or a key.
 */
export type { Logger };

/**
 * Logs to standard error, as standard output belongs to answers, or to a sink. A line is written before the call
 * returns, so the last one before an exit is not lost.
 */
export function createLogger(level: Settings["logLevel"], sink?: LineSink): Logger {
  return pino(
    { level, base: null, timestamp: stdTimeFunctions.isoTime },
    sink ?? destination({ dest: 2, sync: true }),
  );
}
