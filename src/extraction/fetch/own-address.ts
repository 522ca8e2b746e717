import { networkInterfaces } from "node:os";
import { readingsOf } from "./address-reach.ts";
import { isWithin, parseAddress, parseRange } from "./ip-address.ts";

/** Connections to these end at the machine that opens them, whatever its interfaces. */
const ALWAYS_OWN = ["127.0.0.0/8", "0.0.0.0/8", "::1/128", "::/128"].map(parseRange);

/** The addresses that this machine has now. */
export function machineAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) =>
    (addresses ?? []).map(({ address }) => address),
  );
}

/** Whether a connection to the address may end at this machine, which has the addresses `own`. */
export function isOwnAddress(address: string, own: readonly string[]): boolean {
  const ownBytes = own.map(parseAddress);
  return readingsOf(address).some(
    (reading) =>
      ALWAYS_OWN.some((range) => isWithin(reading, range)) ||
      ownBytes.some((bytes) => bytes !== undefined && Buffer.compare(bytes, reading) === 0),
  );
}
