import type { Command } from "commander";
import { CLIENT_NAME } from "../schemas/text-rules.ts";
import { type DaemonOptions, settingsOf, withDataDir } from "./daemon-options.ts";
import type { EditOptions } from "./edit.ts";
import type { ListMemoriesOptions, ShowOptions } from "./memory-reads.ts";
import {
  projectOrNone,
  sectorOption,
  sessionId,
  tag,
  textOf,
  time,
  userId,
  wholeNumber,
} from "./option-values.ts";
import type { RemoveOptions } from "./remove.ts";
import type { TagOptions } from "./tag.ts";

const ID = "the id, as other commands print it";

/** Commands on single memories, beside `add` and `query`. */
export function addSingleMemoryCommands(memoryd: Command): void {
  withDataDir(memoryd.command("show").description("print a memory whole"))
    .argument("<id>", ID)
    .option("--json", "as JSON")
    .action(async (id: string, options: DaemonOptions & ShowOptions) => {
      const { showMemory } = await import("./memory-reads.ts");
      return await showMemory(settingsOf(options).dataDir, id, options);
    });

  withDataDir(memoryd.command("list").description("list memories, newest first"))
    .option("-l, --limit <number>", "how many at most, 1 to 10000; 20 if absent", wholeNumber(1, 10_000))
    .option("--cursor <text>", "go on where an earlier list ended")
    .option("-u, --user <id>", "only this user's memories", userId)
    .option("-p, --project <name>", 'only those of this project; "" for none', projectOrNone)
    .option("-s, --session <id>", "only those of this session", sessionId)
    .option("-t, --tag <tag>", "only those with this tag", tag)
    .addOption(sectorOption())
    .option("-c, --client <name>", "only what this client added", textOf(CLIENT_NAME))
    .option("--from <time>", "only what happened at this time or later", time)
    .option("--to <time>", "only what happened before this time", time)
    .option("--json", "print the answer as JSON")
    .action(async (options: DaemonOptions & ListMemoriesOptions) => {
      const { listMemories } = await import("./memory-reads.ts");
      return await listMemories(settingsOf(options).dataDir, options);
    });

  withDataDir(memoryd.command("edit").description("change the text of a memory in your editor"))
    .argument("<id>", ID)
    .option("--json", "print the record as JSON")
    .action(async (id: string, options: DaemonOptions & EditOptions) => {
      const { editMemory } = await import("./edit.ts");
      return await editMemory(settingsOf(options).dataDir, id, options);
    });

  withDataDir(memoryd.command("rm").description("delete memories; asks first"))
    .argument("<id...>", "their ids; that of a document's root takes the document along")
    .option("-y, --yes", "without asking")
    .action(async (ids: string[], options: DaemonOptions & RemoveOptions) => {
      const { removeMemories } = await import("./remove.ts");
      return await removeMemories(settingsOf(options).dataDir, ids, options);
    });

  withDataDir(memoryd.command("tag").description("add tags to a memory, and take others away"))
    .argument("<id>", ID)
    .argument("<change...>", "+tag adds one, -tag takes one away")
    .option("--json", "print the record as JSON")
    // A change that begins with a dash is no option.
    .allowUnknownOption()
    .action(async (id: string, changes: string[], options: DaemonOptions & TagOptions) => {
      const { tagMemory } = await import("./tag.ts");
      return await tagMemory(settingsOf(options).dataDir, { id, changes }, options);
    });

  withDataDir(memoryd.command("stats").description("say how much is stored, and of what kinds"))
    .option("--json", "as JSON")
    .action(async (options: DaemonOptions & { readonly json?: boolean }) => {
      const { printStats } = await import("./stats.ts");
      return await printStats(settingsOf(options).dataDir, options);
    });
}
