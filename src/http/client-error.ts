import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { ServiceError } from "../core/errors.ts";
import { answerHeaders } from "./guards.ts";
import { PROBLEM_MEDIA_TYPE, problemOf } from "./problem.ts";

const DETAILS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "The headers are too large.",
  ERR_HTTP_REQUEST_TIMEOUT: "The request did not arrive in time.",
};

/** Answers what never became a request (not HTTP, headers too large, too slow) and hangs up. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable || isAnswering(socket)) {
    socket.destroy();
    return;
  }
  const requestId = randomUUID();
  const refusal = new ServiceError(
    "INVALID_REQUEST",
    DETAILS[error.code ?? ""] ?? "What arrived is not a valid HTTP request.",
  );
  const body = JSON.stringify(problemOf(refusal, requestId));
  const headers = {
    ...answerHeaders(requestId),
    "content-type": PROBLEM_MEDIA_TYPE,
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 400 Bad Request\r\n${lines.join("")}\r\n${body}`, () => socket.destroy());
}

/** True while a whole request is being answered: a refusal now would be taken for its answer. */
function isAnswering(socket: Socket): boolean {
  // Node keeps the answer under this name, and its own handler of client errors looks here too.
  const answer = Reflect.get(socket, "_httpMessage") as ServerResponse | null | undefined;
  return answer ? answer.headersSent || answer.req.complete : false;
}
