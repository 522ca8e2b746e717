import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { classOf, isOwnAddress, hostOf } from "../../../src/extraction/fetch/target.ts";

const FORBIDDEN = [
  "169.254.0.0",
  "169.254.169.254",
  "169.254.255.255",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "fe80::1",
  "fe80::1%eth0",
  "febf:ffff::1",
  "fd00:ec2::254",
  "fd20:ce::254",
  "fd00:42::42",
  // An address inside that is forbidden.
  "::ffff:169.254.169.254",
  "::ffff:a9fe:a9fe",
  "::169.254.169.254",
  "::ffff:0:169.254.169.254",
  "64:ff9b::169.254.169.254",
  "64:ff9b:1::169.254.169.254",
  "64:ff9b:1:a9fe:a9:fe00::",
  "64:ff9b:1:7fa9:fe:a9fe::",
  "64:ff9b:1:7:a9:fea9:fe00:0",
  "2002:a9fe:a9fe::1",
  "2001:0:a9fe:a9fe::",
  "2001:0:808:808:0:0:5601:5601",
  "2001:db8::5efe:169.254.169.254",
  "2a00:1450::200:5efe:a9fe:a9fe",
  // Tunnels, whatever they carry.
  "64:ff9b:1::8.8.8.8",
  "2001:0:808:808:0:0:80ff:fffe",
  "2002:7f00:1::1",
  "2002:c0a8:101::",
  "2606:4700::5efe:10.0.0.1",
  "2002:808:808::1",
  "2001:0:808:808:0:0:f7f7:f7f7",
  "2a00:1450:4001::5efe:8.8.8.8",
  // No addresses.
  "",
  "example.com",
  "1.2.3",
  "1::2::3",
];
const PRIVATE = [
  "0.0.0.0",
  "0.1.2.3",
  "10.0.0.1",
  "10.255.255.255",
  "100.64.0.1",
  "100.127.255.255",
  "127.0.0.1",
  "127.255.255.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.0.0.1",
  "192.0.2.1",
  "192.88.99.1",
  "192.168.1.1",
  "198.18.0.1",
  "198.19.255.255",
  "198.51.100.1",
  "203.0.113.1",
  "224.0.0.1",
  "239.255.255.255",
  "240.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::ffff:127.0.0.1",
  "::7f00:1",
  "64:ff9b::10.0.0.1",
  "64:ff9b:2::8.8.8.8",
  "100::1",
  "2001:2::1",
  "2001:db8::1",
  "3fff::1",
  "4000::1",
  "5f00::1",
  "fc00::1",
  "fd12:3456::1",
  "fec0::1",
  "ff02::1",
];
const PUBLIC = [
  "1.1.1.1",
  "8.8.8.8",
  "9.255.255.255",
  "11.0.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "126.255.255.255",
  "128.0.0.0",
  "169.253.255.255",
  "169.255.0.0",
  "172.15.255.255",
  "172.32.0.0",
  "192.167.255.255",
  "192.169.0.0",
  "223.255.255.255",
  "::ffff:8.8.8.8",
  "64:ff9b::8.8.8.8",
  "2001:4860:4860::8888",
  "2606:4700:4700::1111",
];

describe("classOf", () => {
  it.each(FORBIDDEN)("forbids %s", (address) => expect(classOf(address)).toBe("forbidden"));
  it.each(PRIVATE)("finds %s private", (address) => expect(classOf(address)).toBe("private"));
  it.each(PUBLIC)("finds %s public", (address) => expect(classOf(address)).toBe("public"));

  it("judges every IPv6 spelling of an IPv4 address no better than the address", () => {
    const rank = { public: 0, private: 1, forbidden: 2 };
    fc.assert(
      fc.property(ipv4, fc.constantFrom(...SPELLINGS), (bytes, spell) => {
        expect(rank[classOf(spell(bytes))]).toBeGreaterThanOrEqual(rank[classOf(bytes.join("."))]);
      }),
    );
  });

  it("judges alike however the URL writes the address", () => {
    fc.assert(
      fc.property(ipv4, fc.constantFrom(...LITERALS), (bytes, write) => {
        expect(hostOf(new URL(`http://${write(bytes)}/`))).toBe(bytes.join("."));
      }),
    );
  });
});

