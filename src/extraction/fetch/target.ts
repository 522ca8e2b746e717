/** Checks of a fetch's target: the form of the URL, its port and name, and every address of the name. */
import type { LookupAddress } from "node:dns";
import { isIP, BlockList } from "node:net";
import { networkInterfaces } from "node:os";
import { forbidden, invalidRequest } from "../../core/errors.ts";
import { unlessAborted } from "../../sandbox/job-process.ts";

/**
 * The class of an IP address, by the registries of special-purpose addresses (RFC 6890 and its
 * successors, https://www.iana.org/assignments/iana-ipv6-special-registry). IPv6 outside the range
 * that is allocated for the public internet is private.
 */

/** `forbidden`: neighbours on the wire, cloud-metadata services, and tunnels that hide another address. */
export type AddressClass = "public" | "private" | "forbidden";

const FORBIDDEN = listOf(
  "169.254.0.0/16", // link-local; metadata of AWS, Google, Azure and others
  "100.100.100.200/32", // metadata of Alibaba Cloud
  "168.63.129.16/32", // Azure's host agent
  "192.0.0.192/32", // metadata of Oracle Cloud
  "fe80::/10", // link-local
  "fd00:ec2::/32", // metadata, time and names of AWS
  "fd20:ce::254/128", // metadata of Google Cloud
  "fd00:42::42/128", // metadata of Scaleway
  "2001::/32", // Teredo
  "2002::/16", // 6to4
  "64:ff9b:1::/48", // local NAT64 (RFC 8215)
  "::ffff:0:0:0/96", // IPv4-translated (RFC 2765)
);
/** ISATAP (RFC 5214): an interface identifier under any prefix, with an IPv4 address behind it. */
const ISATAP = /:(?:0|200)?:5efe:/;

const PRIVATE = listOf(
  "0.0.0.0/8", // this machine
  "10.0.0.0/8",
  "100.64.0.0/10", // between a provider and its customers
  "127.0.0.0/8",
  "172.16.0.0/12",
  "192.0.0.0/24", // protocol assignments
  "192.0.2.0/24", // documentation
  "192.88.99.0/24", // relays of 6to4
  "192.168.0.0/16",
  "198.18.0.0/15", // benchmarks
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, and broadcast
  "2001::/23", // protocol assignments
  "2001:db8::/32", // documentation
  "3fff::/20", // documentation
);
const PUBLIC_IPV6 = listOf("2000::/3");
/** Connections to these end at the machine that opens them, whatever its interfaces. */
const OWN = listOf("127.0.0.0/8", "0.0.0.0/8", "::1/128", "::/128");
/** IPv6 spellings of an IPv4 address: IPv4-mapped, IPv4-compatible, and NAT64 (RFC 6052). */
const IPV4_INSIDE = listOf("::ffff:0:0/96", "::/96", "64:ff9b::/96");

/** The class of an address; `forbidden` for text that is no address. */
export function classOf(text: string): AddressClass {
  const address = canonical(text);
  if (address === undefined || isIn(FORBIDDEN, address) || ISATAP.test(address)) return "forbidden";
  if (isIn(PRIVATE, address) || (isIP(address) === 6 && !isIn(PUBLIC_IPV6, address))) return "private";
  return "public";
}

/** The addresses that this machine has now. */
export const machineAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address));

/** Whether a connection to the address may end at this machine, which has the addresses `own`. */
export function isOwnAddress(text: string, own: readonly string[]): boolean {
  const address = canonical(text);
  return address !== undefined && (isIn(OWN, address) || own.map(canonical).includes(address));
}

/**
 * The address in one spelling: IPv4 where IPv6 only wraps it, otherwise the URL standard's, without a zone. Undefined
 * for text that is no address.
 */
function canonical(text: string): string | undefined {
  const [address = ""] = text.split("%");
  if (isIP(address) !== 6) return isIP(address) === 4 ? address : undefined;
  const spelled = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  if (!isIn(IPV4_INSIDE, spelled)) return spelled;
  const [high = 0, low = 0] = spelled
    .split(":")
    .slice(-2)
    .map((group) => Number.parseInt(group || "0", 16));
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
}

function listOf(...ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = "", bits] = range.split("/");
    list.addSubnet(address, Number(bits), isIP(address) === 4 ? "ipv4" : "ipv6");
  }
  return list;
}

const isIn = (list: BlockList, address: string): boolean =>
  list.check(address, isIP(address) === 4 ? "ipv4" : "ipv6");

/** Long enough for signed addresses, as short as most servers' own limit. */
const MAX_URL_LENGTH = 8_192;

/** Ports of other protocols: https://fetch.spec.whatwg.org/#port-blocking */
const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/** Names of the services that hand out cloud credentials: a proxy may resolve what we cannot. */
const METADATA_NAMES: ReadonlySet<string> = new Set(
  (
    "metadata metadata.google.internal metadata.goog instance-data instance-data.ec2.internal " +
    "metadata.azure.internal metadata.azure.com metadata.tencentyun.com metadata.packet.net " +
    "metadata.platformequinix.com metadata.oraclecloud.com"
  ).split(" "),
);

/** Domains that no public name server answers for (RFC 6761, 6762, 8375; ICANN for `internal`). */
const LOCAL_DOMAIN = /(^|\.)(localhost|local|internal|home\.arpa)$/;

/** A network that lets out nothing but its proxy often has no name server for the rest, and gives no answer. */
const LOOKUP_BEFORE_PROXY_MS = 3_000;

/** All addresses of a name, best first. */
export type Lookup = (name: string) => Promise<readonly LookupAddress[]>;

