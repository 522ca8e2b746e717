import { tmpdir } from "node:os";
import { join } from "node:path";
import { backupFolder, createBackupService } from "./backup-service.ts";
import { createCompactionService } from "./compaction-service.ts";
import { type Config, setVariables } from "../config/config.ts";
import { shareMemory, VERSION } from "../config/limits.ts";
import { EMBEDDING_DIMENSIONS } from "../core/embedding.ts";
import { undoChanges } from "../core/history/undo.ts";
import { openUndoLog } from "./undo-log.ts";
import { RequestLedger } from "../core/idempotency.ts";
import type { MemoryPorts } from "../core/memories/memory-ports.ts";
import { bindOperations } from "../core/operations.ts";
import { openKeyRing } from "./key-service.ts";
import { createPlaces, expireIn, portsBeside, scheduledFollowUps } from "./beside-store.ts";
import { beginDaemon, loadServerModules, serve } from "./serve.ts";
import { type Logger, systemClock } from "./system.ts";
import { GONE_MODELS, ONNX_ENVIRONMENT } from "../models/bundled-models.ts";
import { chosenModel } from "./chosen-model.ts";
import { createModelService, modelOf, type OpeningModel, openModel } from "./model-service.ts";
import { usualThreads, type ModelEmbedder } from "../models/onnx-embedder.ts";
import { TEMPORARY_FOLDER } from "../storage/files/data-directory.ts";
import { nodeDisk, removeTree } from "../storage/files/disk.ts";
import { openStore, type OpenedStore, STORE_FORMAT } from "../storage/open-store.ts";
import type { ServiceStatus } from "../core/status.ts";

/** Its `stop` finishes running requests and closes the store; answered writes are on the disk before and after. */
export type RunningDaemon = Awaited<ReturnType<typeof serve>>;

/** How often the clock is looked at, and what is past its days is removed. */
const EXPIRED_EVERY_MS = 60 * 60_000;

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
export async function startDaemon(
  config: Config,
  log: Logger,
  requestStop: () => void,
  logFile?: string,
): Promise<RunningDaemon> {
  if (config.store !== "") {
    const { startOnDatabase } = await import("./database-daemon.ts");
    return startOnDatabase(config, log, requestStop, logFile);
  }
  return beginDaemon(config, log, async (begun) => {
    const { started, startedAt, instanceId } = begun;
    const keys = await openKeyRing(config.dataDir);
    const isKeyNeeded = () => config.apiKey !== undefined || keys.isLocked;
    setVariables(ONNX_ENVIRONMENT);
    started.push(await ownTemporaryFolder(config.dataDir));
    const { threads, cacheBytes } = shareMemory(config.memoryBudget, usualThreads());
    let opening: OpeningModel | undefined;
    started.push(() => opening?.embedder.then((known) => known.close()).catch(() => undefined));
    let loading: ReturnType<typeof loadModules> | undefined;
    const opened = await openStore({
      disk: nodeDisk,
      directory: config.dataDir,
      clock: systemClock,
      stamp: (stored) => {
        // Beside the store: each takes a second or more, mostly in threads of its own.
        opening = openModel(stored, config, log, threads);
        loading = loadModules();
        loading.catch(() => undefined);
        return opening.model.stamp;
      },
      changesModel: (stored) =>
        chosenModel(config.dataDir) !== undefined ||
        modelOf(config.dataDir, stored) !== undefined ||
        GONE_MODELS.has(stored.model),
      log,
      limits: { bytes: config.checkpointBytes },
      cacheBytes,
    });
    started.push(() => opened.store.close());
    if (opening === undefined || loading === undefined) throw new TypeError("an open store has a model");
    const { dataDir } = config;
    const { model } = opening;
    const embedding = await opening.embedder;
    const models = createModelService({ dataDir, opened, model, embedder: embedding, threads, log });
    const { embedder } = models;

    const scheduled = scheduledFollowUps(opened.store, () => embedder.now.waiting > 0, log);
    const { followUps } = scheduled;
    started.push(() => scheduled.stop());
    scheduled.resumeLater();
    started.push(() => models.stop());
    models.begin(followUps);

    const ports: MemoryPorts = {
      ...portsBeside(config, { embedder, classify: models.classify }, systemClock),
      store: opened.store,
      requests: new RequestLedger(),
      followUps,
    };
    let listeningPort: number | undefined;
    const modules = await loading;
    const service = await modules.openDocumentService(config, ports, {
      log,
      ownPort: () => listeningPort,
      hasAllDocuments: opened.hasAllDocuments,
      isKeyNeeded,
    });
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
      expired = expireIn(ports, log);
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
        embedder.now.waiting + service.counts.jobsRunning > 0 ? Symbol() : opened.journal.position.sequence,
      log,
    });
    started.push(() => compaction.close());
    const status = () =>
      statusOf(config, {
        instanceId,
        startedAt,
        embedder: embedder.now,
        opened,
        documents: service.counts,
        damagedOriginals: service.damage,
        repairs: [...opened.losses, ...models.repairs],
        sandbox: service.sandbox,
      });
    const running = await serve(begun, {
      operations: () => operations,
      documents: service.operations,
      compaction,
      backups,
      models,
      places: createPlaces(opened.storeId),
      status,
      lookAtDiskSpace: () => opened.store.lookAtDiskSpace(),
      keys,
      timeZone: ports.timeZone,
      isBusy: () => embedder.now.waiting + service.counts.jobsRunning + service.counts.jobsWaiting > 0,
      requestStop,
      logFile,
      onListening(port) {
        listeningPort = port;
        service.start();
        compaction.begin();
        backups.begin();
      },
    });
    started.push(modules.followWatchedFolders(config.dataDir, log));
    return running;
  });
}

