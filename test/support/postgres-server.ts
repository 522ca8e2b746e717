import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { loadedOnce } from "../../src/core/at-once.ts";

const LEAST_VERSION = 15;
/** The user without rights that every Unix has: the server refuses to run as root. */
const NOBODY = 65_534;
/** Where Debian and its kin keep the programs of each version. */
const VERSIONS = "/usr/lib/postgresql";

const bindir = ((): string | undefined => {
  if (process.platform === "win32" || !existsSync(VERSIONS)) return undefined;
  const [newest] = readdirSync(VERSIONS)
    .map(Number)
    .filter((version) => version >= LEAST_VERSION)
    .toSorted((a, b) => b - a);
  return newest === undefined ? undefined : join(VERSIONS, String(newest), "bin");
})();

/** False: tests that need it are skipped. */
export const hasPostgres = bindir !== undefined;
if (!hasPostgres)
  console.warn(`no PostgreSQL ${LEAST_VERSION} or later in ${VERSIONS}: tests of it are skipped`);

export interface PostgresServer {
  readonly port: number;
  /** The address of a database of that name, made when it is missing. */
  database(name: string): Promise<string>;
  /** Kills the server without a chance to write anything, and starts it again after `awayMs`; starts one that has ended. */
  crash(awayMs?: number): Promise<void>;
  /** Stops all its processes where they are, for so long. Linux only. */
  pause(forMs: number): Promise<void>;
  /** Runs statements on its first database, beside everybody else. */
  run(text: string): Promise<unknown[][]>;
  stop(): void;
}

/**
 * Starts a server of its own, in a folder of its own, which ends with this process.
 *
 * @param more settings; without them it syncs nothing.
 * @param parent the folder that its folder is made in.
 * @param source the server whose streaming replica it becomes.
 */
export async function startPostgres(
  more: Readonly<Record<string, string>> = {},
  {
    parent = process.env["MEMORYD_TEST_DISK"] ?? tmpdir(),
    source,
  }: { readonly parent?: string; readonly source?: Pick<PostgresServer, "port"> } = {},
): Promise<PostgresServer> {
  if (bindir === undefined) throw new Error("PostgreSQL is missing");
  const folder = mkdtempSync(join(parent, "memoryd-postgres-"));
  const data = join(folder, "data");
  const identity = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if ("uid" in identity) chownSync(folder, NOBODY, NOBODY);
  const options = { ...identity, cwd: folder, stdio: "ignore" } as const;
  const [program, ...words] =
    source === undefined
      ? ["initdb", "-A", "trust", "-E", "UTF8", "--locale=C"]
      : ["pg_basebackup", "-R", "-c", "fast", "-h", "127.0.0.1", "-p", String(source.port)];
  const made = spawnSync(join(bindir, program), [...words, "-D", data, "-U", "postgres", "--no-sync"], {
    ...options,
    stdio: "pipe",
    encoding: "utf8",
  });
  if (made.status !== 0) throw new Error(`${program} failed: ${made.stderr}`);
  const port = await freePort();
  const settings = {
    port,
    fsync: "off",
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    ...more,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const begin = () => spawn(join(bindir, "postgres"), ["-D", data, ...flags], options);
  let server: ChildProcess = begin();
  // Ends the server also where this process is killed: its pipe closes then.
  const guard = spawn(
    "sh",
    ["-c", 'cat; kill -QUIT "$(head -n 1 "$0/data/postmaster.pid")"; rm -rf "$0"', folder],
    { stdio: ["pipe", "ignore", "ignore"], detached: true },
  );
  guard.unref();
  (guard.stdin as Socket).unref();
  const stop = () => guard.stdin.end();
  const addressOf = (name: string) => `postgres://postgres@127.0.0.1:${port}/${name}`;
  const run = async (text: string) => {
    const client = new Client({ connectionString: addressOf("postgres") });
    client.on("error", () => undefined);
    await client.connect();
    try {
      return (await client.query({ text, rowMode: "array" })).rows;
    } finally {
      await client.end();
    }
  };
  const ready = async () => {
    for (;;) {
      const error = await run("select 1").then(
        () => undefined,
        (reason: unknown) => reason,
      );
      if (error === undefined) return;
      if (server.exitCode !== null) throw error;
      await sleep(50);
    }
  };
  await ready();
  return {
    port,
    async database(name) {
      const [known] = await run(`select 1 from pg_database where datname = '${name}'`);
      if (known === undefined) await run(`create database "${name}"`);
      return addressOf(name);
    },
    async crash(awayMs = 0) {
      if (server.exitCode === null) {
        const ended = new Promise((done) => server.once("exit", done));
        server.kill("SIGQUIT");
        await ended;
      }
      await sleep(awayMs);
      server = begin();
      await ready();
    },
    async pause(forMs) {
      // First the one that would start more of the others.
      server.kill("SIGSTOP");
      const others = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, "utf8");
      const pids = others.trim().split(" ").map(Number);
      for (const pid of pids) process.kill(pid, "SIGSTOP");
      await sleep(forMs);
      for (const pid of [...pids, server.pid ?? 0]) process.kill(pid, "SIGCONT");
    },
    run,
    stop,
  };
}

/** The server that the tests of this process share. */
export const sharedPostgres = loadedOnce(() => startPostgres());

/** A port that is free now. */
async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((done) => probe.listen(0, "127.0.0.1", done));
  const address = probe.address();
  await new Promise((done) => probe.close(done));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
