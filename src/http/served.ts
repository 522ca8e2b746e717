/** The parts of the program that routes are served from. */
import type { FastifyRequest } from "fastify";
import type { KeyRing } from "../core/access/key-ring.ts";
import type { BackupOperations } from "../core/backups.ts";
import type { DocumentOperations } from "../core/documents/document-operations.ts";
import type { InspectOperations } from "../core/inspection.ts";
import { documentOperationsFor, operationsFor } from "../core/isolation.ts";
import type { ModelOperations } from "../core/models.ts";
import type { Operations } from "../core/operations.ts";
import type { PurgeOperations } from "../core/purge.ts";
import type { ServiceStatus } from "../core/status.ts";
import type { ToolChoice } from "../schemas/agent-tools.ts";
import type { Access } from "./access.ts";
import type { ConsoleSessions } from "./console-sessions.ts";
import type { UploadLimits } from "./upload.ts";

/** Parts that a server is given. The routes of one that is left out are, too. */
export interface Parts {
  readonly compaction?: PurgeOperations;
  readonly backups?: BackupOperations;
  readonly models?: ModelOperations;
  /** Settings and log. */
  readonly inspect?: InspectOperations;
  /** Answers agents at `/mcp`. */
  readonly mcp?: McpHandler;
  /** Folder of the console's build, served at `/`: `index.html` and `assets/`. */
  readonly consoleFolder?: string;
  /** Asked at every request that needs it. */
  readonly status: () => ServiceStatus;
  /** Answers a challenge so that the command line knows who listens here; see `proofOf`. */
  readonly prove?: (challenge: string) => string;
}

export interface Served extends Parts {
  /** Refreshes `addsRefused` of the status. */
  readonly lookAtDiskSpace: () => Promise<void>;
  /** Ends the process as a signal would. */
  readonly requestStop: () => void;
  /** Aborted before the server closes: answers that have no end of their own end. */
  readonly stopping: AbortSignal;
  readonly operationsOf: (request: FastifyRequest) => Operations;
  /** Left out: no documents are taken. */
  readonly documentsOf?: (request: FastifyRequest) => DocumentOperations;
  readonly keys?: KeyRing;
  readonly access: Access;
  readonly sessions: ConsoleSessions;
  readonly limits: UploadLimits;
  /** The requests so far, for Prometheus. */
  readonly requestMetrics: () => string;
  /** The finished description of all routes. */
  readonly openapi: () => object;
}

/** The operations as the caller of a request may use them. Routes have no other access to them. */
export function callerOperations(operations: Operations): Served["operationsOf"] {
  return (request) => operationsFor(boundUserOf(request), operations);
}

export function callerDocuments(documents: DocumentOperations): NonNullable<Served["documentsOf"]> {
  return (request) => documentOperationsFor(boundUserOf(request), documents);
}

function boundUserOf({ caller, routeOptions }: FastifyRequest): string | undefined {
  // An open route may be called by anybody: one that reached the operations would answer for everybody.
  if (caller === undefined) throw new TypeError(`${routeOptions.url} needs no key, so it has no operations`);
  return caller.userId;
}

/** A request to the agents' endpoint, past every guard; `operations` are the caller's. */
export interface McpRequest {
  readonly request: Request;
  readonly body: unknown;
  readonly operations: Operations;
  readonly documents: DocumentOperations | undefined;
  /** Id that adds are counted by: the key's, else a local process's, else the connection's. */
  readonly adder: () => Promise<string>;
  readonly mayWrite: boolean;
  readonly clientHeader: string | undefined;
  readonly keyName: string | undefined;
  readonly project: string | null;
  readonly userId: string | undefined;
  readonly tools: ToolChoice;
}

/** Implemented outside of http. */
type McpHandler = (request: McpRequest) => Promise<Response>;
