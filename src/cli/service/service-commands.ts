import type { Command } from "commander";
import { type DaemonOptions, settingsOf, withDataDir } from "../daemon-options.ts";
import type { ServiceOptions } from "./service.ts";

type Options = DaemonOptions & ServiceOptions;

/** `memoryd service`: the daemon as something that the system starts. */
export function addServiceCommands(memoryd: Command): void {
  const service = memoryd
    .command("service")
    .description("have the system start the daemon: systemd, launchd or the Task Scheduler");
  withDataDir(service.command("install").description("start it now, at each login, and after a crash"))
    .option("--print", "only show what would be written and run")
    .action(async (options: Options) => {
      const { installService } = await import("./service.ts");
      return await installService(settingsOf(options), options);
    });
  withDataDir(
    service.command("uninstall").description("stop it and take the service away; memories stay"),
  ).action(async (options: Options) => {
    const { uninstallService } = await import("./service.ts");
    return await uninstallService(settingsOf(options), options);
  });
  withDataDir(service.command("status").description("say whether the service is installed and runs")).action(
    async (options: Options) => {
      const { serviceStatus } = await import("./service.ts");
      return await serviceStatus(settingsOf(options), options);
    },
  );
}
