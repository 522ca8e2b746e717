import { request as httpRequest, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { ServiceError } from "../../core/errors.ts";
import { unlessAborted } from "./unless-aborted.ts";
import { proxyHeaders, proxyRefusal, type Proxy } from "./connection.ts";
import { ACCEPTED_ENCODINGS } from "./content-decoding.ts";
import { hostOf } from "./target-url.ts";

/** Sites with long lists of allowed sources pass Node's 16 KiB. */
const MAX_HEAD_BYTES = 64 * 1024;
const ACCEPT =
  "text/html, application/xhtml+xml, text/markdown;q=0.9, text/plain;q=0.9, application/pdf;q=0.9, */*;q=0.8";

export interface PageRequest {
  readonly url: URL;
  readonly userAgent: string;
  /** The one at the other end of the connection, where it is one. */
  readonly proxy: Proxy | undefined;
}

/**
 * Sends one GET over an open connection: no cookies, no referrer, nothing of the user.
 *
 * @returns the answer, as soon as its head has arrived. Aborting destroys it.
 * @throws Node's network errors; {ServiceError} FETCH_FAILED from a proxy that wants a password; the signal's reason.
 */
export async function requestPage(
  socket: Socket,
  { url, userAgent, proxy }: PageRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  // Inside a tunnel the proxy reads nothing.
  const proxied = proxy !== undefined && url.protocol === "http:";
  const request = httpRequest({
    path: proxied ? url.href : url.pathname + url.search,
    headers: {
      host: url.host,
      "user-agent": userAgent,
      accept: ACCEPT,
      "accept-language": "*",
      "accept-encoding": ACCEPTED_ENCODINGS,
      connection: "close",
      ...(proxied && proxyHeaders(proxy)),
    },
    maxHeaderSize: MAX_HEAD_BYTES,
    createConnection: () => socket,
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.once("response", (response) => {
      // A body that ends with the connection would pass for whole when the connection breaks.
      request.on("error", (error) => response.complete || response.destroy(error));
      resolve(response);
    });
    request.on("error", reject);
    // Without an error where a server changes the protocol, unasked.
    request.once("close", () =>
      reject(new ServiceError("FETCH_FAILED", `${hostOf(url)} hung up without an answer.`)),
    );
  });
  request.end();
  const response = await unlessAborted(answered, signal);
  signal.addEventListener("abort", () => response.destroy(), { once: true });
  if (proxied && response.statusCode === 407) throw proxyRefusal(407, hostOf(url));
  return response;
}
