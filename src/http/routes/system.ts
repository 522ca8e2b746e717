import { Type } from "typebox";
import { ServiceError } from "../../core/errors.ts";
import type { SectorCount } from "../../core/operations.ts";
import type { ServiceStatus } from "../../core/status.ts";
import { AliveReply, HealthReply, ReadyReply, StatsReply, VersionReply } from "../../schemas/system.ts";
import { toWire } from "../../schemas/wire.ts";
import { LOCAL_TOKEN_ID } from "../access.ts";
import type { OperationsOf } from "../caller-operations.ts";
import { routes } from "../route.ts";

/** Why the daemon cannot answer everything, each reason in `errors` too. */
function notReadyError(reasons: readonly string[]): ServiceError {
  return new ServiceError("NOT_READY", reasons.join(" "), {
    fields: reasons.map((message) => ({ path: "", message })),
  });
}

export interface SystemRoutesOptions {
  readonly operationsOf: OperationsOf;
  readonly status: () => ServiceStatus;
  /** Refreshes `addsRefused` of the status. */
  readonly lookAtDiskSpace: () => Promise<void>;
  readonly requestStop: () => void;
  /** Proves the daemon's identity to a reader of its runtime file; undefined where there is no such file. */
  readonly prove: ((challenge: string) => string) | undefined;
  /** The finished description of all routes. */
  readonly openapi: () => object;
}

/** What is proved has a length of its own, so that nobody gets a proof of anything else. */
const CHALLENGE = /^[\w-]{32,128}$/;

export const systemRoutes = routes<SystemRoutesOptions>(
  (route, { operationsOf, status, lookAtDiskSpace, requestStop, prove, openapi }) => {
    route(
      { id: "livez", at: "GET /livez", scope: "open", summary: "Whether the process is up" },
      { answer: AliveReply },
      async () => ({ ok: true as const }),
    );

    route(
      {
        id: "readyz",
        at: "GET /readyz",
        scope: "open",
        summary: "Whether the daemon can answer everything",
        description:
          "503 with the reasons in `errors` when it cannot. A full disk is no such reason: reads and deletions go on, and " +
          "`adds_refused` says so.",
      },
      { answer: ReadyReply },
      async () => {
        await lookAtDiskSpace();
        const { notReady, repairs, store } = status();
        if (notReady.length > 0) throw notReadyError([...notReady, ...repairs]);
        return { ok: true as const, ...addsRefused(store), ...repairsReply(repairs) };
      },
    );

    route(
      { id: "health", at: "GET /health", scope: "open", summary: "A short summary" },
      { answer: HealthReply },
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

    route(
      { id: "version", at: "GET /version", scope: "read", summary: "Which version runs" },
      { answer: VersionReply },
      async () => ({ name: "memoryd" as const, version: status().version, node: process.versions.node }),
    );

    route(
      { id: "stats", at: "GET /stats", scope: "admin", summary: "What the store and the model are doing" },
      { answer: StatsReply },
      async (request) => {
        await lookAtDiskSpace();
        return statsReply(status(), operationsOf(request).listSectors({}));
      },
    );

    route(
      {
        id: "shutdown",
        at: "POST /shutdown",
        scope: "admin",
        summary: "Stop the daemon; for its own command line",
        description: "Only with the token in the data directory. Answered before the stop begins.",
      },
      { answer: AliveReply },
      async (request, reply) => {
        if (request.caller?.id !== LOCAL_TOKEN_ID) {
          throw new ServiceError("FORBIDDEN", "Only `memoryd stop` may do this, or a signal to the process.");
        }
        reply.raw.once("close", requestStop);
        return { ok: true as const };
      },
    );

    route(
      { id: "openapi", at: "GET /openapi.json", scope: "read", summary: "This description" },
      { answer: Type.Unsafe<object>({ type: "object" }) },
      async () => openapi(),
    );
  },
);

function addsRefused({ addsRefused: reason }: ServiceStatus["store"]): { adds_refused?: string } {
  return reason === null ? {} : { adds_refused: reason };
}

function repairsReply(repairs: readonly string[]): { repairs?: string[] } {
  return repairs.length === 0 ? {} : { repairs: [...repairs] };
}

function statsReply(status: ServiceStatus, sectors: readonly SectorCount[]) {
  const { sandbox: by, embedding, embeddingQueue, store } = status;
  return toWire(StatsReply, {
    ...status,
    ready: status.notReady.length === 0,
    repairs: repairsReply(status.repairs).repairs,
    sandbox: by === null ? { walls: [] } : { walls: ["network", "signals"], by },
    sectors: Object.fromEntries(sectors.map(({ name, count }) => [name, count])),
    embedding: { ...embedding, ...embeddingQueue },
    store: { ...store, addsRefused: store.addsRefused ?? undefined },
  });
}
