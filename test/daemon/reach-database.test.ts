import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, describe } from "vitest";
import { asked, databaseOf } from "../../src/daemon/reach-database.ts";
import { openDatabase } from "../../src/storage/postgres/database.ts";
import {
  hasPostgres,
  type PostgresServer,
  sharedPostgres,
  startPostgres,
} from "../support/postgres-server.ts";
import { selfSignedCertificate } from "../support/self-signed-certificate.ts";

const YEAR_MS = 365.25 * 86_400_000;
/** Lets the first user in, and asks others for a password. */
const RULES = "host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n";

describe.skipIf(!hasPostgres)("a database that refuses a node's first question", () => {
  let server: PostgresServer;
  const folder = mkdtempSync(join(process.env["MEMORYD_TEST_DISK"] ?? tmpdir(), "memoryd-reach-"));
  const file = (name: string) => join(folder, name);
  const write = (name: string, text: string) => {
    writeFileSync(file(name), text, { mode: 0o600 });
    // The server does not run as root.
    if (process.getuid?.() === 0) chownSync(file(name), 65_534, 65_534);
  };
  async function show({ key, cert }: { readonly key: string; readonly cert: string }) {
    write("cert.pem", cert);
    write("key.pem", key);
    await server.run("select pg_reload_conf()");
    return { ca: cert, rejectUnauthorized: true };
  }
  beforeAll(async () => {
    chmodSync(folder, 0o755);
    write("rules", RULES);
    const { key, cert } = selfSignedCertificate();
    write("cert.pem", cert);
    write("key.pem", key);
    server = await startPostgres({
      hba_file: file("rules"),
      ssl: "on",
      ssl_cert_file: file("cert.pem"),
      ssl_key_file: file("key.pem"),
    });
    await server.run("create role node login password 'right'");
    await server.run("create role crowd login connection limit 0");
  });
  afterAll(() => {
    server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function ask(
    user: string,
    {
      password = "",
      ...more
    }: { readonly password?: string; readonly host?: string; readonly ssl?: object } = {},
    port = server.port,
  ) {
    if (password !== "") write("password", password);
    const storePasswordFile = password === "" ? "" : file("password");
    const store = `postgres://${user}@127.0.0.1:${port}/postgres`;
    const database = openDatabase({ ...databaseOf({ store, storePasswordFile }), ...more });
    try {
      return await asked(database, ({ query }) => query("select 1"));
    } catch (error) {
      return (error as Error).message;
    } finally {
      await database.close();
    }
  }

  it("is told a password from the file, and asks for one where there is none or a wrong one", async () => {
    expect(await ask("node", { password: "right\n" })).toEqual([[1]]);
    expect(await ask("node")).toMatch(/^The database asks for a password, and got none or a wrong one\./);
    expect(await ask("node", { password: "wrong" })).toMatch(
      /^The database asks for a password.*--store-password-file.*\(28P01\)\.$/,
    );
  });

  it("names the connections that it lacks", async () => {
    await server.run("alter role crowd password 'right'");
    expect(await ask("crowd", { password: "right" })).toMatch(/^The database has no connection free.*53300/);
  });

  it("is asked for a certificate that this machine can check", async () => {
    expect(await ask("postgres", { ssl: { rejectUnauthorized: true } })).toMatch(
      /not from an authority that this machine knows\. Set NODE_EXTRA_CA_CERTS.*SELF_SIGNED/,
    );
    const own = await show(selfSignedCertificate());
    await expect.poll(() => ask("postgres", { host: "localhost", ssl: own })).toEqual([[1]]);
    const other = await show(selfSignedCertificate({ names: ["db.example"] }));
    await expect
      .poll(() => ask("postgres", { host: "localhost", ssl: other }))
      .toMatch(/^The certificate of the database is for another name.*ALTNAME/);
    for (const at of [Date.now() - 6 * YEAR_MS, Date.now() + 6 * YEAR_MS]) {
      const ssl = await show(selfSignedCertificate({ at }));
      await expect
        .poll(() => ask("postgres", { ssl }))
        .toMatch(/^The certificate of the database is not valid today\. Renew it.*\(CERT_/);
    }
  });

  it("is asked to turn on TLS", async () => {
    const { port } = await sharedPostgres();
    expect(await ask("postgres", { ssl: { rejectUnauthorized: true } }, port)).toMatch(/does not use TLS/);
  });

  it("is called refusing or out of reach otherwise, with its own words", async () => {
    expect(await ask("stranger", { password: "right" })).toMatch(/asks for a password/);
    await server.run("alter role crowd nologin connection limit -1");
    expect(await ask("crowd", { password: "right" })).toBe(
      'The database refused memoryd: role "crowd" is not permitted to log in (28000).',
    );
    expect(await ask("postgres", { host: "localhost" }, 1)).toMatch(
      /^The database cannot be reached: .*ECONNREFUSED.*\. Look at its address/,
    );
  });
});
