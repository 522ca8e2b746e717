import type { FastifyRequest } from "fastify";
import type { DocumentOperations } from "../core/documents/document-operations.ts";
import { documentOperationsFor, operationsFor } from "../core/isolation.ts";
import type { Operations } from "../core/operations.ts";

/** The operations as the caller of a request may use them. Routes have no other access to them. */
export type OperationsOf = (request: FastifyRequest) => Operations;
/** Same as `OperationsOf`, for documents. */
export type DocumentsOf = (request: FastifyRequest) => DocumentOperations;

export function callerOperations(operations: Operations): OperationsOf {
  return (request) => operationsFor(boundUserOf(request), operations);
}

export function callerDocuments(documents: DocumentOperations): DocumentsOf {
  return (request) => documentOperationsFor(boundUserOf(request), documents);
}

function boundUserOf({ caller, routeOptions }: FastifyRequest): string | undefined {
  // An open route may be called by anybody: one that reached the operations would answer for everybody.
  if (caller === undefined) throw new TypeError(`${routeOptions.url} needs no key, so it has no operations`);
  return caller.userId;
}
