/**
 * The class of an IP address, by the registries of special-purpose addresses (RFC 6890 and its
 * successors, https://www.iana.org/assignments/iana-ipv6-special-registry). IPv6 outside the range
 * that is allocated for the public internet is private.
 */
import { BlockList, isIP } from "node:net";
import { networkInterfaces } from "node:os";

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
export function machineAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) =>
    (addresses ?? []).map(({ address }) => address),
  );
}

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

function isIn(list: BlockList, address: string): boolean {
  return list.check(address, isIP(address) === 4 ? "ipv4" : "ipv6");
}
