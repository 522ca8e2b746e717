import { isAbsolute } from "node:path";
import { conflict, forbidden, invalidRequest, notReady, type ServiceError } from "../../core/errors.ts";
import type { ServiceStatus } from "../../core/status.ts";
import * as store from "../../schemas/backups.ts";
import * as wire from "../../schemas/system.ts";
import { present } from "../../schemas/wire.ts";
import { LOCAL_TOKEN_ID } from "../access.ts";
import { METRICS_MEDIA_TYPE, statusMetrics } from "../metrics.ts";
import { route, routes } from "../route.ts";
import { Type } from "../../schemas/typebox.ts";

/** Why the daemon cannot answer everything, each reason in `errors` too. */
const notReadyError = (reasons: readonly string[]): ServiceError =>
  notReady(reasons.join(" "), { fields: reasons.map((message) => ({ path: "", message })) });

/** A challenge has a length of its own, so that no proof of it proves anything else. */
const CHALLENGE = /^[\w-]{32,128}$/;

export const systemRoutes = routes((served) => {
  const { operationsOf, status, lookAtDiskSpace, requestStop, requestMetrics, prove, openapi } = served;
  return {
    livez: route("open GET /livez", "Whether the process is up", {
      answer: wire.AliveReply,
      handle: async () => ({ ok: true as const }),
    }),
    readyz: route("open GET /readyz", "Whether the daemon can answer everything", {
      errors: ["NOT_READY"],
      description:
        "503 with the reasons in `errors` when it cannot. A full disk is no such reason: reads and deletions go on, and " +
        "`adds_refused` says so.",
      answer: wire.ReadyReply,
      handle: async () => {
        await lookAtDiskSpace();
        const { notReady, repairs, store } = status();
        if (notReady.length > 0) throw notReadyError([...notReady, ...repairs]);
        return { ok: true as const, ...stateOf({ store, repairs }) };
      },
    }),
    health: route("open GET /health", "A short summary", {
      description:
        "200 also when the daemon is not ready; a node on a database answers 503 then, also while it stops.",
      answer: wire.HealthReply,
      handle: async (request, reply) => {
        const { caller } = request;
        if (caller !== undefined) await lookAtDiskSpace();
        const challenge = request.headers["x-memoryd-challenge"];
        if (typeof challenge === "string" && CHALLENGE.test(challenge))
          reply.header("x-memoryd-proof", prove(challenge));
        const { version, notReady, embedding, memoryCount, instanceId, store, node } = status();
        const ok = notReady.length === 0;
        // A balancer in front of several nodes goes by the status.
        if (!ok && node !== undefined) reply.code(503);
        const state = ok ? ("ok" as const) : ("not_ready" as const);
        if (caller === undefined) return { status: state, version };
        return {
          ok,
          status: state,
          version,
          embeddingModel: embedding.model,
          // Only for admins: it counts all users' memories.
          ...(caller.scope === "admin" && { memoryCount }),
          instanceId,
          ...present({ addsRefused: store.addsRefused }),
        };
      },
    }),
    version: route("read GET /version", "Which version runs", {
      answer: wire.VersionReply,
      handle: async () => ({
        name: "memoryd" as const,
        version: status().version,
        node: process.versions.node,
      }),
    }),
    stats: route("admin GET /stats", "What the store and the model are doing", {
      answer: wire.StatsReply,
      handle: async (request) => {
        await lookAtDiskSpace();
        const { sandbox: by, embedding, embeddingQueue, store, repairs, node: _node, ...rest } = status();
        const sectors = await operationsOf(request).listSectors({});
        const guesses = { filter: {}, how: "inferred", limit: 0, offset: 0 } as const;
        const { total: perhapsSuperseded } = await operationsOf(request).listSuperseded(guesses);
        return {
          ...rest,
          ...stateOf({ store, repairs }),
          perhapsSuperseded,
          ready: rest.notReady.length === 0,
          sandbox: by === null ? { walls: [] } : { walls: ["network", "signals"] as const, by },
          sectors: Object.fromEntries(sectors.map(({ name, count }) => [name, count])),
          embedding: { ...embedding, ...embeddingQueue },
          store: { ...store, addsRefused: store.addsRefused ?? undefined },
        };
      },
    }),
    metrics: route("admin GET /metrics", "Figures for Prometheus", {
      answers: "text/plain",
      description:
        "Requests by route, status and seconds since the start; memories, jobs, queue, journal, checkpoints and bytes. Never a name, " +
        "an id or a text.",
      handle: async (_request, reply) => {
        await lookAtDiskSpace();
        return reply.type(METRICS_MEDIA_TYPE).send(statusMetrics(status()) + requestMetrics());
      },
    }),
    shutdown: route("admin POST /shutdown", "Stop the daemon; for its own command line", {
      description: "Only with the token in the data directory. Answered before the stop begins.",
      answer: wire.AliveReply,
      handle: async (request, reply) => {
        if (request.caller?.id !== LOCAL_TOKEN_ID)
          throw forbidden("Only `memoryd stop` may do this, or a signal to the process.");
        reply.raw.once("close", requestStop);
        return { ok: true as const };
      },
    }),
    openapi: route("read GET /openapi.json", "This description", {
      answer: Type.Unsafe<object>({ type: "object" }),
      handle: async () => openapi(),
    }),
  };
});

