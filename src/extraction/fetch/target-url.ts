import { isIP } from "node:net";
import { ServiceError } from "../../core/errors.ts";

/** Long enough for signed addresses, as short as most servers' own limit. */
const MAX_URL_LENGTH = 8_192;

/** Where other protocols listen: https://fetch.spec.whatwg.org/#port-blocking */
const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/** Names of the services that hand out cloud credentials; a proxy may resolve what we cannot. */
const METADATA_NAMES: ReadonlySet<string> = new Set([
  "metadata",
  "metadata.google.internal",
  "metadata.goog",
  "instance-data",
  "instance-data.ec2.internal",
  "metadata.azure.internal",
  "metadata.azure.com",
  "metadata.tencentyun.com",
  "metadata.packet.net",
  "metadata.platformequinix.com",
  "metadata.oraclecloud.com",
]);

/** Domains that no public name server answers for (RFC 6761, 6762, 8375; ICANN for `internal`). */
const LOCAL_DOMAIN = /(^|\.)(localhost|local|internal|home\.arpa)$/;

/**
 * The address to fetch, in the one spelling of the URL standard: every odd form of an IP address is the
 * usual one afterwards. Without a fragment, which is not for servers.
 *
 * @throws {ServiceError} INVALID_REQUEST; FORBIDDEN for a port or name that is never fetched.
 */
export function parseTargetUrl(text: string, base?: URL): URL {
  if (text.length > MAX_URL_LENGTH) {
    throw new ServiceError("INVALID_REQUEST", `The URL is longer than ${MAX_URL_LENGTH} characters.`);
  }
  const url = URL.canParse(text, base?.href) ? new URL(text, base) : undefined;
  if (url === undefined) {
    throw new ServiceError(
      "INVALID_REQUEST",
      "The URL is malformed. Give a whole one, such as https://example.com/page.",
    );
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new ServiceError(
      "INVALID_REQUEST",
      "The URL must begin with http:// or https://; nothing else is fetched.",
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new ServiceError(
      "INVALID_REQUEST",
      "The URL must not hold a user name or password; leave them out.",
    );
  }
  if (url.href.length > MAX_URL_LENGTH) {
    throw new ServiceError(
      "INVALID_REQUEST",
      `The URL, encoded, is longer than ${MAX_URL_LENGTH} characters.`,
    );
  }
  if (BLOCKED_PORTS.has(portOf(url))) {
    throw new ServiceError(
      "FORBIDDEN",
      `Port ${portOf(url)} belongs to another service than the web; it is not fetched.`,
    );
  }
  if (METADATA_NAMES.has(hostOf(url))) {
    throw new ServiceError(
      "FORBIDDEN",
      `${hostOf(url)} is a cloud's metadata service, which is never fetched.`,
    );
  }
  url.hash = "";
  return url;
}

/** A name, without a final dot, or an address, without brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$|\.$/g, "");
}

export function portOf({ port, protocol }: URL): number {
  return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
}

/** Whether a name means something only in the network around. */
export function isLocalName(host: string): boolean {
  return isIP(host) === 0 && (!host.includes(".") || LOCAL_DOMAIN.test(host));
}
