import { once } from "node:events";
import type { ServerResponse, IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { type AddressInfo, createServer, Server, type Socket } from "node:net";
import { Server as TlsServer } from "node:tls";
import type { FastifyInstance } from "fastify";
import { conflict, forbidden, invalidRequest, type ServiceError } from "../core/errors.ts";
import { bracketed, isLoopback } from "./access.ts";
import { networkOf, plainAddress } from "./peer.ts";

export interface ListenOptions {
  /** 127.0.0.1, ::1 or localhost mean both loopback addresses. */
  readonly host: string;
  /** 0: any free one, the same at every address. */
  readonly port: number;
}

/** Free at one loopback address, taken at the other: another port is tried this often. */
const PORT_ATTEMPTS = 10;
const PATIENCE_MS = 1_000;
/** How often it is looked whether all requests have been answered. */
const CLOSING_POLL_MS = 5;

export type Listening = Awaited<ReturnType<typeof listen>>;
type UnderWay = ReturnType<typeof limitConnections>;

/**
 * Opens the app's server. At both loopback addresses, where the machine has both, since `localhost` may mean
 * either: another program at one of them would get what is meant for this one.
 * @throws {ServiceError} CONFLICT when the port is taken, saying by what; FORBIDDEN when it needs more
 * rights; INVALID_REQUEST for an address that this machine does not have.
 */
export async function listen(app: FastifyInstance, { host, port }: ListenOptions) {
  await app.ready();
  const underWay = limitConnections(app.server, app.maxConnections);
  const { servers, hosts } = await openAll(app, host, port);
  const bound = portOf(servers[0]);
  const scheme = app.server instanceof TlsServer ? "https" : "http";
  let closing: Promise<number> | undefined;
  return {
    port: bound,
    /** `http://` or `https://` addresses, the first one listened on first. */
    urls: hosts.map((address) => `${scheme}://${bracketed(address)}:${bound}`),
    /**
     * Stops taking connections, answers the requests that open ones have begun or bring meanwhile, cuts what is left at the
     * deadline. The app is closed then. Repeating it waits for the first one.
     * @returns how many requests were cut.
     */
    close: (deadlineMs: number): Promise<number> =>
      (closing ??= closeAll(app, servers, underWay, deadlineMs)),
    /** Calls `onIdle` once nothing was under way for that long, sleep not counted; the answer stops watching. */
    exitWhenIdle: (options: IdleExitOptions) => exitWhenIdle(underWay, options),
  };
}

async function openAll(app: FastifyInstance, host: string, port: number) {
  const [first, second] =
    isLoopback(host) && !/^127\.(?!0\.0\.1$)/.test(host) ? ["127.0.0.1", "::1"] : [host];
  for (let attempt = 1; ; attempt += 1) {
    await open(app.server, first ?? host, port);
    if (second === undefined) return { servers: [app.server], hosts: [host] };

    // One HTTP server takes the connections of both, so limits and closing hold for all of them.
    const other = besides(app);
    try {
      await open(other, second, portOf(app.server));
      return { servers: [app.server, other], hosts: [first ?? host, second] };
    } catch (error) {
      const { cause } = error as ServiceError;
      if (isMissingAddress(cause)) return { servers: [app.server], hosts: [first ?? host] };
      await closeServer(app.server);
      if (port !== 0 || attempt === PORT_ATTEMPTS) throw error;
    }
  }
}

/** A server whose connections the app answers. */
const besides = (app: FastifyInstance): Server =>
  createServer({ allowHalfOpen: true, noDelay: true }, (socket) => app.server.emit("connection", socket));

async function open(server: Server, host: string, port: number): Promise<void> {
  await once(server.listen({ host, port }), "listening").catch(async (cause: NodeJS.ErrnoException) => {
    throw await refusal(cause, host, port);
  });
}

async function refusal(cause: NodeJS.ErrnoException, host: string, port: number): Promise<ServiceError> {
  const address = `${bracketed(host)}:${port}`;
  switch (cause.code) {
    case "EADDRINUSE":
      return conflict(
        `${address} is already in use by ${await holderOf(address)}. Stop it, or choose another port with --port.`,
        { cause },
      );
    case "EACCES":
      return forbidden(`This user may not listen on ${address}. Choose a port above 1023 with --port.`, {
        cause,
      });
    default:
      return invalidRequest(`Cannot listen on ${address} (${cause.code ?? cause.message}). Check --host.`, {
        cause,
      });
  }
}

/** Who listens at an address, as far as its answer tells. */
async function holderOf(address: string): Promise<string> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const answer = await fetch(`http://${address}/livez`, { signal, redirect: "manual" }).catch(
    () => undefined,
  );
  await answer?.body?.cancel();
  return answer?.headers.get("server") === "memoryd" ? "another memoryd" : "another program";
}

function isMissingAddress(cause: unknown): boolean {
  return ["EADDRNOTAVAIL", "EAFNOSUPPORT", "EINVAL"].includes(
    (cause as NodeJS.ErrnoException | undefined)?.code ?? "",
  );
}

