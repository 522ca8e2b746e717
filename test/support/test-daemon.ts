import { X509Certificate } from "node:crypto";
import type { AddressInfo } from "node:net";
import type { Operations } from "../../src/core/operations.ts";
import type { ServerOptions } from "../../src/http/server.ts";
import { newLocalToken, proofOf, writeRuntimeInfo } from "../../src/daemon/runtime-file.ts";
import { VERSION } from "../../src/config/limits.ts";
import { FAKE_STATUS } from "./fake-operations.ts";
import { createTestServer, type TestServer } from "./test-server.ts";

/** A test server that the command line finds as the daemon of `dataDir`, and which proves that it is. */
export async function startTestDaemon(
  dataDir: string,
  overrides: Partial<Operations> = {},
  { tls }: { readonly tls?: ServerOptions["tls"] | undefined } = {},
): Promise<TestServer> {
  const { instanceId } = FAKE_STATUS;
  const token = newLocalToken();
  const server = createTestServer(overrides, {
    access: { localToken: token },
    prove: (challenge) => proofOf({ instanceId, token }, challenge),
    ...(tls !== undefined && { tls }),
  });
  await server.app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = server.app.server.address() as AddressInfo;
  writeRuntimeInfo(dataDir, {
    address: "127.0.0.1",
    port,
    pid: process.pid,
    instanceId,
    version: VERSION,
    startedAt: 0,
    token,
    ...(tls !== undefined && { tlsFingerprint: new X509Certificate(tls.cert).fingerprint256 }),
  });
  return server;
}
