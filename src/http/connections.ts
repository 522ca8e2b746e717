import type { IncomingMessage, ServerResponse } from "node:http";
import type { Server, Socket } from "node:net";
import { isLoopback } from "./access.ts";
import { networkOf, plainAddress } from "./peer.ts";

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
 * @returns the open ones, and the answers that were begun and have not ended.
 */
export function limitConnections(server: Server, max: number) {
  const answers = new Set<ServerResponse>();
  const all = new Map<string, Connection>();
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
    const network = address === "" || isLoopback(address) ? undefined : networkOf(address);
    const here = [...all.values()].filter((each) => each.network === network).length;
    const isRoom =
      (all.size < max || closeIdle()) &&
      (network === undefined || here < maxPerAddress || closeIdle(network));
    if (!isRoom) {
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
  return { connections: all, answers };
}

let unnamed = 0;
const names = new WeakMap<Socket, string>();

/** The same for a connection and for what encrypts it. */
function nameOf(socket: Socket): string {
  if (socket.remotePort !== undefined)
    return `${socket.remoteAddress} ${socket.remotePort} ${socket.localAddress}`;
  const name = names.get(socket) ?? `socket ${(unnamed += 1)}`;
  names.set(socket, name);
  return name;
}
