import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { type Config, ConfigError, orConfigError } from "../config/config.ts";

/**
 * The certificate, with those that vouch for it, and its key, in PEM, and the certificate's SHA-256, as Node writes it, by which the
 * daemon's own command line knows the daemon; undefined where none is configured. @throws {ConfigError}
 */
export function readTls({ tlsCert, tlsKey }: Pick<Config, "tlsCert" | "tlsKey">) {
  if (tlsCert === "") return undefined;
  const cert = read(tlsCert, "certificate");
  const key = read(tlsKey, "private key");
  const certificate = orConfigError(
    `${tlsCert} holds no certificate in PEM`,
    () => new X509Certificate(cert),
  );
  const privateKey = orConfigError(keyFault(tlsKey, key), () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey))
    throw new ConfigError(`The private key in ${tlsKey} does not belong to the certificate in ${tlsCert}.`);
  orConfigError(`${tlsCert} and ${tlsKey} cannot be used for HTTPS`, () =>
    createSecureContext({ cert, key }),
  );
  return { cert, key, fingerprint: certificate.fingerprint256 };
}

function keyFault(path: string, key: string): string {
  return /ENCRYPTED/.test(key)
    ? `The private key in ${path} is encrypted; store it without a passphrase, readable by you alone`
    : `${path} holds no private key in PEM`;
}

const read = (path: string, what: string): string =>
  orConfigError(`The file with the ${what}, ${path}, cannot be read`, () => readFileSync(path, "utf8"));
