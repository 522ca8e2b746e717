import { randomBytes } from "node:crypto";
import { Agent, type IncomingMessage, request } from "node:http";
import type { Duplex } from "node:stream";
import { proofOf, readRuntimeInfo, type RuntimeInfo } from "../../daemon/runtime-file.ts";

const CHALLENGE_BYTES = 32;

/** Asks the daemon of a data directory, with POST where there is a body; undefined for every answer but success. */
export type DaemonCall = <Answer>(path: string, body?: object) => Promise<Answer | undefined>;

/**
 * A way to the daemon that the data directory names, once that daemon has proved to be it, on the same connection; undefined
 * otherwise. Like `findDaemon`, without the modules that take longer to load than a hook may run.
 */
export async function reachDaemon(dataDir: string): Promise<DaemonCall | undefined> {
  const runtime = readRuntimeInfo(dataDir);
  if (runtime === undefined) return undefined;
  const connection = await connectionTo(runtime);
  const challenge = randomBytes(CHALLENGE_BYTES).toString("base64url");
  const { response } = await exchange(connection, "GET", "/health", { "x-memoryd-challenge": challenge });
  if (response.headers["x-memoryd-proof"] !== proofOf(runtime, challenge)) return undefined;
  return async <Answer>(path: string, body?: object) => {
    const headers = {
      authorization: `Bearer ${runtime.token}`,
      "content-type": "application/json",
      "x-memoryd-client": "memoryd-hook",
    };
    const { response: answer, text } = await exchange(
      connection,
      body === undefined ? "GET" : "POST",
      path,
      headers,
      body && JSON.stringify(body),
    );
    return answer.statusCode === 200 ? (JSON.parse(text) as Answer) : undefined;
  };
}

type Connection = { readonly host: string; readonly port: number; readonly agent: Agent };

async function connectionTo(runtime: RuntimeInfo): Promise<Connection> {
  const { port, tlsFingerprint } = runtime;
  const host = { "0.0.0.0": "127.0.0.1", "::": "::1" }[runtime.address] ?? runtime.address;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  if (tlsFingerprint !== undefined) {
    const socket = await pinnedSocket(host, port, tlsFingerprint);
    agent.createConnection = () => socket;
  }
  return { host, port, agent };
}

/** Nothing is sent before the daemon's own certificate was shown; its issuer and name do not count. */
async function pinnedSocket(host: string, port: number, fingerprint: string): Promise<Duplex> {
  const { connect } = await import("node:tls");
  return await new Promise((resolve, reject) => {
    const socket = connect({ host, port, rejectUnauthorized: false }, () => {
      if (socket.getPeerX509Certificate()?.fingerprint256 === fingerprint) return resolve(socket);
      socket.destroy();
      reject(new Error("the server shows another certificate than the daemon's"));
    });
    socket.once("error", reject);
  });
}

function exchange(
  { host, port, agent }: Connection,
  method: "GET" | "POST",
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: string,
): Promise<{ readonly response: IncomingMessage; readonly text: string }> {
  const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const options = { host, port, agent, method, path, headers: { ...headers, ...length } };
    const sent = request(options, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.once("error", reject).once("end", () => resolve({ response, text }));
    });
    sent.once("error", reject).end(body);
  });
}
