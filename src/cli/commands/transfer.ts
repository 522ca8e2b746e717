import { type Command, Option } from "commander";
import { IMPORT_FORMATS } from "../import/import-item.ts";
import * as options from "../output/options.ts";
import type { ExportFlags } from "./export.ts";
import type { ImportOptions } from "./import.ts";
import type { IngestOptions } from "../ingest/ingest.ts";

const { addCommand } = options;

export function addTransferCommands(memoryd: Command): void {
  options
    .withNewOwner(
      addCommand(memoryd, "ingest", "ingest documents: files, and folders with everything in them"),
      "documents",
    )
    .argument(
      "<path...>",
      "PDF, DOCX, HTML, Markdown, text, subtitles and recordings, or folders (.gitignore applies)",
    )
    .option("-t, --tag <tag>", "add a tag; may be given several times", options.tags)
    .option("-l, --language <tag>", "name the language of recordings, such as en (default: detected)")
    .option("-w, --watch", "go on looking for changes, and remove the documents of deleted files")
    .option("--json", "print the summary as JSON")
    .action(async (paths: string[], flags: IngestOptions) => {
      const { ingest } = await import("../ingest/ingest.ts");
      return await ingest(paths, flags);
    });

  options
    .withNewOwner(
      addCommand(memoryd, "import", "import memories from ChatGPT, Claude, notes, tables or another memoryd"),
      "memories",
    )
    .argument("<path>", "the file or folder; archives are read without unpacking")
    .addOption(new Option("--format <name>", "name the format (default: detected)").choices(IMPORT_FORMATS))
    .option("-t, --tag <tag>", "add a tag; may be given several times", options.tags)
    .option("--keep-users", "keep the users that the file names")
    .option("--all-branches", "import edited and regenerated messages of ChatGPT too")
    .option("--dry-run", "print what would be added and what not; send nothing")
    .option("--strict", "stop at the first record that cannot be read")
    .option("--json", "print the summary as JSON")
    .action(async (path: string, flags: ImportOptions) => {
      const { importFrom } = await import("./import.ts");
      return await importFrom(path, flags);
    });

  options
    .withOwner(
      addCommand(
        memoryd,
        "export",
        "export memories, documents and facts, for `memoryd import` to read back",
      ),
      "records",
    )
    .addOption(
      new Option("--format <name>", "write ndjson (one file) or markdown (a folder)").choices([
        "ndjson",
        "markdown",
      ]),
    )
    .option("-o, --out <path>", "write to this file or folder (default: standard output)")
    .option("--no-waypoints", "leave out the links between memories")
    .option("--originals", "write the files that documents were made of too, into a folder")
    .option("--force", "replace an export that is there")
    .action(async (flags: ExportFlags) => {
      const { exportTo } = await import("./export.ts");
      return await exportTo(flags);
    });
}
