import type { Command } from "commander";
import type { Settings } from "../../config/config.ts";
import { type Finding, note, ok, wrong } from "../../core/status.ts";
import { type Daemon, findDaemon } from "../connect.ts";
import { CliFailure, paint, plural, print, printJson, showProgress } from "../output/output.ts";
import { addCommand, type Flags, settingsOf } from "../output/options.ts";
import { faultOf, isRunning, serviceOf } from "../service/service.ts";

export function addDoctorCommand(memoryd: Command): void {
  addCommand(memoryd, "doctor", "check the store and its surroundings, and say what mends them")
    .option(
      "--salvage <folder>",
      "write all that can be read to an export in a new folder, without history and trash",
    )
    .option("--json", "print JSON")
    .action(doctor);
}

/** @throws {CliFailure} where anything is wrong. */
async function doctor(flags: Flags): Promise<void> {
  const settings = settingsOf(flags);
  const { dataDir } = settings;
  const daemon = await findDaemon(dataDir);
  if (flags.salvage !== undefined) return await salvage(dataDir, flags.salvage, { daemon, ...flags });
  const findings: Finding[] = [];
  const { examineModels, examineStopped } = await import("../../daemon/doctor.ts");
  findings.push(...(daemon === undefined ? await examineStopped(dataDir) : await examineRunning(daemon)));
  findings.push(
    await examineModels(settings.dataDir),
    await examineAgents(),
    examineService(settings, daemon),
  );
  const faults = findings.filter(({ status }) => status === "wrong").length;
  if (flags.json === true)
    printJson({ ok: faults === 0, data_dir: dataDir, running: daemon !== undefined, findings });
  else printFindings(findings);
  if (faults > 0)
    throw new CliFailure(`${plural(faults, "check")} of ${findings.length} found something wrong.`);
}

/** @throws {CliFailure} also where something could not be read: what could is written. */
async function salvage(
  dataDir: string,
  folder: string,
  { daemon, json = false }: { readonly daemon: Daemon | undefined; readonly json?: boolean },
): Promise<void> {
  if (daemon !== undefined)
    throw new CliFailure(
      "The daemon runs: `memoryd export --originals --out FOLDER` writes out what it has. Stop it with `memoryd stop` to " +
        "read what it does without.",
    );
  const { salvageStopped } = await import("../../daemon/salvage-store.ts");
  const { FOLDER_INDEX, ORIGINALS } = await import("../import/read-export.ts");
  const names = { index: FOLDER_INDEX, originals: ORIGINALS };
  const { faults, ...counts } = await salvageStopped(dataDir, folder, names, (memories) =>
    showProgress(`${plural(memories, "memory")} read`),
  );
  showProgress("");
  const { memories, documents, facts, waypoints, originals, doubtful } = counts;
  if (json) printJson({ folder, ...counts, faults });
  else {
    print(
      `wrote ${plural(memories, "memory")}, ${plural(documents, "document")}, ${plural(facts, "fact")}, ` +
        `${plural(waypoints, "waypoint")} and ${plural(originals, "original")} to ${folder}; ` +
        `\`memoryd import ${folder} --keep-users\` reads it`,
    );
    print("Earlier versions of memories and the trash are left out; a backup has those of its moment.");
    if (doubtful > 0)
      print(
        `${plural(doubtful, "memory is", "memories are")} not as written, or may be deleted ones: in ${folder}/doubtful.ndjson alone`,
      );
    for (const fault of faults) print(`  ${fault}`);
  }
  if (faults.length > 0 || doubtful > 0)
    throw new CliFailure(
      "Parts of the store could not be read; whatever the tables and the journal have of them is in the export.",
    );
}

function printFindings(findings: readonly Finding[]): void {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const margin = " ".repeat(width + 11);
  for (const { check, status, message, remedy } of findings) {
    const word = status.padEnd(5);
    print(`  ${status === "wrong" ? paint("strong", word) : word}  ${check.padEnd(width)}  ${message}`);
    if (remedy !== undefined) print(`${margin}${remedy}`);
  }
}

/** Findings of a running daemon, which checks the checksum of every file after its start. */
async function examineRunning({ api, url }: Daemon): Promise<Finding[]> {
  const { ready, not_ready, repairs = [], store, memory_count, sectors } = await api.stats();
  const listed = (await api.memories.page({ l: 1 })).total;
  const counted = Object.values(sectors).reduce((sum, count) => sum + count, 0);
  return [
    ok("lock", `The daemon at ${url} has the data directory.`),
    ready
      ? ok("store", "Open; no damage found since its start.")
      : wrong(
          "store",
          not_ready.join(" "),
          "Stop the daemon with `memoryd stop` and run `memoryd doctor` again, which says what can be mended.",
        ),
    store.adds_refused === undefined
      ? ok("space", "Enough for new memories.")
      : wrong("space", `${store.adds_refused}.`, "Free some space."),
    repairs.length === 0 ? ok("repairs", "Nothing is being made again.") : note("repairs", repairs.join(" ")),
    listed === memory_count && counted === memory_count
      ? ok("counts", `${plural(memory_count, "memory")}; lists and sectors agree.`)
      : wrong(
          "counts",
          `${memory_count} memories, ${listed} in lists, ${counted} in sectors.`,
          "Restart with `memoryd restart`; if it stays so, stop it and run `memoryd doctor`.",
        ),
    note(
      "files",
      "Checksums, journal and originals are read by `memoryd doctor` while the daemon is stopped.",
    ),
  ];
}

async function examineAgents(): Promise<Finding> {
  const { agentStates } = await import("../agents/agent-entry.ts");
  const states = agentStates("memoryd doctor");
  const faults = states.filter(({ state }) => state === "stale" || state === "unreadable");
  if (faults.length > 0)
    return wrong(
      "agents",
      `${faults.map(({ agent, why = "" }) => `${agent}: ${why}`).join("; ")}.`,
      `\`memoryd mcp install ${[...new Set(faults.map(({ agent }) => agent))].join(" ")}\` renews it; \`memoryd mcp status\` says more.`,
    );
  const installed = states.filter(({ state }) => state === "installed").map(({ agent }) => agent);
  const message =
    installed.length === 0 ? "None starts memoryd." : `${installed.join(", ")} can start memoryd.`;
  return ok("agents", message);
}

function examineService(settings: Settings, daemon: Daemon | undefined): Finding {
  const check = "service";
  const service = serviceOf(settings);
  if (service === undefined) return ok(check, "None starts the daemon of this data directory.");
  const fault = faultOf(service);
  const { serviceManager } = service.definition;
  if (fault !== undefined)
    return wrong(
      check,
      `That of ${serviceManager} cannot start: ${fault}.`,
      "`memoryd service install` writes it anew.",
    );
  const isActive = isRunning(service.definition);
  if (isActive === (daemon !== undefined) || serviceManager !== "systemd")
    return ok(check, `Installed with ${serviceManager}${isActive ? " and active" : ", not active"}.`);
  return isActive
    ? wrong(check, `${serviceManager} says that it runs, and no daemon answers.`, "See `memoryd logs`.")
    : note(check, `Installed with ${serviceManager}, and the daemon runs without it.`);
}
