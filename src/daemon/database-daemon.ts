import { type Config, ConfigError, setVariables, strangersLetIn } from "../config/config.ts";
import { shareMemory, VERSION } from "../config/limits.ts";
import type { DocumentOperations } from "../core/documents/document-operations.ts";
import { type ServiceError, storeUnusable } from "../core/errors.ts";
import { RequestLedger } from "../core/idempotency.ts";
import { notInDatabase, operationsByUser } from "../core/isolation.ts";
import type { MemoryPorts } from "../core/memories/memory-ports.ts";
import { SECTORS } from "../core/memory.ts";
import { bindOperations, type Operations } from "../core/operations.ts";
import type { ServiceStatus } from "../core/status.ts";
import type { ServerOptions } from "../http/server.ts";
import { EMBEDDING_DIMENSIONS, stampKey } from "../core/embedding.ts";
import { BUNDLED_MODELS, ONNX_ENVIRONMENT } from "../models/bundled-models.ts";
import { usualThreads } from "../models/onnx-embedder.ts";
import { holdsStore } from "../storage/files/data-directory.ts";
import { nodeDisk } from "../storage/files/disk.ts";
import { openDatabase } from "../storage/postgres/database.ts";
import { DatabaseClock } from "../storage/postgres/database-clock.ts";
import { listUsers } from "../storage/postgres/database-users.ts";
import { DatabaseKeys } from "../storage/postgres/database-keys.ts";
import { checkSchema, SCHEMA_VERSION, stampIn } from "../storage/postgres/schema.ts";
import { sweepRemoved } from "../storage/postgres/newer-records.ts";
import { UserStores } from "../storage/postgres/user-stores.ts";
import { keyRingOf } from "./key-service.ts";
import { classifierOf, openModel } from "./model-service.ts";
import { asked, databaseOf } from "./reach-database.ts";
import { createPlaces, expireIn, portsBeside, scheduledFollowUps } from "./beside-store.ts";
import { beginDaemon, serve } from "./serve.ts";
import type { Logger } from "./system.ts";

/** Memory for open users where the budget is `auto`: some 100 users of 5 000 memories. */
const USUAL_BUDGET_BYTES = 1024 ** 3;
const EXPIRED_EVERY_MS = 60 * 60_000;
/** How often the database is asked for its time, and whether keys have changed. */
const PINGED_EVERY_MS = 1_000;
/** A database that has not answered for so long makes the node not ready. */
const AWAY_AFTER_MS = 5_000;
/** Memories of the last minutes are looked at when a user is opened: a node that was killed may have left them waiting. */
const RESUMED_MS = 10 * 60_000;

/**
 * Builds a node: a daemon whose store is in a database that other nodes use too. Otherwise as `startDaemon`.
 *
 * @throws {ServiceError} with a sentence that says what to do.
 */