/** Why adds are refused, and the parts that are made again; each absent where there is none. */
const stateOf = ({ store, repairs }: Pick<ServiceStatus, "store" | "repairs">) =>
  present({ addsRefused: store.addsRefused, repairs: repairs.length === 0 ? null : repairs });

const DEFAULT_LOG_LINES = 200;

export const inspectRoutes = routes(({ inspect }) => ({
  listSettings: route(
    "admin GET /settings",
    "The settings that the daemon runs with, and where each comes from",
    {
      description: "Of secrets only whether they are set.",
      answer: wire.SettingsReply,
      handle: async () => inspect,
    },
  ),
  readLogs: route("admin GET /logs", "The last lines of the daemon's log", {
    description: "Reads the last 2 MiB of it. The log holds no text of memories, no questions and no keys.",
    querystring: wire.LogsQuery,
    answer: wire.LogsReply,
    handle: async ({ query: { l = DEFAULT_LOG_LINES, level = "debug" } }) => inspect.readLog({ l, level }),
  }),
}));

export const modelRoutes = routes(({ models }) => ({
  listModels: route(
    "admin GET /models",
    "The embedding models that ship or were added, and how far a change of the store's is",
    { answer: wire.ListModelsReply, handle: async () => models.list() },
  ),
  useModel: route("admin POST /models/use", "Embed all memories again with another model", {
    errors: ["CONFLICT", "STORE_FULL"],
    description:
      "New memories and questions use it at once; the others follow in the background and over restarts, and are found by " +
      "words alone until then. `GET /models` says how far it is.",
    body: wire.UseModelBody,
    accepted: wire.ListModelsReply,
    handle: async ({ body }, reply) => {
      reply.code(202);
      return models.use(body.name);
    },
  }),
}));

export const compactionRoutes = routes(({ compaction }) => ({
  getCompaction: route(
    "admin GET /compact",
    "What waits to be erased from the disk, and how far erasing is",
    { answer: store.CompactionRecord, handle: async () => compaction.status() },
  ),
  compact: route("admin POST /compact", "Erase what was deleted from the disk now", {
    errors: ["CONFLICT"],
    description:
      "Goes on by itself after the answer; `GET /compact` says how far it is. While one runs already, `backups=true` is 409.",
    querystring: store.StartCompactionQuery,
    accepted: store.StartCompactionReply,
    handle: async ({ query }, reply) => {
      const started = compaction.start({ renewsBackups: query.backups === true });
      if (!started && query.backups === true)
        throw conflict(
          "A purge runs already, and leaves the backups as they are. Ask again when it has ended; `GET /compact` says when.",
        );
      reply.code(202);
      return { started, compaction: compaction.status() };
    },
  }),
}));

export const backupRoutes = routes(({ backups }) => ({
  createBackup: route("admin POST /backups", "Copy the whole store to a backup, while it is used", {
    errors: ["CONFLICT"],
    description:
      "Goes on by itself after the answer; `GET /backups` says how far it is and whether it failed.",
    body: store.CreateBackupBody,
    accepted: store.StartBackupReply,
    handle: async ({ body, caller }, reply) => {
      const { name, folder } = body ?? {};
      // A key must not let its holder write anywhere on the disk.
      if (folder !== undefined && caller?.id !== LOCAL_TOKEN_ID)
        throw forbidden("Only a program of this machine that can read the data directory may name a folder.");
      if (folder !== undefined && !isAbsolute(folder))
        throw invalidRequest(`The folder must be an absolute path; got ${folder}.`);
      const started = await backups.start(present({ name, folder }));
      reply.code(202);
      return { ...started, status: "running" as const };
    },
  }),
  listBackups: route("admin GET /backups", "List backups, newest first", {
    answer: store.ListBackupsReply,
    handle: async () => backups.list(),
  }),
  verifyBackup: route("admin POST /backups/:name/verify", "Read every file of a backup and open its tables", {
    description:
      "Answers when that is done: about a second for 500 MB. 500 with what is wrong where it is damaged.",
    params: store.BackupParams,
    answer: store.BackupRecord,
    handle: async ({ params }) => backups.verify(params.name),
  }),
  deleteBackup: route("admin DELETE /backups/:name", "Remove a backup", {
    params: store.BackupParams,
    answer: store.RemoveBackupReply,
    handle: async ({ params }) => {
      await backups.remove(params.name);
      return { ok: true as const, deleted: 1 as const };
    },
  }),
}));
