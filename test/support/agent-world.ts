import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { bindDocumentOperations } from "../../src/core/documents/document-operations.ts";
import { IngestJobs } from "../../src/core/documents/ingest-jobs.ts";
import { bindOperations } from "../../src/core/operations.ts";
import { listen } from "../../src/http/listen.ts";
import { buildServer } from "../../src/http/server.ts";
import { createPlaces } from "../../src/daemon/beside-store.ts";
import { createAgentEndpoint } from "../../src/mcp/agent-endpoint.ts";
import { createDocumentWorld, type DocumentWorld } from "./document-world.ts";
import { fakeId } from "./fake-operations.ts";
import { serverParts, type TestServerOptions } from "./test-server.ts";

export interface AgentWorld {
  readonly world: DocumentWorld;
  readonly operations: ReturnType<typeof bindOperations>;
  readonly url: string;
  /** What was reported as an error of ours. */
  readonly reported: unknown[];
  /** A client of the official SDK; `query` goes into the address. */
  connect(options?: ConnectOptions): Promise<Client>;
  close(): Promise<void>;
}

export interface ConnectOptions {
  readonly query?: string;
  readonly name?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Speaks the protocol of 2026, where each request introduces itself. */
  readonly modern?: boolean;
}

/** The core over fakes, behind a real server on a free port. */
export async function createAgentWorld(options: TestServerOptions = {}): Promise<AgentWorld> {
  const world = createDocumentWorld();
  let ids = 0;
  const ports = { ...world.documentPorts, ids: { newId: () => fakeId((ids += 1)) } };
  const reported: unknown[] = [];
  const jobs = new IngestJobs(ports, { concurrency: 1, report: (error) => void reported.push(error) });
  const operations = bindOperations({
    ...ports,
    feed: world.ports.feed,
    stopJob: (job) => jobs.stop(job),
    noteErasure: async () => {},
  });
  const endpoint = createAgentEndpoint({
    places: createPlaces("a store"),
    version: "0.1.0",
    timeZone: "UTC",
    clock: ports.clock,
    addsPerHour: 5,
    report: (error) => void reported.push(error),
  });
  const app = buildServer({
    operations: () => operations,
    documents: bindDocumentOperations(ports, jobs),
    ...serverParts({ mcp: endpoint, ...options }),
  });
  const listening = await listen(app, { host: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${listening.port}/mcp`;
  const clients: Client[] = [];
  return {
    world,
    operations,
    url,
    reported,
    async connect({ query = "", name = "test-agent", headers = {}, modern = false } = {}) {
      const client = new Client(
        { name, version: "1.0.0" },
        modern ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {},
      );
      await client.connect(
        new StreamableHTTPClientTransport(new URL(`${url}?${query}`), { requestInit: { headers } }),
      );
      clients.push(client);
      return client;
    },
    async close() {
      for (const client of clients) await client.close();
      await listening.close(1_000);
      await jobs.close();
    },
  };
}

/** The text that a tool answered. */
export function textOf(result: unknown): string {
  const { content } = result as { content: { type: string; text: string }[] };
  return content.map(({ text }) => text).join("\n");
}
