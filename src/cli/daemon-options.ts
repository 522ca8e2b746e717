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

/**
 * The data directory for a program that will run without this one's variables and flags: that which these name. One that
 * the configuration file names is left out, because it may change.
 */
export function dataDirWords({ dataDir, config: configFile }: DaemonOptions): string[] {
  const flags = dataDir === undefined ? {} : { dataDir };
  const chosen = readSettings({ flags, configFile }).dataDir;
  const usual = readSettings({ configFile, env: {} }).dataDir;
  return chosen === usual ? [] : ["--data-dir", chosen];
}

export function settingsOf({ dataDir, config }: DaemonOptions): Settings {
  return readSettings({ flags: dataDir === undefined ? {} : { dataDir }, configFile: config });
}
