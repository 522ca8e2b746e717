import { isIP } from "node:net";

/** A block of addresses: those whose first `bits` bits equal the base's. */
export interface AddressRange {
  readonly base: Uint8Array;
  readonly bits: number;
}

/** The 4 or 16 bytes of an address in its usual spelling, a zone left out; undefined for anything else. */
export function parseAddress(text: string): Uint8Array | undefined {
  const [address = ""] = text.split("%");
  switch (isIP(address)) {
    case 4:
      return Uint8Array.from(address.split("."), Number);
    case 6:
      return parseIPv6(address);
    default:
      return undefined;
  }
}

function parseIPv6(address: string): Uint8Array {
  const [head = "", tail] = address.split("::");
  const before = bytesOfGroups(head);
  const after = bytesOfGroups(tail ?? "");
  const bytes = new Uint8Array(16);
  bytes.set(before);
  bytes.set(after, 16 - after.length);
  return bytes;
}

function bytesOfGroups(groups: string): number[] {
  if (groups === "") return [];
  return groups.split(":").flatMap((group) => {
    if (group.includes(".")) return group.split(".").map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

/** @throws {TypeError} for anything but `address/bits`. */
export function parseRange(text: string): AddressRange {
  const [address = "", bits] = text.split("/");
  const base = parseAddress(address);
  if (base === undefined || bits === undefined) throw new TypeError(`not a range of addresses: ${text}`);
  return { base, bits: Number(bits) };
}

/** False for an address of the other family. */
export function isWithin(address: Uint8Array, { base, bits }: AddressRange): boolean {
  if (address.length !== base.length) return false;
  for (let index = 0; index * 8 < bits; index += 1) {
    const mask = 0xff << Math.max(0, (index + 1) * 8 - bits);
    if ((((address[index] ?? 0) ^ (base[index] ?? 0)) & mask & 0xff) !== 0) return false;
  }
  return true;
}
