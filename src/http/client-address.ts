import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import { invalidRequest } from "../core/errors.ts";

/** True for a proxy whose `X-Forwarded-For` is trusted. */
export type IsTrusted = (address: string) => boolean;

/** @param proxies addresses, or networks as `10.0.0.0/8`. @throws {ServiceError} INVALID_REQUEST for any other text. */
export function trustedProxies(proxies: readonly string[]): IsTrusted {
  const list = new BlockList();
  for (const proxy of proxies) {
    const [address = "", bits, ...more] = proxy.split("/");
    const family = isIP(address);
    const longest = family === 4 ? 32 : 128;
    const length = bits === undefined ? longest : Number(bits);
    if (family === 0 || more.length > 0 || !/^\d{1,3}$/.test(bits ?? "0") || length > longest) {
      throw invalidRequest(
        `"${proxy}" is not the address of a proxy. Name it as 10.0.0.7, or its network as 10.0.0.0/8, in --trusted-proxies.`,
      );
    }
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
  const [head = "", tail] = address.replace(/%[^]*$/, "").split("::");
  const groups = head === "" ? [] : head.split(":");
  const rest = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : 8 - groups.length - rest.length;
  return [...groups, ...Array.from({ length: zeros }, () => "0"), ...rest]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}

/** Without brackets, port and the prefix of an IPv4 address that came over an IPv6 socket. */
export function plainAddress(text: string): string {
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? text;
  const address = /^([\d.]+):\d+$/.exec(bare)?.[1] ?? bare;
  return address.toLowerCase().replace(/^::ffff:(?=[\d.]+$)/, "");
}
