import type { IncomingMessage } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { sendProblem, serviceErrorOf } from "./problem.ts";

/** How much of a refused body is read before its client is hung up on. */
const MAX_READ_AWAY_BYTES = 256 * 1024 ** 2;

/**
 * Answers any thrown value as a problem. Where that is about the body, the rest of it is read away first:
 * a client that is still sending would have its connection broken before it could read why.
 */
export async function answerError(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { code } = serviceErrorOf(thrown);
  if (code === "TOO_LARGE" || code === "UNSUPPORTED_MEDIA_TYPE") await readAway(request.raw);
  return sendProblem(thrown, request, reply);
}

/** Ends with the body, its connection (also when the request's time is up) or the limit. */
function readAway(message: IncomingMessage): Promise<void> {
  if (message.complete || message.readableEnded || message.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    let bytes = 0;
    message.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_READ_AWAY_BYTES) resolve();
    });
    message
      .once("end", resolve)
      .once("close", resolve)
      .once("error", () => resolve());
  });
}
