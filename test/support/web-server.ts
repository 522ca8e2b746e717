/** Servers on this machine that play the web, well-behaved and not. */
import { createServer as createHttpServer, type RequestListener, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import {
  connect,
  createServer as createTcpServer,
  type AddressInfo,
  type Server as TcpServer,
  type Socket,
} from "node:net";
import type { SelfSignedCertificate } from "./self-signed-certificate.ts";

export interface WebServer {
  readonly port: number;
  /** Of its root, at its address. */
  readonly url: string;
  close(): Promise<void>;
}

export function serveHttp(listener: RequestListener, host = "127.0.0.1"): Promise<WebServer> {
  return listening(createHttpServer(listener), "http", host);
}

export function serveHttps(
  certificate: SelfSignedCertificate,
  listener: RequestListener,
): Promise<WebServer> {
  return listening(createHttpsServer({ ...certificate }, listener), "https", "127.0.0.1");
}

/** Answers every connection with these bytes, whatever was asked, as soon as anything was. */
export function serveBytes(answer: (socket: Socket) => void): Promise<WebServer> {
  const server = createTcpServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => answer(socket));
  });
  return listening(server, "http", "127.0.0.1");
}

/** A proxy that opens tunnels and passes requests on, all to `upstream`, and keeps what it was asked for. */
export interface ProxyServer extends WebServer {
  readonly asked: { readonly what: string; readonly authorization: string | undefined }[];
}

export async function serveProxy(upstream: { readonly port: number }, status = 200): Promise<ProxyServer> {
  const asked: ProxyServer["asked"] = [];
  const server: Server = createHttpServer((request, answer) => {
    asked.push({ what: request.url ?? "", authorization: request.headers["proxy-authorization"] });
    answer.writeHead(status, { "content-type": "text/plain" }).end("through the proxy");
  });
  server.on("connect", (request, socket) => {
    asked.push({ what: `CONNECT ${request.url}`, authorization: request.headers["proxy-authorization"] });
    if (status !== 200) {
      socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
      return;
    }
    const far = connect(upstream.port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      far.pipe(socket).pipe(far);
    });
    far.on("error", () => socket.destroy());
    socket.on("error", () => far.destroy());
  });
  return { ...(await listening(server, "http", "127.0.0.1")), asked };
}

async function listening(server: TcpServer, scheme: string, host: string): Promise<WebServer> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
