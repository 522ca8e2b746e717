import { randomUUID, createPrivateKey, X509Certificate } from "node:crypto";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { type Config, rateLimit, ConfigError, orConfigError } from "../config/config.ts";
import { SHUTDOWN_MS, VERSION } from "../config/limits.ts";
import type { KeyRing } from "../core/access/key-ring.ts";
import { loadedOnce } from "../core/at-once.ts";
import type { ServiceStatus } from "../core/status.ts";
import { languages, useLanguages } from "../core/text/languages.ts";
import { readLanguages } from "../files/read-languages.ts";
import type { ServerOptions } from "../http/server.ts";
import { ADDS_PER_HOUR } from "../mcp/add-allowance.ts";
import { lockDataDirectory } from "../storage/files/lock.ts";
import { openDataDirectory } from "./key-service.ts";
import { readLogEnd } from "./rotating-log.ts";
import { newLocalToken, proofOf, removeRuntimeInfo, writeRuntimeInfo } from "./runtime-file.ts";
import { type Logger, systemClock } from "./system.ts";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";

/** A use is recorded to the hour, so there is something to save at most once per hour and key. */
const USES_SAVED_EVERY_MS = 60_000;

/**
 * Flags of V8. By itself it lets the heap grow up to 300 % before it is collected: after 600 questions 100 MB more. It learns from
 * questions that wait for rows to make all candidates as old objects, which hold young ones: of each 16 MB 3 MB were kept for
 * nothing until the next full collection. To collect 4 MB of young objects it wakes four threads, which
 * takes more processor time than it saves on the main thread.
 */
const HEAP_FLAGS = [
  "--heap-growing-percent=100",
  "--no-allocation-site-pretenuring",
  "--no-parallel-scavenge",
];

/** Part of the stop that is left for the store and the model once requests have had their time. */
const REQUESTS_SHARE_OF_STOP = 0.7;

/** A daemon that is being built, or runs. */
export interface Begun {
  readonly config: Config;
  readonly log: Logger;
  readonly tls: ReturnType<typeof readTls>;
  readonly instanceId: string;
  readonly startedAt: number;
  readonly localToken: string;
  /** What stops each part that was started, oldest first. */
  readonly started: (() => Promise<unknown> | void)[];
  /** Stops all of them. Never rejects. */
  readonly stop: () => Promise<void>;
}

/**
 * Builds a daemon in a data directory, which it locks; what was started is stopped again where `build` fails.
 *
 * @throws {ServiceError} with a sentence that says what to do.
 */
