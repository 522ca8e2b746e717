import type { Command } from "commander";
import { type DaemonOptions, settingsOf, withDataDir } from "../daemon-options.ts";
import { print } from "../output.ts";

/** `memoryd data`: where everything is kept. */
export function addDataCommands(memoryd: Command): void {
  const data = memoryd.command("data").description("where everything is kept");
  withDataDir(data.command("path").description("say where")).action((options: DaemonOptions) =>
    print(settingsOf(options).dataDir),
  );
  withDataDir(
    data
      .command("move")
      .description("move everything to another place; a daemon that runs is stopped and started again"),
  )
    .argument("<folder>", "a new folder, or an empty one")
    .action(async (folder: string, options: DaemonOptions) => {
      const { moveData } = await import("./move.ts");
      return await moveData(settingsOf(options), folder);
    });
}