export function startOnDatabase(
  config: Config,
  log: Logger,
  requestStop: () => void,
  logFile: string | undefined,
) {
  return beginDaemon(config, log, async (begun) => {
    const { started, startedAt, instanceId } = begun;
    if (await holdsStore(nodeDisk, config.dataDir))
      throw storeUnusable(
        `${config.dataDir} holds memories of its own, which a daemon with --store would not show; name another folder with ` +
          "--data-dir. Nothing was changed.",
      );
    setVariables(ONNX_ENVIRONMENT);
    const { threads, cacheBytes = USUAL_BUDGET_BYTES } = shareMemory(config.memoryBudget, usualThreads());
    const database = openDatabase(databaseOf(config));
    started.push(() => database.close());
    // A database keeps the model of its vectors. What is wrong with it is told below.
    const stored = await stampIn(database).catch(() => undefined);
    const kind = BUNDLED_MODELS.find(({ stamp }) => stampKey(stamp) === stored)?.name ?? config.model;
    if (kind !== config.model)
      log.info({ model: kind, wanted: config.model }, "the database keeps the model of its vectors");
    const { model, embedder: opening } = openModel(undefined, { ...config, model: kind }, log, threads);
    started.push(() => opening.then((known) => known.close()).catch(() => undefined));
    const storeId = await asked(database, (opened) => checkSchema(opened, model.stamp));
    const clock = new DatabaseClock();
    const kept = new DatabaseKeys(database);
    const keys = keyRingOf(kept, await asked(database, () => kept.read()), clock);
    const fault = config.apiKey === undefined && !keys.isLocked ? strangersLetIn(config) : undefined;
    if (fault !== undefined) throw new ConfigError(fault);
    // This node stays shut to strangers if another one removed the keys for its own machine.
    const keysNow = async () =>
      (await kept.read()) ??
      (config.apiKey === undefined && strangersLetIn(config) !== undefined ? [] : undefined);
    const embedder = await opening;

    const common = portsBeside(config, { embedder, classify: classifierOf(model) }, clock);
    const parts = { database, stamp: model.stamp, clock, log };
    const users = new UserStores(parts, cacheBytes, ({ store, feed }) => {
      const scheduled = scheduledFollowUps(store, () => embedder.waiting > 0, log);
      const { followUps } = scheduled;
      const ports: MemoryPorts = { ...common, store, followUps, requests: new RequestLedger() };
      followUps.resume(clock.now() - RESUMED_MS);
      const expire = () => expireIn(ports, log);
      void expire();
      const none = async (): Promise<void> => {};
      const operations = bindOperations({ ...ports, feed, stopJob: none, noteErasure: none });
      return { operations, expire, stop: () => scheduled.stop() };
    });
    started.push(async () => {
      await Promise.allSettled(users.attached.map(({ stop }) => stop()));
      await users.close();
    });

    const expiry = setInterval(() => {
      for (const { expire } of users.attached) void expire();
      sweepRemoved(database).catch((error: unknown) => log.warn({ err: error }, "removed rows not swept"));
    }, EXPIRED_EVERY_MS).unref();
    let answeredAt = performance.now();
    const look = async () => {
      const sentAt = performance.now();
      const [row] = await database.query<[string]>("select extract(epoch from clock_timestamp()) * 1000");
      clock.note(Number(row?.[0]), sentAt);
      if (await kept.isBehind()) await keys.refresh(keysNow);
      answeredAt = performance.now();
    };
    // Before the first write is dated.
    await asked(database, look);
    let looking: Promise<void> | undefined;
    const ping = setInterval(() => {
      users.makeRoom();
      looking ??= look()
        .catch(() => undefined)
        .finally(() => (looking = undefined));
    }, PINGED_EVERY_MS).unref();
    started.push(() => {
      clearInterval(expiry);
      clearInterval(ping);
    });

    const status = (): ServiceStatus => {
      const figures = users.figures;
      const awayMs = performance.now() - answeredAt;
      return {
        version: VERSION,
        instanceId,
        startedAt,
        notReady:
          awayMs < AWAY_AFTER_MS
            ? []
            : [`The database has not answered for ${Math.round(awayMs / 1_000)} seconds.`],
        repairs: [],
        memoryCount: figures.memories,
        documents: { count: 0, jobsWaiting: 0, jobsRunning: 0 },
        sandbox: null,
        embedding: {
          model: embedder.name,
          dimensions: EMBEDDING_DIMENSIONS,
          modelSha256: embedder.stamp.model,
        },
        store: {
          dataDir: config.dataDir,
          format: SCHEMA_VERSION,
          storeId,
          position: "1.0",
          checkpoint: "",
          pendingRows: 0,
          pendingBytes: 0,
          diskBytes: 0,
          journalBytes: 0,
          checkpoints: 0,
          unerased: 0,
          readOnly: false,
          addsRefused: null,
        },
        node: figures,
        embeddingQueue: { waiting: embedder.waiting, workers: embedder.workers },
      };
    };
    return serve(begun, {
      operations(callerId) {
        const byUser = operationsByUser(async (user) => (await users.find(user, callerId)).operations);
        return {
          ...byUser,
          ...figuresOf(byUser, () => users.attached),
          listUsers: (page) => listUsers(database, page),
        };
      },
      documents: refusing<DocumentOperations>(
        notInDatabase("Ingesting documents", "documents cannot be kept there yet"),
      ),
      compaction: refusing<ServerOptions["compaction"]>(
        notInDatabase("Erasing from the disk", "the database frees what was deleted by itself (VACUUM)"),
        { purgeWithBackups: copies },
      ),
      backups: refusing<ServerOptions["backups"]>(
        notInDatabase("Making backups", "back up the database itself, as with pg_dump"),
        {
          copies,
        },
      ),
      models: refusing<ServerOptions["models"]>(
        notInDatabase("Listing or changing models", "the model of a database cannot be changed yet"),
      ),
      status,
      lookAtDiskSpace: async () => {},
      places: createPlaces(storeId),
      keys,
      timeZone: common.timeZone,
      isBusy: () => embedder.waiting > 0,
      requestStop,
      logFile,
    });
  });
}

/** Questions about all users are answered for those that are open here. */
function figuresOf(
  { listSectors, listSuperseded }: Pick<Operations, "listSectors" | "listSuperseded">,
  opened: () => readonly { readonly operations: Operations }[],
): Pick<Operations, "listSectors" | "listSuperseded"> {
  return {
    async listSectors(input) {
      if (input.userId !== undefined) return listSectors(input);
      const each = await Promise.all(opened().map(({ operations }) => operations.listSectors({})));
      return SECTORS.map((name) => {
        const known = each.flatMap((sectors) => sectors.filter((sector) => sector.name === name));
        const count = known.reduce((sum, sector) => sum + sector.count, 0);
        return { name, description: known[0]?.description ?? "", count };
      });
    },
    async listSuperseded(input) {
      if (input.filter.userId !== undefined || input.limit > 0) return listSuperseded(input);
      const each = await Promise.all(opened().map(({ operations }) => operations.listSuperseded(input)));
      return { items: [], total: each.reduce((sum, { total }) => sum + total, 0) };
    },
  };
}

/** Copies of what a deletion removed, as far as a node knows. */
const copies = async () => ({
  made: null,
  removed: 0,
  remaining: null,
  problem: "Backups of the database may hold what was deleted.",
});

/** Functions that all refuse, but for those given. */
const refusing = <T extends object>(refusal: ServiceError, answered: Partial<T> = {}): T =>
  new Proxy(answered as T, {
    get: (known, name) =>
      Reflect.get(known, name) ??
      (() => {
        throw refusal;
      }),
  });
