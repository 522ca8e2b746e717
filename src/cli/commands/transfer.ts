import { type Command, Option } from "commander";
import { IMPORT_FORMATS, TRANSCRIPT_AGENTS } from "../import/import-item.ts";
import * as options from "../output/options.ts";
import { usageFailure } from "../output/output.ts";
import type { ExportFlags } from "./export.ts";
import type { ImportOptions } from "./import.ts";
import type { TranscriptFlags } from "./import-transcripts.ts";
import type { IngestOptions } from "../ingest/sync-files.ts";

const { addCommand } = options;
const FORMATS = ["ndjson", "markdown"];

export function addTransferCommands(memoryd: Command): void {
  options
    .withNewOwner(
      addCommand(memoryd, "ingest", "ingest documents: files, and folders with everything in them"),
      "documents",
    )
    .argument(
      "<path...>",
      "documents, mails, text, code, subtitles and recordings, or folders (.gitignore applies)",
    )
    .option("-t, --tag <tag>", "add a tag; may be given several times", options.tags)
    .option("-l, --language <tag>", "name the language of recordings, such as en (default: detected)")
    .option(
      "--encoding <name>",
      "read texts that are not UTF-8 in this encoding, such as windows-1251 (default: detected)",
      options.encoding,
    )
    .option("--json", "print the summary as JSON")
    .action(async (paths: string[], flags: IngestOptions) =>
      (await import("../ingest/ingest.ts")).ingest(paths, flags),
    );

  options
    .withNewOwner(
      addCommand(
        memoryd,
        "import",
        "import memories from ChatGPT, Claude, notes, tables, another memoryd, or conversations with agents",
      ),
      "memories",
    )
    .argument(
      "<path>",
      `the file or folder; archives are read without unpacking. Or an agent: ${TRANSCRIPT_AGENTS.join(", ")}`,
    )
    .option("--from <path>", "the agent's conversations: a folder or a file (default: where it keeps them)")
    .option("--file <transcript>", "one conversation of the agent; prints nothing, for hooks")
    .addOption(new Option("--format <name>", "name the format (default: detected)").choices(IMPORT_FORMATS))
    .option("-t, --tag <tag>", "add a tag; may be given several times", options.tags)
    .option(
      "--encoding <name>",
      "read the file in this encoding, such as windows-1252 (default: UTF-8)",
      options.encoding,
    )
    .option("--date-format <format>", "read the times of a table, such as DD.MM.YYYY HH:mm, as UTC")
    .option("--keep-users", "keep the users that the file names")
    .option("--all-branches", "import edited and regenerated messages of ChatGPT too")
    .option("--only-mine", "import only what you wrote in chats, no answers")
    .option("--dry-run", "print which records would be added; send nothing")
    .option("--strict", "stop at the first record that cannot be read")
    .option("--json", "print the summary as JSON")
    .action(async (path: string, flags: ImportOptions & TranscriptFlags) => {
      const agent = TRANSCRIPT_AGENTS.find((name) => name === path);
      const { from, file } = flags;
      if (agent !== undefined) {
        const { importTranscripts } = await import("./import-transcripts.ts");
        return await importTranscripts(agent, flags);
      }
      if ((from ?? file) !== undefined)
        throw usageFailure(
          `--from and --file belong to an agent: ${TRANSCRIPT_AGENTS.join(", ")}; got ${path}.`,
        );
      return await (await import("./import.ts")).importFrom(path, flags);
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
      new Option("--format <name>", "write ndjson (one file) or markdown (a folder)").choices(FORMATS),
    )
    .option("-o, --out <path>", "write to this file or folder (default: standard output)")
    .option("--no-waypoints", "leave out the links between memories")
    .option("--originals", "also write the files of documents, into a folder")
    .option("--force", "replace an export that is there")
    .action(async (flags: ExportFlags) => (await import("./export.ts")).exportTo(flags));
}
