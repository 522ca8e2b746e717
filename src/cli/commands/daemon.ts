import { setTimeout as wait } from "node:timers/promises";
import type { Command } from "commander";
import type { Backups, MemorydClient, Stats } from "../../client/client.ts";
import { logFileOf, newLines } from "../../daemon/rotating-log.ts";
import { messageOf } from "../../config/narrow.ts";
import { connect, type Daemon, findDaemon, notRunning, requireKept, stopDaemon } from "../connect.ts";
import { readMisses } from "../hooks/hook-state.ts";
import {
  CliFailure,
  complain,
  inBytes,
  plural,
  print,
  printBytes,
  printJson,
  printTable,
  minute,
} from "../output/output.ts";
import { addCommand, type Flags, settingsOf, wholeNumber } from "../output/options.ts";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const LOG_LINES = 50;
const LOG_POLL_MS = 250;

export function addDaemonCommands(memoryd: Command): void {
  addCommand(memoryd, "stop", "stop the daemon; its last writes are kept").action(async (flags: Flags) => {
    const { dataDir } = settingsOf(flags);
    const daemon = await findDaemon(dataDir);
    if (daemon === undefined) throw notRunning(dataDir);
    await stopDaemon(daemon);
    print("memoryd has stopped.");
  });
  addCommand(memoryd, "status", "say whether the daemon runs, and where")
    .option("--json", "print JSON")
    .action(status);
  addCommand(memoryd, "stats", "count the records of each kind").option("--json", "print JSON").action(stats);
  addCommand(memoryd, "logs", "print the log of a detached daemon or of the service")
    .option("-f, --follow", "go on with new lines")
    .option(
      "-n, --lines <number>",
      "print so many of the last lines (default: 50)",
      wholeNumber(0, 1_000_000),
    )
    .action(logs);
}

/** @throws {CliFailure} when none runs, so that scripts can tell. */
async function status(flags: Flags): Promise<void> {
  const settings = settingsOf(flags);
  const { dataDir } = settings;
  const daemon = await findDaemon(dataDir);
  if (daemon === undefined) {
    if (flags.json === true) printJson({ running: false, data_dir: dataDir });
    await requireKept(settings);
    throw notRunning(dataDir);
  }
  const stats = await daemon.api.stats();
  const late = readMisses(dataDir, "late");
  if (flags.json === true)
    return printJson({
      running: true,
      url: daemon.url,
      pid: daemon.runtime.pid,
      ...stats,
      ...(late && { late_hooks: late }),
    });
  print(
    stats.ready ? "memoryd is running" : `memoryd is running, but not ready: ${stats.not_ready.join(" ")}`,
  );
  for (const repair of stats.repairs ?? []) print(repair);
  const backups = await daemon.api.backups.list().then(backupState, messageOf);
  printTable([...summary(stats, daemon), ["backups", backups]]);
  if (late !== undefined)
    print(`Hooks were too late for their agent ${plural(late.count, "time")}, last on ${minute(late.last)}.`);
}

function summary({ embedding, store, ...stats }: Stats, { url, runtime }: Daemon) {
  const { unerased, adds_refused: refused } = store;
  const outdated = stats.perhaps_superseded;
  const writes = refused === undefined ? "accepted" : `refused: ${refused}`;
  return [
    ["listening", url],
    ["data", `${store.data_dir} (${inBytes(store.disk_bytes)})`],
    ["to erase", unerased ? `${unerased} deleted or replaced; see \`memoryd compact\`` : undefined],
    ["model", `${embedding.model} (${embedding.dimensions} dimensions)`],
    ["memories", String(stats.memory_count)],
    ["perhaps outdated", outdated ? `${outdated}; see \`memoryd superseded --guessed\`` : undefined],
    ["writes", store.read_only ? "refused until a restart" : writes],
    ["sandbox", sandbox(stats.sandbox)],
    ["version", stats.version],
    ["process", `${runtime.pid}, since ${minute(runtime.startedAt)}`],
  ] as const;
}

const backupState = ({ folder, items: [newest], last }: Backups): string =>
  last?.problem ??
  (newest === undefined ? `none yet in ${folder}` : `newest ${minute(newest.created_at)}, in ${folder}`);

