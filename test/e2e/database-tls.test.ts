import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call, startDaemonProcess } from "../support/daemon-process.ts";
import { hasPostgres, type PostgresServer, startPostgres } from "../support/postgres-server.ts";

const LAUNCHER = resolve(import.meta.dirname, "../../bin/memoryd.js");
const NOBODY = 65_534;
/** An address of this machine that counts as another machine's. */
const host = Object.values(networkInterfaces())
  .flatMap((known = []) => known)
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address;
const canRun = host !== undefined && spawnSync("openssl", ["version"]).status === 0;
if (hasPostgres && !canRun)
  console.warn("openssl or a network address is missing: TLS with an authority of one's own is not tested");

/** A certificate authority made by openssl, and nodes that reach their database by an address that needs TLS. */
describe.skipIf(!hasPostgres || !canRun)(
  "a node whose database has a certificate of one's own authority",
  () => {
    const folder = mkdtempSync(join(process.env["MEMORYD_TEST_DISK"] ?? tmpdir(), "memoryd-tls-"));
    const file = (name: string) => join(folder, name);
    let server: PostgresServer;
    let address: string;

    /** Makes NAME.pem and NAME.key: a certificate that an authority signs, or without one an authority. */
    function certify(name: string, authority?: string, alternative = `IP:${host}`) {
      const self = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj".split(
        " ",
      );
      const out = [`/CN=memoryd ${name}`, "-keyout", file(`${name}.key`), "-out", file(`${name}.pem`)];
      const signed = ["-CA", file(`${authority}.pem`), "-CAkey", file(`${authority}.key`)];
      const from = authority === undefined ? [] : [...signed, "-addext", `subjectAltName=${alternative}`];
      const made = spawnSync("openssl", [...self, ...out, ...from], { encoding: "utf8" });
      if (made.status !== 0) throw new Error(made.stderr);
      if (process.getuid?.() === 0) chownSync(file(`${name}.key`), NOBODY, NOBODY);
    }
    const memoryd = (authority: string | undefined, ...words: string[]) =>
      spawnSync(process.execPath, [LAUNCHER, ...words], {
        encoding: "utf8",
        env: {
          PATH: process.env["PATH"] ?? "",
          HOME: folder,
          ...(authority !== undefined && { NODE_EXTRA_CA_CERTS: file(`${authority}.pem`) }),
        },
      });
    /** What a node says that does not start. */
    const refusal = (store: string, authority?: string) => {
      const words = ["start", "--store", store, "--data-dir", file("none"), "--port", "0"];
      const { status, stderr } = memoryd(authority, ...words);
      expect(status).not.toBe(0);
      return stderr;
    };

    beforeAll(async () => {
      chmodSync(folder, 0o755);
      for (const authority of ["ours", "theirs"]) certify(authority);
      certify("server", "ours");
      certify("elsewhere", "ours", "DNS:db.example");
      writeFileSync(file("rules"), "host all all 127.0.0.1/32 trust\nhostssl all all all trust\n");
      server = await startPostgres({
        listen_addresses: `127.0.0.1,${host}`,
        hba_file: file("rules"),
        ssl: "on",
        ssl_cert_file: file("server.pem"),
        ssl_key_file: file("server.key"),
      });
      address = (await server.database("nodes")).replace("127.0.0.1", host ?? "");
    });
    afterAll(() => {
      server.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    it("starts with the authority, and asks over TLS alone", async () => {
      expect(memoryd("ours", "store", "prepare", "--store", address).stdout).toBe(
        "The database is prepared.\n",
      );
      const data = file("node");
      const node = await startDaemonProcess(data, {
        MEMORYD_STORE: address,
        NODE_EXTRA_CA_CERTS: file("ours.pem"),
      });
      const added = await call(node, "POST", "/memory/add", { content: "tea", user_id: "ann" });
      const encrypted =
        "select distinct ssl from pg_stat_ssl join pg_stat_activity using (pid) where application_name = 'memoryd'";
      const found = await server.run(encrypted);
      await node.kill();
      expect(added.status).toBe(200);
      expect(found).toEqual([[true]]);
    });

    it("refuses in a sentence another authority, another name, and no TLS", async () => {
      const unknown =
        /^[^\n]*not from an authority that this machine knows\. Set NODE_EXTRA_CA_CERTS[^\n]*\n$/;
      expect(refusal(address)).toMatch(unknown);
      expect(refusal(address, "theirs")).toMatch(unknown);
      const plain = await startPostgres({ listen_addresses: `127.0.0.1,${host}` });
      expect(refusal(address.replace(`:${server.port}/`, `:${plain.port}/`), "ours")).toMatch(
        /^[^\n]*The database does not use TLS, which memoryd needs[^\n]*\n$/,
      );
      plain.stop();
      const other = await startPostgres({
        listen_addresses: `127.0.0.1,${host}`,
        ssl: "on",
        ssl_cert_file: file("elsewhere.pem"),
        ssl_key_file: file("elsewhere.key"),
      });
      expect(refusal(address.replace(`:${server.port}/`, `:${other.port}/`), "ours")).toMatch(
        /^[^\n]*certificate of the database is for another name than --store has[^\n]*\n$/,
      );
      other.stop();
    });
  },
);
