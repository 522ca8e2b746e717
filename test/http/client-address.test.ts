import type { IncomingMessage } from "node:http";
import { describe, expect, it } from "vitest";
import { clientAddressOf, networkOf, trustedProxies } from "../../src/http/peer.ts";

function from(peer: string, forwarded?: string | string[]) {
  const headers = forwarded === undefined ? {} : { "x-forwarded-for": forwarded };
  return { socket: { remoteAddress: peer }, headers } as unknown as IncomingMessage;
}

describe("clientAddressOf", () => {
  const isTrusted = trustedProxies(["127.0.0.1", "10.0.0.0/8", "fd00::/8"]);

  it.each([
    ["nobody is trusted with it", trustedProxies([]), "127.0.0.1", "8.8.8.8", "127.0.0.1"],
    ["the peer is no proxy of ours", isTrusted, "8.8.4.4", "8.8.8.8", "8.8.4.4"],
    ["there is no header", isTrusted, "127.0.0.1", undefined, "127.0.0.1"],
    ["a proxy names the client", isTrusted, "127.0.0.1", "8.8.8.8", "8.8.8.8"],
    ["the client invents others before itself", isTrusted, "127.0.0.1", "1.1.1.1, 8.8.8.8", "8.8.8.8"],
    ["two proxies of ours pass it on", isTrusted, "127.0.0.1", "1.1.1.1, 8.8.8.8, 10.1.2.3", "8.8.8.8"],
    ["all are proxies of ours", isTrusted, "127.0.0.1", "10.9.9.9", "10.9.9.9"],
    ["it names nothing that is an address", isTrusted, "127.0.0.1", "unknown", "127.0.0.1"],
    ["it names a port", isTrusted, "127.0.0.1", "8.8.8.8:4711", "8.8.8.8"],
    ["it names IPv6", isTrusted, "::ffff:127.0.0.1", "[2001:db8::1]:4711, fd00::2", "2001:db8::1"],
  ])("when %s", (_, trusted, peer, forwarded, address) => {
    expect(clientAddressOf(from(peer, forwarded), trusted)).toBe(address);
  });
});

describe("trustedProxies", () => {
  it.each(["proxy.example", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8/8", "::/129", "", "10.0.0.0/"])(
    "refuses %j",
    (text) => {
      expect(() => trustedProxies([text])).toThrow(/is not the address of a proxy/);
    },
  );
});

describe("networkOf", () => {
  it.each([
    ["8.8.8.8", "8.8.8.8"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:0db8:1:2::9", "2001:db8:1:2"],
    ["2001:db8::9", "2001:db8:0:0"],
    ["::1", "0:0:0:0"],
    ["fe80::1%eth0", "fe80:0:0:0"],
    ["", ""],
  ])("of %s is %s", (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});