function sandbox({ walls, by }: Stats["sandbox"]): string {
  if (walls.length > 0) return `no ${walls.join(", no ")} (${by})`;
  return "documents are read with access to the network; install bubblewrap to close it";
}

async function stats(flags: Flags): Promise<void> {
  const { api } = await connect(flags);
  const { memory_count, sectors, documents, store } = await api.stats();
  const { active_facts, total_facts } = await api.facts.stats();
  const facts = { active_facts, total_facts };
  if (flags.json === true)
    return printJson({ memory_count, sectors, documents, facts, disk_bytes: store.disk_bytes });
  print(store.data_dir);
  printTable([
    ["memories", String(memory_count)],
    ...Object.entries(sectors).map(([name, count]): [string, string] => [`  ${name}`, String(count)]),
    ["facts", `${active_facts} now, ${total_facts} in all`],
    ["documents", String(documents.count)],
    ["jobs", `${documents.jobs_running} running, ${documents.jobs_waiting} waiting`],
    ["on disk", inBytes(store.disk_bytes)],
  ]);
}

async function logs(flags: Flags): Promise<void> {
  const { dataDir } = settingsOf(flags);
  const news = newLines(dataDir, true);
  const lines = news()
    .toString("utf8")
    .split(/(?<=\n)/);
  if (!existsSync(logFileOf(dataDir)) && flags.follow !== true)
    throw new CliFailure(
      `There is no log in ${dataDir}: a daemon that was started in a terminal logs there, one of \`memoryd start --detach\` or \`memoryd service\` to ${logFileOf(dataDir)}.`,
    );
  const shown = flags.lines ?? LOG_LINES;
  await printBytes(Buffer.from(shown === 0 ? "" : lines.slice(-shown).join("")));
  while (flags.follow === true) {
    await printBytes(news());
    await wait(LOG_POLL_MS);
  }
}

/** By then a browser has read the file that leads it on. */
const READ_BY_MS = 5_000;

export function addOpenCommand(memoryd: Command): void {
  addCommand(memoryd, "open", "open the console in the browser, signed in")
    .option(
      "--print",
      "print the address instead; where a key is needed, it signs in one tab, once, within a minute",
    )
    .action(open);
}

/**
 * If a key is needed, the address has a code in its fragment, which no server and no log sees. A browser is led there by
 * a file that only this user may read: the words of a process are everybody's.
 */
async function open(flags: Flags): Promise<void> {
  const { api, url } = await (await import("../mcp/daemon-link.ts")).connectOrStart(flags, "writing");
  const address = `${url}/${await fragment(api)}`;
  if (flags.print === true) return print(address);
  const folder = await mkdtemp(join(tmpdir(), "memoryd-open-"));
  try {
    const file = join(folder, "memoryd.html");
    const page = `<!doctype html><meta charset="utf-8"><title>memoryd</title><meta http-equiv="refresh" content="0;url=${address}">`;
    await writeFile(file, page, { mode: 0o600 });
    if (await show(pathToFileURL(file).href)) {
      print(`The console is at ${url}/`);
      await wait(READ_BY_MS);
    } else {
      const code = await fragment(api);
      const what =
        code === "" ? "The console is at:" : "This address signs in one tab, once, within a minute:";
      complain(`There is no browser to open here. ${what}`);
      print(`${url}/${code}`);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function fragment(api: MemorydClient): Promise<string> {
  const { key_needed } = await api.call<{ key_needed: boolean }>({ method: "GET", path: "/session" });
  if (!key_needed) return "";
  const { code } = await api.call<{ code: string }>({ method: "POST", path: "/session/codes" });
  return `#code=${code}`;
}

/** Hands an address to the system's browser; false where there is none. */
async function show(address: string): Promise<boolean> {
  const [program = "", ...words] =
    process.platform === "darwin"
      ? ["open"]
      : process.platform === "win32"
        ? ["rundll32", "url.dll,FileProtocolHandler"]
        : ["xdg-open"];
  const child = spawn(program, [...words, address], { stdio: "ignore" });
  return await new Promise((resolve) => {
    child.once("error", () => resolve(false)).once("exit", (code) => resolve(code === 0));
  });
}
