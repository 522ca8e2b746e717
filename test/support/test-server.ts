import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from "fastify";
import type { Operations } from "../../src/core/operations.ts";
import type { AccessOptions } from "../../src/http/access.ts";
import { createPlaces } from "../../src/daemon/beside-store.ts";
import { buildServer, type ServerOptions } from "../../src/http/server.ts";
import { createDocumentWorld } from "./document-world.ts";
import {
  createFakeBackups,
  createFakeOperations,
  FAKE_STATUS,
  type FakeOperations,
} from "./fake-operations.ts";
import { createKeyRing } from "./key-ring.ts";

export interface TestServer extends FakeOperations {
  readonly app: FastifyInstance;
  readonly post: (url: string, payload: unknown, options?: InjectOptions) => Promise<LightMyRequestResponse>;
  readonly get: (url: string, options?: InjectOptions) => Promise<LightMyRequestResponse>;
}

export const FAKE_MODELS = {
  items: [
    {
      name: "small",
      dimensions: 384,
      bytes: 24_000_000,
      languages: "English",
      licence: "MIT",
      active: true,
    },
  ],
  migration: { from: "old", to: "small", done: 1, total: 3, status: "running" },
} as const;

export const FAKE_INSPECTION: ServerOptions["inspect"] = {
  items: [
    {
      name: "port",
      flag: "--port",
      variable: "MEMORYD_PORT",
      description: "port to listen on",
      value: 9_000,
      default: 8080,
      source: "file",
      from: "/etc/memoryd.json",
    },
  ],
  secrets: [{ name: "MEMORYD_API_KEY", from: null }],
  configFile: "/etc/memoryd.json",
  agentAddsPerHour: 200,
  requestsPerMinute: null,
  readLog: async ({ level }) => ({
    file: "/data/memoryd.log",
    items: [{ at: 0, level: level === "debug" ? "info" : level, message: "ready", details: { port: 1 } }],
    hasMore: false,
  }),
};

export interface TestServerOptions extends Omit<Partial<ServerOptions>, "operations" | "access"> {
  readonly access?: Partial<AccessOptions>;
}

/** All parts of a server, faked, where `options` do not give one. */
export const serverParts = ({
  access,
  ...options
}: TestServerOptions): Omit<ServerOptions, "operations" | "documents"> => ({
  status: () => FAKE_STATUS,
  models: {
    list: async () => FAKE_MODELS,
    use: async (name) => ({ ...FAKE_MODELS, migration: { ...FAKE_MODELS.migration, to: name } }),
  },
  inspect: FAKE_INSPECTION,
  compaction: {
    start: () => true,
    status: () => ({}),
    purgeWithBackups: async () => ({ made: "two", removed: 1, remaining: 0 }),
  },
  backups: createFakeBackups(),
  places: createPlaces("a store"),
  mcp: async () => new Response(),
  consoleFolder: "/nonexistent",
  docsFolder: "/nonexistent",
  prove: (challenge) => challenge,
  lookAtDiskSpace: async () => {},
  requestStop: () => {},
  stopping: new AbortController().signal,
  ...options,
  access: { keys: createKeyRing({ now: Date.now }), ...access },
});

/** The server over fake operations, for `inject`; those on documents are the real ones, over fakes. */
export function createTestServer(
  overrides: Partial<Operations> = {},
  options: TestServerOptions = {},
): TestServer {
  const fake = createFakeOperations(overrides);
  const app = buildServer({
    documents: createDocumentWorld().operations,
    ...serverParts(options),
    operations: () => fake.operations,
  });
  return {
    ...fake,
    app,
    post: (url, payload, options = {}) =>
      app.inject({
        ...options,
        method: "POST",
        url,
        headers: { "content-type": "application/json", ...options.headers },
        payload: typeof payload === "string" || Buffer.isBuffer(payload) ? payload : JSON.stringify(payload),
      }),
    get: (url, options = {}) => app.inject({ ...options, method: "GET", url }),
  };
}