/** To be called once the store and the model are read in threads of their own: the main thread has nothing to do then. */
async function loadModules() {
  const [{ followWatchedFolders, openDocumentService }] = await Promise.all([
    import("./document-service.ts"),
    loadServerModules(),
  ]);
  return { followWatchedFolders, openDocumentService };
}

/** Milliseconds of a setting such as `12h` or `1d`; undefined for `off`. */
function millisecondsOf(interval: string): number | undefined {
  const hours = Number.parseInt(interval, 10) * (interval.endsWith("d") ? 24 : 1);
  return Number.isNaN(hours) ? undefined : hours * 3_600_000;
}

interface Parts {
  readonly instanceId: string;
  readonly startedAt: number;
  readonly embedder: ModelEmbedder;
  readonly opened: OpenedStore;
  readonly documents: ServiceStatus["documents"];
  readonly damagedOriginals: readonly string[];
  readonly repairs: readonly string[];
  readonly sandbox: ServiceStatus["sandbox"];
}

/** The state of a running daemon. */
export function statusOf(
  config: Config,
  { instanceId, startedAt, embedder, opened, documents, damagedOriginals, repairs, sandbox }: Parts,
): ServiceStatus {
  const { store, storeId, journal, checkpointer, tables, damage } = opened;
  const { latest } = checkpointer;
  const tableBytes = (latest?.tables ?? [])
    .flatMap(({ files }) => files)
    .reduce((sum, { size }) => sum + size, 0);
  const failures = [journal.readOnly, checkpointer.stopped, tables.failure];
  const notReady = failures.flatMap((error) => error?.message ?? []);
  return {
    version: VERSION,
    instanceId,
    startedAt,
    notReady: [
      ...notReady,
      ...damage.map((reason) => `A file of the store is damaged: ${reason}.`),
      ...damagedOriginals,
    ],
    repairs,
    memoryCount: store.catalogue.size,
    documents,
    sandbox,
    embedding: { model: embedder.name, dimensions: EMBEDDING_DIMENSIONS, modelSha256: embedder.stamp.model },
    store: {
      dataDir: config.dataDir,
      format: STORE_FORMAT,
      storeId,
      position: `${journal.position.epoch}.${journal.position.sequence}`,
      checkpoint: latest === undefined ? "" : `${latest.epoch}.${latest.sequence}`,
      pendingRows: store.pending.rows,
      pendingBytes: store.pending.bytes,
      diskBytes: tableBytes + journal.bytes,
      journalBytes: journal.bytes,
      checkpoints: latest?.number ?? 0,
      unerased: opened.purge.waiting?.items ?? 0,
      readOnly: journal.readOnly !== undefined,
      addsRefused: store.addsRefused ?? null,
    },
    embeddingQueue: { waiting: embedder.waiting, workers: embedder.workers },
  };
}
