/**
 * Who can be behind an address, by the registries of special-purpose addresses (RFC 6890 and its
 * successors, https://www.iana.org/assignments/iana-ipv6-special-registry). IPv6 is judged by what is
 * allocated for the public internet; whatever lies outside counts as private.
 */
import { BlockList, isIP } from "node:net";
import { networkInterfaces } from "node:os";

/** `forbidden`: the neighbours on the wire and the services that hand a machine its cloud credentials. */
export type AddressClass = "public" | "private" | "forbidden";

const FORBIDDEN = listOf(
  "169.254.0.0/16", // link-local, and where AWS, Google, Azure and others answer with metadata
  "100.100.100.200/32", // metadata of Alibaba Cloud
  "168.63.129.16/32", // Azure's host agent
  "192.0.0.192/32", // metadata of Oracle Cloud
  "fe80::/10", // link-local
  "fd00:ec2::/32", // metadata, time and names of AWS
  "fd20:ce::254/128", // metadata of Google Cloud
  "fd00:42::42/128", // metadata of Scaleway
);

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

/** An IPv6 address that leads to an IPv4 one, and at which bytes it holds it. */
interface Embedding {
  readonly range: BlockList;
  readonly at: readonly number[];
  /** The other end is whoever has the address inside; else the range itself is not public either. */
  readonly isTransparent: boolean;
  /** Teredo hides a client's address from careless translators by inverting it. */
  readonly isInverted?: boolean;
}

const LAST = [12, 13, 14, 15];
const EMBEDDINGS: readonly Embedding[] = [
  { range: listOf("::ffff:0:0/96"), at: LAST, isTransparent: true }, // IPv4-mapped
  { range: listOf("64:ff9b::/96"), at: LAST, isTransparent: true }, // NAT64, RFC 6052
  { range: listOf("2002::/16"), at: [2, 3, 4, 5], isTransparent: true }, // 6to4
  { range: listOf("2001::/32"), at: [4, 5, 6, 7], isTransparent: true }, // Teredo's server
  { range: listOf("2001::/32"), at: LAST, isTransparent: true, isInverted: true }, // its client
  { range: listOf("::/96"), at: LAST, isTransparent: false }, // IPv4-compatible
  { range: listOf("::ffff:0:0:0/96"), at: LAST, isTransparent: false }, // translated, RFC 2765
  // Local NAT64 (RFC 8215) may have any of the prefix lengths of RFC 6052 within its 48 bits.
  ...[[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], LAST].map((at) => ({
    range: listOf("64:ff9b:1::/48"),
    at,
    isTransparent: false,
  })),
];
/** The interface identifiers of ISATAP (RFC 5214): under any prefix, the address follows. */
const ISATAP = /^0[02]005efe$/;

/** The worst that holds for the address or for any address inside it. What is no address is forbidden. */
export function classOf(address: string): AddressClass {
  const classes = readingsOf(address).map(classOfReading);
  if (classes.length === 0 || classes.includes("forbidden")) return "forbidden";
  return classes.includes("private") ? "private" : "public";
}

/** The addresses that this machine has now. */
export function machineAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) =>
    (addresses ?? []).map(({ address }) => address),
  );
}

/** Whether a connection to the address may end at this machine, which has the addresses `own`. */
export function isOwnAddress(address: string, own: readonly string[]): boolean {
  const known = new Set(own.map(canonical));
  return readingsOf(address).some((reading) => isIn(OWN, reading) || known.has(reading));
}

/** Every address that a packet to this one may end at, in its canonical spelling; none for what is no address. */
function readingsOf(text: string): string[] {
  const address = canonical(text);
  if (address === undefined) return [];
  if (isIP(address) === 4) return [address];
  const bytes = bytesOf(address);
  const embeddings = EMBEDDINGS.filter(({ range }) => isIn(range, address));
  const inside = embeddings.map(({ at, isInverted = false }) =>
    at.map((index) => (bytes[index] ?? 0) ^ (isInverted ? 0xff : 0)).join("."),
  );
  if (ISATAP.test(Buffer.from(bytes.slice(8, 12)).toString("hex"))) inside.push(bytes.slice(12).join("."));
  return embeddings.some(({ isTransparent }) => isTransparent) ? inside : [address, ...inside];
}

function classOfReading(address: string): AddressClass {
  if (isIn(FORBIDDEN, address)) return "forbidden";
  if (isIn(PRIVATE, address) || (isIP(address) === 6 && !isIn(PUBLIC_IPV6, address))) return "private";
  return "public";
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

/** In the one spelling of the URL standard, a zone left out; undefined for what is no address. */
function canonical(text: string): string | undefined {
  const [address = ""] = text.split("%");
  if (isIP(address) !== 6) return isIP(address) === 4 ? address : undefined;
  return new URL(`http://[${address}]/`).hostname.slice(1, -1);
}

/** The 16 bytes of an IPv6 address in its canonical spelling. */
function bytesOf(address: string): number[] {
  const [head = [], tail = []] = address.split("::").map((part) => part.split(":").filter(Boolean));
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => "0");
  return [...head, ...zeros, ...tail].flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}
