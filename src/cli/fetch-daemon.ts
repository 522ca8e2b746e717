import type { IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { Readable } from "node:stream";
import { connect, type TLSSocket } from "node:tls";

/**
 * As `fetch`, from the daemon. One that speaks HTTPS must show one certificate and no other: who issued it, for which
 * name and until when, does not count. Nothing is sent before it was shown.
 *
 * @param fingerprint of the certificate, SHA-256 as Node writes it; undefined where the daemon speaks plain HTTP.
 */
export async function fetchDaemon(request: Request, fingerprint: string | undefined): Promise<Response> {
  if (fingerprint === undefined) return fetch(request);
  try {
    const body = Buffer.from(await request.arrayBuffer());
    const answer = await ask(request, body, await connectPinned(request, fingerprint));
    return new Response(Readable.toWeb(answer), {
      status: answer.statusCode ?? 0,
      headers: headersOf(answer),
    });
  } catch (error) {
    if (request.signal.aborted) throw request.signal.reason;
    // As `fetch` says it.
    throw new TypeError("fetch failed", { cause: error });
  }
}

function ask(request: Request, body: Buffer, socket: TLSSocket): Promise<IncomingMessage> {
  const { hostname, port, pathname, search } = new URL(request.url);
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest({
      createConnection: () => socket,
      host: hostname,
      port,
      path: `${pathname}${search}`,
      method: request.method,
      headers: {
        ...Object.fromEntries(request.headers),
        ...(body.length > 0 && { "content-length": body.length }),
        connection: "close",
      },
      signal: request.signal,
    });
    outgoing.once("response", resolve).on("error", reject);
    outgoing.end(body);
  });
}

function headersOf({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  return headers;
}

function connectPinned({ url, signal }: Request, fingerprint: string): Promise<TLSSocket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ""),
      port: Number(port || 443),
      // The certificate is compared whole below, which is stricter than any authority's word for it.
      rejectUnauthorized: false,
    });
    const give = (error: Error): void => {
      socket.destroy();
      reject(error);
    };
    const onAbort = (): void => give(signal.reason as Error);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    socket.once("error", give);
    socket.once("secureConnect", () => {
      signal.removeEventListener("abort", onAbort);
      socket.off("error", give);
      if (socket.getPeerX509Certificate()?.fingerprint256 === fingerprint) resolve(socket);
      else give(new Error("the server shows another certificate than the daemon's"));
    });
  });
}