describe("isOwnAddress", () => {
  const own = ["192.168.1.7", "fd00::7", "fe80::7%eth0"];

  it.each(["127.0.0.1", "127.9.9.9", "0.0.0.0", "::1", "::", "192.168.1.7", "::ffff:192.168.1.7", "fd00::7"])(
    "knows %s",
    (address) => expect(isOwnAddress(address, own)).toBe(true),
  );

  it.each(["192.168.1.8", "fd00::8", "8.8.8.8"])("does not take %s for its own", (address) =>
    expect(isOwnAddress(address, own)).toBe(false),
  );
});

type Bytes = readonly [number, number, number, number];

/** Half of them from the ranges that matter. */
const byte = fc.integer({ min: 0, max: 255 });
const ipv4: fc.Arbitrary<Bytes> = fc.oneof(
  fc.tuple(byte, byte, byte, byte),
  fc.tuple(fc.constantFrom(10, 127, 0, 224, 255), byte, byte, byte),
  fc.tuple(fc.constant(169), fc.constant(254), byte, byte),
  fc.constantFrom<Bytes>([100, 100, 100, 200], [168, 63, 129, 16], [192, 168, 0, 1], [172, 20, 0, 1]),
);

const hex = (...bytes: number[]) => bytes.map((value) => value.toString(16).padStart(2, "0")).join("");
const pair = ([a, b, c, d]: Bytes) => `${hex(a, b)}:${hex(c, d)}`;

const SPELLINGS: readonly ((bytes: Bytes) => string)[] = [
  (bytes) => `::ffff:${bytes.join(".")}`,
  (bytes) => `::FFFF:${pair(bytes).toUpperCase()}`,
  (bytes) => `0:0:0:0:0:ffff:${pair(bytes)}`,
  (bytes) => `::ffff:${pair(bytes)}%1`,
  (bytes) => `::${bytes.join(".")}`,
  (bytes) => `::ffff:0:${pair(bytes)}`,
  (bytes) => `64:ff9b::${bytes.join(".")}`,
  (bytes) => `64:ff9b:0:0:0:0:${pair(bytes)}`,
  (bytes) => `64:ff9b:1::${bytes.join(".")}`,
  (bytes) => `64:ff9b:1:9:9:9:${pair(bytes)}`,
  ([a, b, c, d]) => `64:ff9b:1:${hex(a, b)}:${hex(0, c)}:${hex(d, 0)}::`,
  ([a, b, c, d]) => `64:ff9b:1:${hex(9, a)}:${hex(0, b)}:${hex(c, d)}:0:0`,
  ([a, b, c, d]) => `64:ff9b:1:9:${hex(0, a)}:${hex(b, c)}:${hex(d, 0)}:0`,
  (bytes) => `2002:${pair(bytes)}::`,
  (bytes) => `2002:${pair(bytes)}:1:2:3:4:5`,
  (bytes) => `2001:0:${pair(bytes)}:0:0:f7f7:f7f7`,
  ([a, b, c, d]) => `2001:0:808:808:0:0:${hex(a ^ 255, b ^ 255)}:${hex(c ^ 255, d ^ 255)}`,
  (bytes) => `2a00:1450:4001:800:0:5efe:${pair(bytes)}`,
  (bytes) => `2a00:1450:4001:800:200:5efe:${pair(bytes)}`,
];

const number = ([a, b, c, d]: Bytes) => a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d;
const fullWidth = (text: string) =>
  text.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)));

const LITERALS: readonly ((bytes: Bytes) => string)[] = [
  (bytes) => bytes.join("."),
  (bytes) => `${bytes.join(".")}.`,
  (bytes) => String(number(bytes)),
  (bytes) => `0x${number(bytes).toString(16)}`,
  (bytes) => `0${number(bytes).toString(8)}`,
  (bytes) => bytes.map((value) => `0x${hex(value)}`).join("."),
  (bytes) => bytes.map((value) => `0${value.toString(8)}`).join("."),
  ([a, b, c, d]) => `${a}.${b * 2 ** 16 + c * 2 ** 8 + d}`,
  ([a, b, c, d]) => `${a}.${b}.0x${hex(c, d)}`,
  (bytes) => fullWidth(bytes.join(".")),
  (bytes) => bytes.join("。"),
  (bytes) => bytes.join(".").replace(/\d/g, (digit) => `%3${digit}`),
];
