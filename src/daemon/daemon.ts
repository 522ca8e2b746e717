import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { backupFolder, createBackupService } from "./backup-service.ts";
import { statusOf } from "./service-status.ts";
import { createCompactionService } from "./compaction-service.ts";
import { type Config, rateLimit, setVariables } from "../config/config.ts";
import { shareMemory, SHUTDOWN_MS, VERSION } from "../config/limits.ts";
import type { DocumentService } from "./document-service.ts";
import { FactMeanings } from "../core/facts/fact-meanings.ts";
import { FollowUps } from "../core/memories/follow-ups.ts";
import { undoChanges } from "../core/history/undo.ts";
import { openUndoLog } from "./undo-log.ts";
import { expireVersions } from "../core/history/trash.ts";
import { RequestLedger } from "../core/idempotency.ts";
import type { MemoryPorts } from "../core/memories/memory-ports.ts";
import { bindOperations } from "../core/operations.ts";
import { ownTimeZone } from "../core/text/calendar.ts";
import { languages, useLanguages } from "../core/text/languages.ts";
import { readWordFrequencies } from "../core/text/stop-words.ts";
import { openDataDirectory, openKeyRing } from "./key-service.ts";
import { createPlaces } from "./places.ts";
import { type Logger, nextTurn, sha256, systemClock, uuidSource } from "./system.ts";
import { ADDS_PER_HOUR } from "../mcp/add-allowance.ts";
import { loadedOnce } from "../core/at-once.ts";
import { ONNX_ENVIRONMENT } from "../models/bundled-models.ts";
import { chosenModel } from "./chosen-model.ts";
import { createModelService, modelOf, type OpeningModel, openModel } from "./model-service.ts";
import { readLogEnd } from "./rotating-log.ts";
import { newLocalToken, proofOf, removeRuntimeInfo, writeRuntimeInfo } from "./runtime-file.ts";
import { usualThreads } from "../models/onnx-embedder.ts";
import { hideSocket } from "../sandbox/walls.ts";
import { TEMPORARY_FOLDER } from "../storage/files/data-directory.ts";
import { nodeDisk, removeTree } from "../storage/files/disk.ts";
import { lockDataDirectory } from "../storage/files/lock.ts";
import { readLanguages } from "../files/read-languages.ts";
import { openStore } from "../storage/open-store.ts";
import { readTls } from "./tls.ts";

/** Its `stop` finishes running requests and closes the store; answered writes are on the disk before and after. */
export type RunningDaemon = Awaited<ReturnType<typeof startDaemon>>;

/** Delay of follow-ups to answered calls, so that few records hold them. */
const FOLLOW_UP_DELAY_MS = 500;

/** Memories for which `FollowUps` still works when the daemon stops: 1 s at most. */
const INFERRED_AT_STOP = 200;

/** A use is recorded to the hour, so there is something to save at most once per hour and key. */
const USES_SAVED_EVERY_MS = 60_000;

/** How often the clock is looked at, and what is past its days is removed. */
const EXPIRED_EVERY_MS = 60 * 60_000;

/** By how much the heap grows before it is collected; by default up to 300 %, which after 600 questions was 100 MB more. */
const HEAP_GROWTH_PERCENT = 100;

/**
 * Flags of V8. By itself it learns from questions that wait for rows to make all candidates as old objects, which hold young ones: of
 * each 16 MB 3 MB were kept for nothing until the next full collection.
 */
const HEAP_FLAGS = [`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`, "--no-allocation-site-pretenuring"];

/** Part of the stop that is left for the store and the model once requests have had their time. */
const REQUESTS_SHARE_OF_STOP = 0.7;

/**
 * Has LanceDB write its temporary files, which may hold what memories say, into the data directory, and removes those of a daemon that
 * was killed. Without room for the folder they stay where the system has them. @returns what takes that back.
 */
async function ownTemporaryFolder(dataDir: string): Promise<() => Promise<void>> {
  const folder = join(dataDir, TEMPORARY_FOLDER);
  const before = tmpdir();
  const use = (path: string) => setVariables({ TMPDIR: path, TMP: path, TEMP: path });
  const remove = () => removeTree(nodeDisk, folder).catch(() => undefined);
  await remove();
  await nodeDisk.makeDirectory(folder).then(
    () => use(folder),
    () => undefined,
  );
  return async () => {
    use(before);
    await remove();
  };
}

/**
 * Builds every part and starts it: the directory's lock, then the model and the store beside each other, then the
 * port. What was started is stopped again when a later part fails.
 * @param requestStop ends the process as a signal would, for a client that may ask for it.
 * @param logFile where `log` writes; absent: to standard error.
 * @throws {ServiceError} with a sentence that says what to do.
 */