async function closeAll(
  app: FastifyInstance,
  servers: readonly Server[],
  { connections, answers }: UnderWay,
  deadlineMs: number,
): Promise<number> {
  const deadline = performance.now() + deadlineMs;
  // A client that waits for an answer learns with it that the connection ends.
  const endsWith = (answer: ServerResponse) => answer.headersSent || answer.setHeader("connection", "close");
  app.server.prependListener("request", (_request, answer: ServerResponse) => endsWith(answer));
  answers.forEach(endsWith);
  const closed = servers.map(closeServer);
  while (answers.size > 0 && performance.now() < deadline) await sleep(CLOSING_POLL_MS);
  const cut = answers.size;
  for (const { socket } of connections.values()) socket.destroy();
  await Promise.all(closed);
  await app.close();
  return cut;
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    // Not as an HTTP server, which ends idle connections at once: a balancer asks over them whether the daemon stops.
    if (server.listening) Server.prototype.close.call(server, () => resolve());
    else resolve();
  });
}

const portOf = (server: Server | undefined): number => (server?.address() as AddressInfo | null)?.port ?? 0;

/** Checks per idle time. */
const CHECKS = 4;

interface IdleExitOptions {
  /** Milliseconds without activity. */
  readonly afterMs: number;
  /** True while work runs that no request waits for. */
  readonly isBusy: () => boolean;
  readonly onIdle: () => void;
}

export function exitWhenIdle(
  underWay: Pick<UnderWay, "answers" | "begun">,
  { afterMs, isBusy, onIdle }: IdleExitOptions,
): () => void {
  let [begun, quietChecks] = [0, 0];
  // Counted in ticks of a timer, which stands still while the machine sleeps.
  const timer = setInterval(
    () => {
      const isQuiet = underWay.answers.size === 0 && underWay.begun === begun && !isBusy();
      begun = underWay.begun;
      quietChecks = isQuiet ? quietChecks + 1 : 0;
      if (quietChecks <= CHECKS) return;
      clearInterval(timer);
      onIdle();
    },
    Math.max(1, afterMs / CHECKS),
  ).unref();
  return () => clearInterval(timer);
}

declare module "fastify" {
  interface FastifyInstance {
    maxConnections: number;
  }
}

/** Share of all connections that one remote address may hold. */
const SHARE_PER_ADDRESS = 1 / 8;

interface Connection {
  /** Undefined on this machine. */
  readonly network: string | undefined;
  readonly socket: Socket;
  running: number;
  /** Bytes that its socket had read at the last look. */
  bytesRead: number;
}

/**
 * Keeps connections within their number: for a further one the longest idle one is closed; where none is idle, the further
 * one. Until a request has come whole, its connection is idle; those that nothing came from since the last look go first.
 * @returns the open ones, the answers that were begun and have not ended, and how many were begun so far.
 */
function limitConnections(server: Server, max: number) {
  const all = new Map<string, Connection>();
  const answers = new Set<ServerResponse>();
  const underWay = { connections: all, answers, begun: 0 };
  /** Longest idle first. */
  const idle = new Map<string, Connection>();
  const maxPerAddress = Math.max(1, Math.floor(max * SHARE_PER_ADDRESS));

  /** False where all of them are at work. */
  function closeIdle(network?: string): boolean {
    for (const [name, connection] of idle) {
      if (network !== undefined && connection.network !== network) continue;
      const { bytesRead } = connection.socket;
      if (connection.bytesRead !== bytesRead) {
        // Behind all others, where the loop comes upon it once more.
        connection.bytesRead = bytesRead;
        setIdle(name, connection);
        continue;
      }
      forget(name, connection);
      connection.socket.destroy();
      return true;
    }
    return false;
  }

  function setIdle(name: string, connection: Connection): void {
    idle.delete(name);
    idle.set(name, connection);
  }

  function forget(name: string, connection: Connection): void {
    if (all.get(name) !== connection) return;
    all.delete(name);
    idle.delete(name);
  }

  server.on("connection", (socket: Socket) => {
    const address = plainAddress(socket.remoteAddress ?? "");
    const network = isLoopback(address) ? undefined : networkOf(address);
    const here = [...all.values()].filter((each) => each.network === network).length;
    const isRoom =
      (all.size < max || closeIdle()) &&
      (network === undefined || here < maxPerAddress || closeIdle(network));
    // Without a port of its own it was reset already.
    if (!isRoom || socket.remotePort === undefined) {
      socket.destroy();
      return;
    }
    const name = nameOf(socket);
    const connection: Connection = { network, socket, running: 0, bytesRead: 0 };
    all.set(name, connection);
    idle.set(name, connection);
    socket.once("close", () => forget(name, connection));
  });

  server.prependListener("request", (request: IncomingMessage, answer: ServerResponse) => {
    underWay.begun += 1;
    answers.add(answer);
    answer.once("close", () => answers.delete(answer));
    const name = nameOf(request.socket);
    const connection = all.get(name);
    if (connection === undefined) return;
    const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers;
    if (length === "0" && encoding === undefined) idle.delete(name);
    else request.once("end", () => idle.delete(name));
    connection.running += 1;
    connection.bytesRead = connection.socket.bytesRead;
    answer.once("close", () => {
      connection.running -= 1;
      connection.bytesRead = connection.socket.bytesRead;
      if (connection.running === 0 && all.get(name) === connection) setIdle(name, connection);
    });
  });
  return underWay;
}

/** The same for a connection and for what encrypts it. */
const nameOf = ({ remoteAddress, remotePort, localAddress }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress}`;
