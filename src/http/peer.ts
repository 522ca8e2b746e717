/** Which user of this machine is at the other end of a connection, as Linux tells it. */

import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { BlockList, isIP, type Socket } from "node:net";
import { endianness } from "node:os";
import { invalidRequest } from "../core/errors.ts";

/** The user's id. "unknown": the system does not say. "gone": it would, and there is no such connection any more. */
export type PeerState = number | "unknown" | "gone";

type Ends = Pick<Socket, "localAddress" | "localPort" | "remoteAddress" | "remotePort">;

const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];
const peers = new WeakMap<Ends, Promise<PeerState>>();

/** Looked up once per connection. */
export function peerOf(socket: Ends): Promise<PeerState> {
  const known = peers.get(socket) ?? readPeer(socket);
  peers.set(socket, known);
  return known;
}

async function readPeer(socket: Ends): Promise<PeerState> {
  if (process.platform !== "linux" || socket.localPort === undefined) return "unknown";
  // Reset before anybody asked who it was. A socket with a path has no ports at all.
  if (socket.remotePort === undefined) return "gone";
  const tables = await Promise.all(TABLES.map((path) => readFile(path, "latin1").catch(() => "")));
  return peerIn(tables.join("\n"), socket);
}

/**
 * The owner of the other end in the tables of the system. A connection that its owner has closed has no inode, and its
 * user reads as 0; one that was reset is in no table. Neither passes for the owner of the daemon: "unknown" only where the
 * tables do not have the daemon's own end, not even listening, and so describe another network.
 */
export function peerIn(table: string, socket: Ends): PeerState {
  const [own, other] = [
    ends(socket.localAddress, socket.localPort),
    ends(socket.remoteAddress, socket.remotePort),
  ];
  let isDescribed = false;
  for (const line of table.split("\n")) {
    const [, local = "", remote = "", , , , , uid, , inode = "0"] = line.trim().split(/ +/);
    if (own.has(local)) isDescribed = true;
    if (other.has(local) && own.has(remote) && inode !== "0") return Number(uid);
  }
  return isDescribed ? "gone" : "unknown";
}

/** An address with its port as the tables have it: an IPv4 one as that, and as it stands in IPv6. */
function ends(address = "", port = 0): ReadonlySet<string> {
  const tail = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const ipv4 = /^(?:::ffff:)?(\d+)\.(\d+)\.(\d+)\.(\d+)$/i.exec(address)?.slice(1).map(Number);
  const bytes = ipv4 ?? ipv6Groups(address).flatMap((group) => [group >> 8, group & 0xff]);
  const words = inWords(bytes);
  return new Set([
    words + tail,
    ...(ipv4 === undefined ? [] : [`${inWords([...ZEROS, 0xff, 0xff])}${words}${tail}`]),
  ]);
}

const ZEROS = Array.from({ length: 10 }, () => 0);

/** The eight numbers of an IPv6 address. */
function ipv6Groups(address: string): number[] {
  const [head = [], tail = []] = address
    .replace(/%[^]*$/, "")
    .split("::")
    .map((part) => part.split(":").filter((group) => group !== ""));
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => "0");
  return [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16));
}

/** Words of four bytes, each in the order of the processor. */
function inWords(bytes: readonly number[]): string {
  const hex = bytes.map((byte) => byte.toString(16).toUpperCase().padStart(2, "0"));
  const words = Array.from({ length: hex.length / 4 }, (_, i) => hex.slice(i * 4, i * 4 + 4));
  return words.map((word) => (endianness() === "LE" ? word.reverse() : word).join("")).join("");
}

/** True for a proxy whose `X-Forwarded-For` is trusted. */
type IsTrusted = (address: string) => boolean;

/** @param proxies addresses, or networks as `10.0.0.0/8`. @throws {ServiceError} INVALID_REQUEST for any other text. */
export function trustedProxies(proxies: readonly string[]): IsTrusted {
  const list = new BlockList();
  for (const proxy of proxies) {
    const [address = "", bits, ...more] = proxy.split("/");
    const family = isIP(address);
    const longest = family === 4 ? 32 : 128;
    const length = bits === undefined ? longest : Number(bits);
    if (family === 0 || more.length > 0 || !/^\d{1,3}$/.test(bits ?? "0") || length > longest)
      throw invalidRequest(
        `"${proxy}" is not the address of a proxy. Name it as 10.0.0.7, or its network as 10.0.0.0/8, in --trusted-proxies.`,
      );
    list.addSubnet(address, length, family === 4 ? "ipv4" : "ipv6");
  }
  return (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 4 ? "ipv4" : "ipv6");
}

/**
 * The client's address: the peer, or behind a trusted proxy the nearest address in
 * `X-Forwarded-For` that is not a proxy. Earlier addresses may be forged. For throttling and the log, not for access.
 */
export function clientAddressOf({ socket, headers }: IncomingMessage, isTrusted: IsTrusted): string {
  let address = plainAddress(socket.remoteAddress ?? "");
  const forwarded = [headers["x-forwarded-for"] ?? []].flat().join(",").split(",");
  while (isTrusted(address)) {
    const before = plainAddress(forwarded.pop()?.trim() ?? "");
    if (isIP(before) === 0) break;
    address = before;
  }
  return address;
}

/** The address to count by: of IPv6 the /64 network, because one person can have all of it. */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const groups = ipv6Groups(address).slice(0, 4);
  return groups.map((group) => group.toString(16)).join(":");
}

/** Without brackets, port and the prefix of an IPv4 address that came over an IPv6 socket. */
export function plainAddress(text: string): string {
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? text;
  const address = /^([\d.]+):\d+$/.exec(bare)?.[1] ?? bare;
  return address.toLowerCase().replace(/^::ffff:(?=[\d.]+$)/, "");
}
