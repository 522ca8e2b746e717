import { type Command, Option } from "commander";
import { type DaemonOptions, settingsOf, withDataDir } from "./daemon-options.ts";
import type { ExportOptions } from "./export.ts";
import type { ImportOptions } from "./import.ts";
import { IMPORT_FORMATS } from "./import/import-format.ts";
import { project, projectOrNone, tags, userId } from "./option-values.ts";

export function addTransferCommands(memoryd: Command): void {
  withDataDir(
    memoryd
      .command("import")
      .description("bring memories from ChatGPT, Claude, notes, tables or another memoryd"),
  )
    .argument("<path>", "the file or folder; an archive is read as it is, nothing is unpacked")
    .addOption(new Option("--format <name>", "what it is, where that cannot be told").choices(IMPORT_FORMATS))
    .option("-u, --user <id>", "whose memories they become, whatever the file says", userId)
    .option("-p, --project <name>", "the project they come to belong to", project)
    .option("-t, --tag <tag>", "a tag they get besides their own; may be given several times", tags)
    .option("--keep-users", "believe a file that says whose a memory is")
    .option("--all-branches", "of ChatGPT also what was edited or answered anew")
    .option("--dry-run", "say what would be added and what not, and send nothing")
    .option("--strict", "stop at the first record that cannot be read")
    .option("--json", "print the summary as JSON")
    .action(async (path: string, options: DaemonOptions & ImportOptions) => {
      const { importFrom } = await import("./import.ts");
      return await importFrom(settingsOf(options).dataDir, path, options);
    });

  withDataDir(
    memoryd
      .command("export")
      .description("write out memories, documents and facts, for `memoryd import` to read back"),
  )
    .addOption(
      new Option("--format <name>", "ndjson (one file) or markdown (a folder)").choices([
        "ndjson",
        "markdown",
      ]),
    )
    .option("-o, --out <path>", "the file or folder; standard output if absent")
    .option("-u, --user <id>", "only this user's", userId)
    .option("-p, --project <name>", 'only those of this project; "" for none', projectOrNone)
    .option("--no-waypoints", "leave out the links between memories")
    .option("--originals", "with the files that documents were made of, in a folder")
    .option("--force", "replace an export that is there")
    .action(async (options: DaemonOptions & ExportOptions) => {
      const { exportTo } = await import("./export.ts");
      return await exportTo(settingsOf(options).dataDir, options);
    });
}
