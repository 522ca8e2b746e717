import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ConfigError, loadConfig } from "../../src/config/config.ts";
import { readTls } from "../../src/daemon/serve.ts";
import { selfSignedCertificate } from "../support/self-signed-certificate.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "memoryd-tls-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe("readTls", () => {
  const { cert, key } = selfSignedCertificate();

  it("reads a certificate with its key, and nothing where none is configured", () => {
    expect(readTls({ tlsCert: "", tlsKey: "" })).toBeUndefined();
    const read = readTls({ tlsCert: file("cert", cert), tlsKey: file("key", key) });
    expect(read).toMatchObject({ cert, key });
    expect(read?.fingerprint).toMatch(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/);
  });

  it.each<[string, string, string, RegExp]>([
    ["a certificate that is none", "no certificate", key, /cert holds no certificate in PEM/],
    ["a key that is none", cert, "no key", /key holds no private key in PEM/],
    ["a certificate for a key", cert, cert, /key holds no private key in PEM/],
    ["another certificate's key", cert, selfSignedCertificate().key, /does not belong to the certificate/],
    [
      "an encrypted key",
      cert,
      generateKeyPairSync("ec", {
        namedCurve: "P-256",
        publicKeyEncoding: { type: "spki", format: "pem" },
        privateKeyEncoding: { type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "x" },
      }).privateKey,
      /is encrypted; store it without a passphrase/,
    ],
  ])("refuses %s, naming the file", (_, certText, keyText, message) => {
    const read = () => readTls({ tlsCert: file("cert", certText), tlsKey: file("key", keyText) });
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(message);
  });

  it("refuses a file that is not there, and one setting without the other", () => {
    expect(() => readTls({ tlsCert: file("cert", cert), tlsKey: "/no/key" })).toThrow(
      /\/no\/key, cannot be read/,
    );
    expect(() => loadConfig({ env: { MEMORYD_TLS_CERT: "/c" } })).toThrow(/both --tls-cert and --tls-key/);
  });
});
