import { destination, pino, stdTimeFunctions, type Logger } from "pino";
import type { Settings } from "../config/config.ts";
import type { LineSink } from "./rotating-log.ts";

/** A constant phrase and an object with what varies: never text of memories, queries or facts, nor a key. */
export type { Logger };

/** Logs to a sink or to standard error; a line is written before the call returns. */
export function createLogger(level: Settings["logLevel"], sink?: LineSink): Logger {
  return pino(
    { level, base: null, timestamp: stdTimeFunctions.isoTime },
    sink ?? destination({ dest: 2, sync: true }),
  );
}
