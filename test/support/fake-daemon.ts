import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { newLocalToken, proofOf, writeRuntimeInfo } from "../../src/daemon/runtime-file.ts";

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly token: string | undefined;
  readonly client: string | undefined;
  readonly body: unknown;
}

export interface FakeDaemon {
  readonly port: number;
  readonly token: string;
  readonly requests: SeenRequest[];
  close(): Promise<void>;
}

/**
 * A server that the command line takes for the daemon of `dataDir`: it says who it is, and gives the answers that it
 * is told to, by path. `saysItIs` makes it prove another instance than the file does.
 */
export async function startFakeDaemon(
  dataDir: string,
  answers: Readonly<Record<string, { readonly status?: number; readonly body: unknown }>>,
  { pid = process.pid, saysItIs = "this-one" }: { readonly pid?: number; readonly saysItIs?: string } = {},
): Promise<FakeDaemon> {
  const requests: SeenRequest[] = [];
  const token = newLocalToken();
  const known: typeof answers = {
    "/health": { body: { status: "ok", version: "0.1.0", instance_id: saysItIs } },
    ...answers,
  };
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const path = request.url ?? "";
      const { headers, method = "" } = request;
      const client = headers["x-memoryd-client"];
      requests.push({ method, path, token: headers.authorization, client: client?.toString(), body });
      const { status = 200, body: answer } = known[path] ?? {
        status: 404,
        body: { detail: `No ${path} here.` },
      };
      const challenge = headers["x-memoryd-challenge"]?.toString();
      if (challenge !== undefined)
        response.setHeader("x-memoryd-proof", proofOf({ instanceId: saysItIs, token }, challenge));
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  const startedAt = Date.now();
  writeRuntimeInfo(dataDir, {
    address: "127.0.0.1",
    port,
    pid,
    instanceId: "this-one",
    version: "0.1.0",
    startedAt,
    token,
  });
  return {
    port,
    token,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  return text === "" ? undefined : JSON.parse(text);
}