export async function startDaemon(config: Config, log: Logger, requestStop: () => void, logFile?: string) {
  const started: (() => Promise<unknown> | void)[] = [];
  const stopAll = async (): Promise<void> => {
    // Newest first; an error of one does not keep the others from stopping.
    for (let stop = started.pop(); stop !== undefined; stop = started.pop()) {
      try {
        await stop();
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
    const keys = await openKeyRing(config.dataDir);
    const isKeyNeeded = () => config.apiKey !== undefined || keys.isLocked;
    const access = { ...accessOf(config), keys, localToken: newLocalToken() };

    const startedAt = systemClock.now();
    const instanceId = randomUUID();
    setVariables(ONNX_ENVIRONMENT);
    started.push(await ownTemporaryFolder(config.dataDir));
    const { threads, cacheBytes } = shareMemory(config.memoryBudget, usualThreads());
    let opening: OpeningModel | undefined;
    started.push(() => opening?.embedder.then((known) => known.close()).catch(() => undefined));
    let documents: DocumentService | undefined;
    let loading: ReturnType<typeof loadServerModules> | undefined;
    const opened = await openStore({
      disk: nodeDisk,
      directory: config.dataDir,
      clock: systemClock,
      stamp: (stored) => {
        // Beside the store: each takes a second or more, mostly in threads of its own.
        opening = openModel(stored, config, log, threads);
        loading = loadServerModules();
        loading.catch(() => undefined);
        return opening.model.stamp;
      },
      changesModel: (stored) =>
        chosenModel(config.dataDir) !== undefined || modelOf(config.dataDir, stored) !== undefined,
      log,
      limits: { bytes: config.checkpointBytes },
      cacheBytes,
      onCheckpoint: () => documents?.checkpointed(),
    });
    started.push(() => opened.store.close());
    if (opening === undefined || loading === undefined) throw new TypeError("an open store has a model");
    const { dataDir } = config;
    const { model } = opening;
    const embedding = await opening.embedder;
    const models = createModelService({ dataDir, opened, model, embedder: embedding, threads, log });
    const { embedder } = models;

    let followUpTimer: NodeJS.Timeout | undefined;
    const followUps = new FollowUps(opened.store, {
      onPending: () => {
        followUpTimer = setTimeout(() => {
          followUps.flush().catch((error: unknown) => log.warn({ err: error }, "follow-ups dropped"));
        }, FOLLOW_UP_DELAY_MS).unref();
      },
      isBusy: () => embedder.waiting > 0,
      nextTurn,
    });
    started.push(async () => {
      clearTimeout(followUpTimer);
      await followUps.flush(INFERRED_AT_STOP);
      clearTimeout(followUpTimer);
    });

    followUps.resume();
    started.push(() => models.stop());
    models.begin(followUps);

    const frequencies = readWordFrequencies(
      readFileSync(new URL("../../data/word-frequencies.txt", import.meta.url), "utf8"),
    );
    const ports: MemoryPorts = {
      store: opened.store,
      meanings: new FactMeanings(embedder, frequencies),
      embedder,
      classify: models.classify,
      frequencies,
      clock: systemClock,
      timeZone: config.timeZone === "" ? ownTimeZone() : config.timeZone,
      historyMs: config.historyDays * 24 * 3_600_000,
      ids: uuidSource,
      requests: new RequestLedger(),
      followUps,
      nextTurn,
      sha256,
    };
    let listeningPort: number | undefined;
    const modules = await loading;
    const service = await modules.openDocumentService(config, ports, {
      log,
      ownPort: () => listeningPort,
      hasAllDocuments: opened.hasAllDocuments,
      isKeyNeeded,
    });
    documents = service;
    started.push(() => service.close());
    const backups = createBackupService({
      dataDir: config.dataDir,
      folder: backupFolder(config),
      every: millisecondsOf(config.backupEvery),
      keep: config.backupKeep,
      opened,
      documents: opened.store.catalogue.documents,
      originals: service.originals,
      clock: systemClock,
      log,
    });
    started.push(() => backups.close());
    const undoLog = openUndoLog(config.dataDir, log);
    const operations = bindOperations({
      ...ports,
      undos: undoLog.undos,
      feed: opened.feed,
      stopJob: service.stopJob,
      noteErasure: backups.noteErasure,
    });
    const undone = undoLog
      .finish(undoChanges, ports)
      .catch((error: unknown) => log.warn({ err: error }, "an undo is still half done"));
    started.push(() => {
      undoLog.close();
      return undone;
    });
    let expired: Promise<unknown> = Promise.resolve();
    const expire = () => {
      expired = expireVersions(ports).catch((error: unknown) =>
        log.warn({ err: error }, "earlier versions not removed"),
      );
    };
    const expiryTimer = setInterval(expire, EXPIRED_EVERY_MS).unref();
    expire();
    started.push(() => {
      clearInterval(expiryTimer);
      return expired;
    });
    const compaction = createCompactionService({
      purge: opened.purge,
      backups,
      originals: service.originals,
      clock: systemClock,
      afterMinutes: config.compactAfterMinutes,
      // Something unlike anything before while texts wait: then it is not quiet.
      activity: () =>
        embedder.waiting + service.counts.jobsRunning > 0 ? Symbol() : opened.journal.position.sequence,
      log,
    });
    started.push(() => compaction.close());
    const status = () =>
      statusOf(config, {
        instanceId,
        startedAt,
        embedder,
        opened,
        documents: service.counts,
        damagedOriginals: service.damage,
        repairs: [...opened.losses, ...models.repairs],
        sandbox: service.sandbox,
      });
    const places = createPlaces(opened.storeId);
    // Loaded for the first agent: it takes .15 s and 25 MB.
    const openAgents = loadedOnce(async () => {
      const { createAgentEndpoint } = await import("../mcp/agent-endpoint.ts");
      return createAgentEndpoint({
        version: VERSION,
        clock: systemClock,
        places,
        timeZone: ports.timeZone,
        report: (error) => log.error({ err: error }, "tool failed"),
      });
    });
    const stopping = new AbortController();
    const app = modules.buildServer({
      operations,
      documents: service.operations,
      compaction,
      backups,
      models,
      inspect: {
        ...config.shown,
        agentAddsPerHour: ADDS_PER_HOUR,
        requestsPerMinute: rateLimit(config).requestsPerMinute ?? null,
        readLog: (which) => readLogEnd(logFile, which),
      },
      places,
      mcp: async (request) => (await openAgents())(request),
      consoleFolder: fileURLToPath(new URL("../console", import.meta.url)),
      docsFolder: fileURLToPath(new URL("../../docs", import.meta.url)),
      status,
      lookAtDiskSpace: () => opened.store.lookAtDiskSpace(),
      requestStop,
      stopping: stopping.signal,
      prove: (challenge) => proofOf({ instanceId, token: access.localToken }, challenge),
      access,
      ...(tls !== undefined && { tls }),
      limits: { maxUploadBytes: config.maxUploadBytes },
      log,
    });
    if (config.socket !== "") hideSocket(resolve(config.socket));
    const listening = await modules.listen(app, {
      host: config.host,
      port: config.port,
      ...(config.socket !== "" && { socket: resolve(config.socket) }),
    });
    started.push(() => {
      stopping.abort();
      return listening.close(SHUTDOWN_MS * REQUESTS_SHARE_OF_STOP);
    });

    const saveUses = () =>
      keys.saveUses().catch((error: unknown) => log.warn({ err: error }, "uses of keys not saved"));
    const useTimer = setInterval(() => void saveUses(), USES_SAVED_EVERY_MS).unref();
    started.push(() => {
      clearInterval(useTimer);
      return saveUses();
    });

    const { port } = listening;
    listeningPort = port;
    service.start();
    compaction.begin();
    backups.begin();
    writeRuntimeInfo(config.dataDir, {
      address: config.host,
      port,
      pid: process.pid,
      instanceId,
      version: VERSION,
      startedAt,
      token: access.localToken,
      startedWith: { ...config.startedWith, secrets: [...config.startedWith.secrets] },
      ...(tls !== undefined && { tlsFingerprint: tls.fingerprint }),
    });
    started.push(() => removeRuntimeInfo(config.dataDir, instanceId));
    started.push(modules.followWatchedFolders(config.dataDir, log));
    if (config.exitWhenIdleMs > 0)
      started.push(
        modules.exitWhenIdle(app.server, {
          afterMs: config.exitWhenIdleMs,
          isBusy: () => embedder.waiting + service.counts.jobsRunning + service.counts.jobsWaiting > 0,
          onIdle: requestStop,
        }),
      );
    return { address: config.host, port, isSecure: tls !== undefined, status, stop: stopAll };
  } catch (error) {
    await stopAll();
    throw error;
  }
}

/** To be called once the store and the model are read in threads of their own: the main thread has nothing to do then. */
async function loadServerModules() {
  const [{ followWatchedFolders, openDocumentService }, { buildServer }, { exitWhenIdle, listen }] =
    await Promise.all([
      import("./document-service.ts"),
      import("../http/server.ts"),
      import("../http/listen.ts"),
    ]);
  return { followWatchedFolders, openDocumentService, buildServer, exitWhenIdle, listen };
}

const accessOf = ({ apiKey, host, allowedHosts, allowedOrigins, trustedProxies }: Config) => ({
  ...(apiKey !== undefined && { apiKey }),
  ...rateLimit({ host, allowedHosts }),
  host,
  allowedHosts,
  allowedOrigins,
  trustedProxies,
});

/** Milliseconds of a setting such as `12h` or `1d`; undefined for `off`. */
function millisecondsOf(interval: string): number | undefined {
  const hours = Number.parseInt(interval, 10) * (interval.endsWith("d") ? 24 : 1);
  return Number.isNaN(hours) ? undefined : hours * 3_600_000;
}