export async function beginDaemon<T>(
  config: Config,
  log: Logger,
  build: (begun: Begun) => Promise<T>,
): Promise<T> {
  const started: (() => Promise<unknown> | void)[] = [];
  const stop = async (): Promise<void> => {
    // Newest first; an error of one does not keep the others from stopping.
    for (let next = started.pop(); next !== undefined; next = started.pop()) {
      try {
        await next();
      } catch (error) {
        log.error({ err: error }, "part failed to stop");
      }
    }
  };
  for (const flag of HEAP_FLAGS) setFlagsFromString(flag);
  try {
    useLanguages(readLanguages);
    // Words that are damaged end the start, and no question later.
    languages();
    const tls = readTls(config);
    await openDataDirectory(config.dataDir);
    const lock = await lockDataDirectory(config.dataDir);
    started.push(() => lock.release());
    const [instanceId, localToken] = [randomUUID(), newLocalToken()];
    const startedAt = systemClock.now();
    return await build({ config, log, tls, instanceId, startedAt, localToken, started, stop });
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What a daemon serves; the rest of the server's parts is the same for each. */
export interface ServedParts extends Pick<
  ServerOptions,
  "operations" | "documents" | "compaction" | "backups" | "models" | "places" | "status" | "lookAtDiskSpace"
> {
  readonly keys: KeyRing;
  readonly timeZone: string;
  /** True while something would be cut off. */
  readonly isBusy: () => boolean;
  /** Ends the process as a signal would. */
  readonly requestStop: () => void;
  /** Where the log is written; undefined: to standard error. */
  readonly logFile: string | undefined;
  /** Called once the port is open. */
  readonly onListening?: (port: number) => void;
}

/** To be called once the store and the model are read in threads of their own: the main thread has nothing to do then. */
export async function loadServerModules() {
  const [{ buildServer }, { listen }] = await Promise.all([
    import("../http/server.ts"),
    import("../http/listen.ts"),
  ]);
  return { buildServer, listen };
}

/** Opens the port, and tells the command line where. Answers the daemon that runs. */
export async function serve(
  { config, log, tls, instanceId, startedAt, localToken, started, stop }: Begun,
  { keys, timeZone, isBusy, logFile, onListening, ...parts }: ServedParts,
) {
  const { requestStop } = parts;
  const modules = await loadServerModules();
  // Loaded for the first agent: it takes .15 s and 25 MB.
  const openAgents = loadedOnce(async () => {
    const { createAgentEndpoint } = await import("../mcp/agent-endpoint.ts");
    return createAgentEndpoint({
      version: VERSION,
      clock: systemClock,
      places: parts.places,
      timeZone,
      report: (error) => log.error({ err: error }, "tool failed"),
    });
  });
  const stopping = new AbortController();
  const status = (): ServiceStatus => ({
    ...parts.status(),
    ...(stopping.signal.aborted && { notReady: ["The daemon is stopping."] }),
  });
  const app = modules.buildServer({
    ...parts,
    status,
    inspect: {
      ...config.shown,
      agentAddsPerHour: ADDS_PER_HOUR,
      requestsPerMinute: rateLimit(config).requestsPerMinute ?? null,
      readLog: (which) => readLogEnd(logFile, which),
    },
    mcp: async (request) => (await openAgents())(request),
    consoleFolder: fileURLToPath(new URL("../console", import.meta.url)),
    docsFolder: fileURLToPath(new URL("../../docs", import.meta.url)),
    stopping: stopping.signal,
    prove: (challenge) => proofOf({ instanceId, token: localToken }, challenge),
    access: { ...accessOf(config), keys, localToken },
    ...(tls !== undefined && { tls }),
    limits: { maxUploadBytes: config.maxUploadBytes },
    log,
  });
  const listening = await modules.listen(app, {
    host: config.host,
    port: config.port,
  });
  started.push(() => listening.close(SHUTDOWN_MS * REQUESTS_SHARE_OF_STOP));

  const saveUses = () =>
    keys.saveUses().catch((error: unknown) => log.warn({ err: error }, "uses of keys not saved"));
  const useTimer = setInterval(() => void saveUses(), USES_SAVED_EVERY_MS).unref();
  started.push(() => {
    clearInterval(useTimer);
    return saveUses();
  });

  const { port } = listening;
  onListening?.(port);
  writeRuntimeInfo(config.dataDir, {
    address: config.host,
    port,
    pid: process.pid,
    instanceId,
    version: VERSION,
    startedAt,
    token: localToken,
    startedWith: { ...config.startedWith, secrets: [...config.startedWith.secrets] },
    ...(tls !== undefined && { tlsFingerprint: tls.fingerprint }),
  });
  started.push(() => removeRuntimeInfo(config.dataDir, instanceId));
  if (config.exitWhenIdleMs > 0)
    started.push(listening.exitWhenIdle({ afterMs: config.exitWhenIdleMs, isBusy, onIdle: requestStop }));
  started.push(() => stopping.abort());
  return { address: config.host, port, isSecure: tls !== undefined, status, stop };
}

const accessOf = ({ apiKey, host, allowedHosts, allowedOrigins, trustedProxies }: Config) => ({
  ...(apiKey !== undefined && { apiKey }),
  ...rateLimit({ host, allowedHosts }),
  host,
  allowedHosts,
  allowedOrigins,
  trustedProxies,
});

/**
 * The certificate, with those that vouch for it, and its key, in PEM, and the certificate's SHA-256, as Node writes it, by which the
 * daemon's own command line knows the daemon; undefined where none is configured. @throws {ConfigError}
 */
export function readTls({ tlsCert, tlsKey }: Pick<Config, "tlsCert" | "tlsKey">) {
  if (tlsCert === "") return undefined;
  const cert = read(tlsCert, "certificate");
  const key = read(tlsKey, "private key");
  const certificate = orConfigError(
    `${tlsCert} holds no certificate in PEM`,
    () => new X509Certificate(cert),
  );
  const privateKey = orConfigError(keyFault(tlsKey, key), () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey))
    throw new ConfigError(`The private key in ${tlsKey} does not belong to the certificate in ${tlsCert}.`);
  orConfigError(`${tlsCert} and ${tlsKey} cannot be used for HTTPS`, () =>
    createSecureContext({ cert, key }),
  );
  return { cert, key, fingerprint: certificate.fingerprint256 };
}

function keyFault(path: string, key: string): string {
  return /ENCRYPTED/.test(key)
    ? `The private key in ${path} is encrypted; store it without a passphrase, readable by you alone`
    : `${path} holds no private key in PEM`;
}

const read = (path: string, what: string): string =>
  orConfigError(`The file with the ${what}, ${path}, cannot be read`, () => readFileSync(path, "utf8"));
