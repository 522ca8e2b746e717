/** Makes certificates, which Node cannot: enough of X.509 (RFC 5280) for a server on this machine. */
import { generateKeyPairSync, sign } from "node:crypto";

export interface SelfSignedCertificate {
  /** Both in PEM. */
  readonly key: string;
  readonly cert: string;
}

/** For the name `localhost` and both loopback addresses, unless given; valid for ten years around `at`. */
export function selfSignedCertificate({
  names = ["localhost"],
  at = Date.now(),
}: { readonly names?: readonly string[]; readonly at?: number } = {}): SelfSignedCertificate {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const subject = sequence(set(sequence(objectId("55 04 03"), tagged(0x0c, Buffer.from("memoryd tests")))));
  const year = 365.25 * 86_400_000;
  const alternatives = sequence(
    ...names.map((name) => tagged(0x82, Buffer.from(name))),
    tagged(0x87, Buffer.from([127, 0, 0, 1])),
    tagged(0x87, Buffer.from([...Buffer.alloc(15), 1])),
  );
  const isAuthority = sequence(tagged(0x01, Buffer.from([0xff])));
  const body = sequence(
    tagged(0xa0, integer(2)),
    integer(1),
    ECDSA_WITH_SHA256,
    subject,
    sequence(time(at - 5 * year), time(at + 5 * year)),
    subject,
    publicKey.export({ type: "spki", format: "der" }),
    tagged(
      0xa3,
      sequence(
        sequence(objectId("55 1d 11"), tagged(0x04, alternatives)),
        sequence(objectId("55 1d 13"), tagged(0x04, isAuthority)),
      ),
    ),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign("sha256", body, privateKey)]);
  const certificate = sequence(body, ECDSA_WITH_SHA256, tagged(0x03, signature));
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString("base64")}\n-----END CERTIFICATE-----\n`,
  };
}

const ECDSA_WITH_SHA256 = sequence(objectId("2a 86 48 ce 3d 04 03 02"));

function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...parts: Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts));
}

function set(...parts: Buffer[]): Buffer {
  return tagged(0x31, Buffer.concat(parts));
}

function integer(value: number): Buffer {
  return tagged(0x02, Buffer.from([value]));
}

function objectId(bytes: string): Buffer {
  return tagged(0x06, Buffer.from(bytes.replaceAll(" ", ""), "hex"));
}

function time(at: number): Buffer {
  return tagged(0x18, Buffer.from(`${new Date(at).toISOString().replace(/\D/g, "").slice(0, 14)}Z`));
}
