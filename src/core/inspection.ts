/** The settings that the daemon runs with, and its log, for an operator. */

type ShownValue = string | number | readonly string[];

export interface ShownSetting {
  /** The key in the configuration file. */
  readonly name: string;
  readonly flag: string;
  readonly variable: string;
  readonly description: string;
  /** Addresses are shown without credentials and query. */
  readonly value: ShownValue;
  readonly default: ShownValue;
  readonly source: "flag" | "variable" | "file" | "default";
  /** The flag, the variable, or the path of the file; null for a default. */
  readonly from: string | null;
}

/** A secret never leaves the daemon: only whether it is set is known. */
export interface ShownSecret {
  readonly name: string;
  /** The variable, or the path of the file, that it was read from; null where it is not set. */
  readonly from: string | null;
}

export interface ShownSettings {
  readonly items: readonly ShownSetting[];
  readonly secrets: readonly ShownSecret[];
  /** The configuration file that was read; null where there was none. */
  readonly configFile: string | null;
}

export const LOG_LEVELS_SHOWN = ["debug", "info", "warn", "error"] as const;
export type ShownLogLevel = (typeof LOG_LEVELS_SHOWN)[number];

export interface LogLine {
  /** Null of a line that is not whole, after a crash for example. */
  readonly at: number | null;
  /** `fatal` counts as `error`. */
  readonly level: ShownLogLevel | null;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface LogEnd {
  /** Oldest first. */
  readonly items: readonly LogLine[];
  /** The file that is read; null where the daemon logs to standard error. */
  readonly file: string | null;
  /** Whether older lines, which were not read, may match too. */
  readonly hasMore: boolean;
}

export interface InspectOperations {
  readonly settings: ShownSettings;
  /** The most notes, facts and documents that an agent may add per hour. */
  readonly agentAddsPerHour: number;
  /** The most requests of a key per minute; null: there is no limit. */
  readonly requestsPerMinute: number | null;
  /**
   * The last lines of the log of at least that level. Reads a bounded part of its end.
   * @param options.limit lines at most.
   */
  readLog(options: { readonly limit: number; readonly level: ShownLogLevel }): Promise<LogEnd>;
}
