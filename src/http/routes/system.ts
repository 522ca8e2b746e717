import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { Type } from "typebox";
import { ServiceError } from "../../core/errors.ts";
import type { SectorCount } from "../../core/sectors/list-sectors.ts";
import type { ServiceStatus } from "../../core/status.ts";
import { AliveReply, HealthReply, ReadyReply, StatsReply, VersionReply } from "../../schemas/system.ts";
import { formatTime } from "../../schemas/time.ts";
import { LOCAL_TOKEN_ID } from "../access.ts";
import type { OperationsOf } from "../caller-operations.ts";

/** Why the daemon cannot answer everything, each reason in `errors` too. */
function notReadyError(reasons: readonly string[]): ServiceError {
  return new ServiceError("NOT_READY", reasons.join(" "), {
    fields: reasons.map((message) => ({ path: "", message })),
  });
}

export interface SystemRoutesOptions {
  readonly operationsOf: OperationsOf;
  readonly status: () => ServiceStatus;
  /** Brings up to date what the status says of adding. */
  readonly lookAtDiskSpace: () => Promise<void>;
  readonly requestStop: () => void;
  /** Who this is, to somebody who has the file in the data directory; undefined where there is no such file. */
  readonly prove: ((challenge: string) => string) | undefined;
  /** The finished description of all routes. */
  readonly openapi: () => object;
}

/** What is proved has a length of its own, so that nobody gets a proof of anything else. */
const CHALLENGE = /^[\w-]{32,128}$/;

export const systemRoutes: FastifyPluginAsyncTypebox<SystemRoutesOptions> = async (
  app,
  { operationsOf, status, lookAtDiskSpace, requestStop, prove, openapi },
) => {
  app.get(
    "/livez",
    {
      config: { scope: "open" },
      schema: { operationId: "livez", summary: "Whether the process is up", response: { 200: AliveReply } },
    },
    async () => ({ ok: true as const }),
  );

  app.get(
    "/readyz",
    {
      config: { scope: "open" },
      schema: {
        operationId: "readyz",
        summary: "Whether the daemon can answer everything",
        description:
          "503 with the reasons in `errors` when it cannot. A full disk is no such reason: reads and deletions go on, and " +
          "`adds_refused` says so.",
        response: { 200: ReadyReply },
      },
    },
    async () => {
      await lookAtDiskSpace();
      const { notReady, repairs, store } = status();
      if (notReady.length > 0) throw notReadyError([...notReady, ...repairs]);
      return { ok: true as const, ...addsRefused(store), ...repairsReply(repairs) };
    },
  );

  app.get(
    "/health",
    {
      config: { scope: "open" },
      schema: { operationId: "health", summary: "A short summary", response: { 200: HealthReply } },
    },
    async (request, reply) => {
      const { caller } = request;
      if (caller !== undefined) await lookAtDiskSpace();
      const challenge = request.headers["x-memoryd-challenge"];
      if (prove !== undefined && typeof challenge === "string" && CHALLENGE.test(challenge))
        reply.header("x-memoryd-proof", prove(challenge));
      const { version, notReady, embedding, memoryCount, instanceId, store } = status();
      const ok = notReady.length === 0;
      const state = ok ? ("ok" as const) : ("not_ready" as const);
      if (caller === undefined) return { status: state, version };
      return {
        ok,
        status: state,
        version,
        embedding_model: embedding.model,
        // Of everybody.
        ...(caller.scope === "admin" && { memory_count: memoryCount }),
        instance_id: instanceId,
        ...addsRefused(store),
      };
    },
  );

  app.get(
    "/version",
    {
      config: { scope: "read" },
      schema: { operationId: "version", summary: "Which version runs", response: { 200: VersionReply } },
    },
    async () => ({ name: "memoryd" as const, version: status().version, node: process.versions.node }),
  );

  app.get(
    "/stats",
    {
      config: { scope: "admin" },
      schema: {
        operationId: "stats",
        summary: "What the store and the model are doing",
        response: { 200: StatsReply },
      },
    },
    async (request) => {
      await lookAtDiskSpace();
      return statsReply(status(), operationsOf(request).listSectors({}));
    },
  );

  app.post(
    "/shutdown",
    {
      config: { scope: "admin" },
      schema: {
        operationId: "shutdown",
        summary: "Stop the daemon; for its own command line",
        description: "Only with the token in the data directory. Answered before the stop begins.",
        response: { 200: AliveReply },
      },
    },
    async (request, reply) => {
      if (request.caller?.id !== LOCAL_TOKEN_ID) {
        throw new ServiceError("FORBIDDEN", "Only `memoryd stop` may do this, or a signal to the process.");
      }
      reply.raw.once("close", requestStop);
      return { ok: true as const };
    },
  );

  app.get(
    "/openapi.json",
    {
      config: { scope: "read" },
      schema: {
        operationId: "openapi",
        summary: "This description",
        response: { 200: Type.Unsafe<object>({ type: "object" }) },
      },
    },
    async () => openapi(),
  );
};

function addsRefused({ addsRefused: reason }: ServiceStatus["store"]): { adds_refused?: string } {
  return reason === null ? {} : { adds_refused: reason };
}

function sandboxReply(by: ServiceStatus["sandbox"]) {
  return by === null ? { walls: [] } : { walls: ["network" as const, "signals" as const], by };
}

function repairsReply(repairs: readonly string[]): { repairs?: string[] } {
  return repairs.length === 0 ? {} : { repairs: [...repairs] };
}

function statsReply(status: ServiceStatus, sectors: readonly SectorCount[]) {
  const { embedding, embeddingQueue, store } = status;
  return {
    version: status.version,
    instance_id: status.instanceId,
    started_at: formatTime(status.startedAt),
    ready: status.notReady.length === 0,
    not_ready: [...status.notReady],
    ...repairsReply(status.repairs),
    memory_count: status.memoryCount,
    documents: {
      count: status.documents.count,
      jobs_waiting: status.documents.jobsWaiting,
      jobs_running: status.documents.jobsRunning,
    },
    sandbox: sandboxReply(status.sandbox),
    sectors: Object.fromEntries(sectors.map(({ name, count }) => [name, count])),
    embedding: {
      model: embedding.model,
      model_sha256: embedding.modelSha256,
      dimensions: embedding.dimensions,
      workers: embeddingQueue.workers,
      waiting: embeddingQueue.waiting,
    },
    store: {
      data_dir: store.dataDir,
      format: store.format,
      store_id: store.storeId,
      position: store.position,
      checkpoint: store.checkpoint,
      pending_rows: store.pendingRows,
      pending_bytes: store.pendingBytes,
      disk_bytes: store.diskBytes,
      unerased: store.unerased,
      read_only: store.readOnly,
      ...addsRefused(store),
    },
  };
}
