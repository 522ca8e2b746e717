import type { Command } from "commander";
import { readSettings, type Settings } from "../config.ts";

/** The flags that say which daemon to talk to. */
export interface DaemonOptions {
  readonly dataDir?: string;
  readonly config?: string;
}

export function withDataDir(command: Command): Command {
  return command
    .option("--data-dir <folder>", "data directory of the daemon to talk to (MEMORYD_DATA_DIR)")
    .option("--config <file>", "configuration file that names it");
}

export function settingsOf({ dataDir, config }: DaemonOptions): Settings {
  return readSettings({ flags: dataDir === undefined ? {} : { dataDir }, configFile: config });
}