export interface TargetGuardOptions {
  /** Asked at every target: keys may be made while the daemon runs. */
  readonly privateTargets: () => "allow" | "deny" | "never";
  /** Port of the daemon, if it listens: not fetched at any address of this machine. */
  readonly ownPort: () => number | undefined;
  readonly machineAddresses: () => readonly string[];
  readonly lookup: Lookup;
  /** The proxy resolves names itself, within its own network: nothing private goes through it. */
  readonly viaProxy: boolean;
}

/** A target that may be fetched, from these addresses and no others. */
export interface JudgedTarget {
  readonly url: URL;
  /** Empty only for a name that a proxy has to resolve. */
  readonly addresses: readonly LookupAddress[];
  readonly exposure: Exclude<AddressClass, "forbidden">;
}

/** Decides what may be fetched. Every address of a name must pass, since a connection may go to any of them. */
export class TargetGuard {
  readonly #options: TargetGuardOptions;

  constructor(options: TargetGuardOptions) {
    this.#options = options;
  }

  /**
   * The URL to fetch, in the one spelling of the URL standard and without a fragment. Checks all that needs no network.
   * @throws {ServiceError} INVALID_REQUEST; FORBIDDEN for a port, name or address that is never fetched.
   */
  parse(text: string, base?: URL): URL {
    const url = parseTargetUrl(text, base);
    if (isIP(hostOf(url)) !== 0) this.checkAddress(hostOf(url), url);
    return url;
  }

  /** @throws {ServiceError} FORBIDDEN; whatever the lookup throws; the signal's reason. */
  async judge(url: URL, signal: AbortSignal): Promise<JudgedTarget> {
    const host = hostOf(url);
    const family = isIP(host);
    const addresses = family === 0 ? await this.#resolve(host, signal) : [{ address: host, family }];
    const exposures = addresses.map(({ address }) => this.checkAddress(address, url));
    return { url, addresses, exposure: exposures.includes("private") ? "private" : "public" };
  }

  /** @throws {ServiceError} FORBIDDEN if the URL must not be fetched from this address. */
  checkAddress(address: string, url: URL): JudgedTarget["exposure"] {
    const { ownPort, machineAddresses, viaProxy, privateTargets } = this.#options;
    const host = hostOf(url);
    if (portOf(url) === ownPort() && isOwnAddress(address, machineAddresses()))
      throw forbidden(`${url.host} is memoryd itself, which is never fetched.`);
    const exposure = classOf(address);
    if (exposure === "public") return exposure;
    if (exposure === "forbidden")
      throw forbidden(
        `${host} is at a link-local, tunnel or cloud-metadata address, which is never fetched.`,
      );
    if (viaProxy) throw privateThroughProxy(host);
    const choice = privateTargets();
    if (choice === "allow") return exposure;
    const which = `${host} is at a private address, which is not fetched`;
    throw forbidden(
      choice === "never"
        ? `${which} for an agent.`
        : `${which}. Set MEMORYD_INGEST_PRIVATE=allow if it should be.`,
    );
  }

  async #resolve(host: string, signal: AbortSignal): Promise<readonly LookupAddress[]> {
    const { lookup, viaProxy } = this.#options;
    if (!viaProxy) {
      const addresses = await unlessAborted(lookup(host), signal);
      if (addresses.length > 0) return addresses;
      throw Object.assign(new Error("no addresses"), { code: "ENOTFOUND" });
    }
    const timeout = AbortSignal.timeout(LOOKUP_BEFORE_PROXY_MS);
    const addresses = await unlessAborted(lookup(host), AbortSignal.any([signal, timeout])).catch(() => []);
    signal.throwIfAborted();
    if (addresses.length === 0 && isLocalName(host)) throw privateThroughProxy(host);
    return addresses;
  }
}

/** A public page may not lead to a private address; the user may. @throws {ServiceError} FORBIDDEN. */
export function checkStep(from: JudgedTarget | undefined, to: JudgedTarget): void {
  if (from?.exposure === "public" && to.exposure === "private")
    throw forbidden(
      `${hostOf(from.url)} redirects to ${hostOf(to.url)}, a private address. Send that address itself if it is the one to fetch.`,
    );
}

/** The host name without a final dot, or the address without brackets. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$|\.$/g, "");

export const portOf = ({ port, protocol }: URL): number =>
  port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);

function parseTargetUrl(text: string, base?: URL): URL {
  const url =
    text.length <= MAX_URL_LENGTH && URL.canParse(text, base?.href) ? new URL(text, base) : undefined;
  if (url === undefined || url.href.length > MAX_URL_LENGTH)
    throw invalidRequest(
      `The URL must be whole, such as https://example.com/page, and have at most ${MAX_URL_LENGTH} characters.`,
    );
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw invalidRequest("The URL must begin with http:// or https://.");
  if (url.username !== "" || url.password !== "")
    throw invalidRequest("The URL must not hold a user name or password. Leave them out.");
  if (BLOCKED_PORTS.has(portOf(url)))
    throw forbidden(`Port ${portOf(url)} belongs to another service than the web; it is not fetched.`);
  if (METADATA_NAMES.has(hostOf(url)))
    throw forbidden(`${hostOf(url)} is a cloud's metadata service, which is never fetched.`);
  url.hash = "";
  return url;
}

/** Whether a name means something only in the network around. */
const isLocalName = (host: string): boolean => !host.includes(".") || LOCAL_DOMAIN.test(host);

const privateThroughProxy = (host: string) =>
  forbidden(`${host} is a private target; those are not fetched through a proxy.`);
