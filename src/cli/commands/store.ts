import type { Command } from "commander";
import { readSettings, SETTINGS } from "../../config/config.ts";
import { print, usageFailure } from "../output/output.ts";
import { present } from "../../schemas/wire.ts";

interface PrepareFlags {
  readonly store?: string;
  readonly storePasswordFile?: string;
  readonly config?: string;
}

export function addStoreCommands(memoryd: Command): void {
  const store = memoryd.command("store").description("prepare a PostgreSQL database to hold the memories");
  const prepare = store
    .command("prepare")
    .description("make or migrate the tables of memoryd in the database; `memoryd start --store` needs them");
  for (const { name, flag, variable, description } of SETTINGS)
    if (name === "store" || name === "storePasswordFile")
      prepare.option(`${flag} <value>`, `${description} (${variable})`);
  prepare.option("--config <file>", "read settings from this file").action(prepareStore);
}

async function prepareStore({ config: configFile, ...flags }: PrepareFlags): Promise<void> {
  const settings = readSettings({ flags: present(flags) as Record<string, string>, configFile });
  if (settings.store === "") throw usageFailure("Name the database with --store.");
  // Loaded for this command alone.
  const { prepareDatabase } = await import("../../daemon/reach-database.ts");
  const { before, now } = await prepareDatabase(settings);
  if (before === now) print("The database was prepared already.");
  else print(before === 0 ? "The database is prepared." : `The tables are at version ${now} now.`);
}
