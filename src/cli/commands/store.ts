import type { Command } from "commander";
import { readSettings, type Settings, SETTINGS } from "../../config/config.ts";
import { plural, print, showProgress, usageFailure } from "../output/output.ts";
import { userId, withSettings } from "../output/options.ts";
import { present } from "../../schemas/wire.ts";

interface StoreFlags {
  readonly store?: string;
  readonly storePasswordFile?: string;
  readonly config?: string;
}

interface MigrateFlags extends StoreFlags {
  readonly from: string;
  readonly nobodyAs?: string;
  readonly withoutDocuments?: boolean;
  readonly withoutKeys?: boolean;
}

export function addStoreCommands(memoryd: Command): void {
  const store = memoryd
    .command("store")
    .description("prepare a PostgreSQL database to hold memories, and fill it");
  withDatabase(store, "prepare")
    .description("make or migrate the tables of memoryd in the database; `memoryd start --store` needs them")
    .action(prepare);
  withDatabase(store, "migrate")
    .description(
      "copy the memories, facts and keys of a stopped daemon into the database; run it again to go on",
    )
    .requiredOption("--from <folder>", "the data directory to copy from, which stays as it is")
    .option("--nobody-as <user>", "give this user what has no user", userId)
    .option("--without-documents", "leave documents behind, which a database cannot hold yet")
    .option("--without-keys", "leave all keys behind")
    .action(migrate);
}

function withDatabase(store: Command, name: string): Command {
  const ofDatabase = SETTINGS.filter((each) => each.name === "store" || each.name === "storePasswordFile");
  const command = withSettings(store.command(name), ofDatabase);
  return command.option("--config <file>", "read settings from this file");
}

function settingsOf({ store, storePasswordFile, config: configFile }: StoreFlags): Settings {
  const settings = readSettings({ flags: present({ store, storePasswordFile }), configFile });
  if (settings.store === "") throw usageFailure("Name the database with --store.");
  return settings;
}

async function prepare(flags: StoreFlags): Promise<void> {
  const settings = settingsOf(flags);
  // Loaded for this command alone.
  const { prepareDatabase } = await import("../../daemon/reach-database.ts");
  const { before, now } = await prepareDatabase(settings);
  if (before === now) print("The database was prepared already.");
  else print(before === 0 ? "The database is prepared." : `The tables are at version ${now} now.`);
}

async function migrate(given: MigrateFlags): Promise<void> {
  const { from, nobodyAs, withoutDocuments = false, withoutKeys = false, ...flags } = given;
  const settings = settingsOf(flags);
  const { moveIn } = await import("../../daemon/move-in.ts");
  const { users, memories, facts, versions } = await moveIn(settings, from, {
    nobodyAs,
    withoutDocuments,
    withoutKeys,
    onProgress: (done, all) => showProgress(`${done} of ${plural(all, "user")}`),
  });
  showProgress("");
  print(
    `${plural(users, "user")}, ${plural(memories, "memory")}, ${plural(facts, "fact")} and ${plural(versions, "earlier version")} are in the database.`,
  );
}
