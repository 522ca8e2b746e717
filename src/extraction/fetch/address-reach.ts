/**
 * Who can be behind an address, by the registries of special-purpose addresses (RFC 6890 and its
 * successors, https://www.iana.org/assignments/iana-ipv6-special-registry). IPv6 is judged by what is
 * allocated for the public internet; whatever lies outside counts as private.
 */
import { isWithin, parseAddress, parseRange, type AddressRange } from "./ip-address.ts";

/** `forbidden`: the neighbours on the wire and the services that hand a machine its cloud credentials. */
export type Reach = "public" | "private" | "forbidden";

const FORBIDDEN = ranges(
  "169.254.0.0/16", // link-local, and where AWS, Google, Azure and others answer with metadata
  "100.100.100.200/32", // metadata of Alibaba Cloud
  "168.63.129.16/32", // Azure's host agent
  "192.0.0.192/32", // metadata of Oracle Cloud
  "fe80::/10", // link-local
  "fd00:ec2::/32", // metadata, time and names of AWS
  "fd20:ce::254/128", // metadata of Google Cloud
  "fd00:42::42/128", // metadata of Scaleway
);

const PRIVATE = ranges(
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
const PUBLIC_IPV6 = parseRange("2000::/3");

/** An IPv6 address that leads to an IPv4 one, and at which bytes it holds it. */
interface Embedding {
  readonly range: AddressRange;
  readonly at: readonly number[];
  /** The other end is whoever has the address inside; else the range itself is not public either. */
  readonly transparent: boolean;
  /** Teredo hides a client's address from careless translators by inverting it. */
  readonly inverted?: boolean;
}

const TEREDO = parseRange("2001::/32");
const EMBEDDINGS: readonly Embedding[] = [
  { range: parseRange("::ffff:0:0/96"), at: [12, 13, 14, 15], transparent: true }, // IPv4-mapped
  { range: parseRange("64:ff9b::/96"), at: [12, 13, 14, 15], transparent: true }, // NAT64, RFC 6052
  { range: parseRange("2002::/16"), at: [2, 3, 4, 5], transparent: true }, // 6to4
  { range: TEREDO, at: [4, 5, 6, 7], transparent: true }, // the server
  { range: TEREDO, at: [12, 13, 14, 15], transparent: true, inverted: true }, // the client
  { range: parseRange("::/96"), at: [12, 13, 14, 15], transparent: false }, // IPv4-compatible
  { range: parseRange("::ffff:0:0:0/96"), at: [12, 13, 14, 15], transparent: false }, // translated, RFC 2765
  // Local NAT64 (RFC 8215) may have any of the prefix lengths of RFC 6052 within its 48 bits.
  ...[
    [6, 7, 9, 10],
    [7, 9, 10, 11],
    [9, 10, 11, 12],
    [12, 13, 14, 15],
  ].map((at) => ({
    range: parseRange("64:ff9b:1::/48"),
    at,
    transparent: false,
  })),
];

/** The interface identifiers of ISATAP (RFC 5214): under any prefix, the address follows. */
const ISATAP = [
  [0x00, 0x00, 0x5e, 0xfe],
  [0x02, 0x00, 0x5e, 0xfe],
];

/** The worst that holds for the address or for any address inside it. What is no address is forbidden. */
export function reachOf(address: string): Reach {
  const reaches = readingsOf(address).map(reachOfReading);
  return reaches.length === 0 || reaches.includes("forbidden")
    ? "forbidden"
    : reaches.includes("private")
      ? "private"
      : "public";
}

/** Every address that a packet to this one may end at; none for what is no address. */
export function readingsOf(address: string): Uint8Array[] {
  const bytes = parseAddress(address);
  if (bytes === undefined) return [];
  if (bytes.length === 4) return [bytes];

  const embeddings = EMBEDDINGS.filter(({ range }) => isWithin(bytes, range));
  const inside = embeddings.map(({ at, inverted = false }) =>
    Uint8Array.from(at, (index) => (bytes[index] ?? 0) ^ (inverted ? 0xff : 0)),
  );
  if (ISATAP.some((marker) => marker.every((byte, index) => byte === bytes[8 + index]))) {
    inside.push(bytes.slice(12));
  }
  return embeddings.some(({ transparent }) => transparent) ? inside : [bytes, ...inside];
}

function reachOfReading(bytes: Uint8Array): Reach {
  const inRange = (range: AddressRange) => isWithin(bytes, range);
  if (FORBIDDEN.some(inRange)) return "forbidden";
  if (PRIVATE.some(inRange) || (bytes.length === 16 && !inRange(PUBLIC_IPV6))) return "private";
  return "public";
}

function ranges(...texts: string[]): AddressRange[] {
  return texts.map(parseRange);
}
