import { Agent, buildConnector, fetch as fetchWith } from "undici";

/**
 * Like `fetch`, for a server with exactly one certificate: its issuer, name and dates do not
 * count. Nothing is sent before it was shown.
 * @param fingerprint of the certificate, SHA-256 as Node writes it.
 */
export async function fetchPinned(request: Request, fingerprint: string): Promise<Response> {
  // The certificate is compared whole below, which is stricter than any authority's word for it.
  const connect = buildConnector({ rejectUnauthorized: false });
  const dispatcher = new Agent({
    // One request a connection.
    pipelining: 0,
    connect: (options, callback) =>
      connect(options, (...[error, socket]) => {
        if (error !== null) return callback(error, null);
        const shown = "getPeerX509Certificate" in socket ? socket.getPeerX509Certificate() : undefined;
        if (shown?.fingerprint256 === fingerprint) return callback(null, socket);
        socket.destroy();
        callback(new Error("the server shows another certificate than the daemon's"), null);
      }),
  });
  const { url, method, headers, redirect, signal } = request;
  const body = request.body === null ? null : await request.arrayBuffer();
  return await fetchWith(url, {
    method,
    headers: [...headers],
    body,
    redirect,
    signal,
    dispatcher,
  });
}
