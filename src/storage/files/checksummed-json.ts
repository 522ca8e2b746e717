import { crc32 } from "node:zlib";
import type { Shape } from "./shapes.ts";

/**
 * The small files of a store: a first line `memoryd KIND FORMAT crc32 CHECKSUM`, the same in every format, and the JSON that it
 * is the checksum of.
 */
export function encodeChecksummed(kind: string, format: number, value: unknown): Buffer {
  const text = Buffer.from(`${JSON.stringify(value, null, 1)}\n`);
  const crc = crc32(text).toString(16).padStart(8, "0");
  return Buffer.concat([Buffer.from(`memoryd ${kind} ${format} crc32 ${crc}\n`), text]);
}

/** The format and, read when it is asked for, the value: undefined without the shape; undefined for a damaged file. */
export function decodeChecksummed(
  kind: string,
  bytes: Buffer,
): { readonly format: number; value(shape: Shape): unknown } | undefined {
  const lineEnd = Math.max(bytes.indexOf("\n"), 0);
  const line = /^memoryd ([a-z]+) (\d+) crc32 ([0-9a-f]{8})$/.exec(bytes.subarray(0, lineEnd).toString());
  const body = bytes.subarray(lineEnd + 1);
  if (line?.[1] !== kind || crc32(body) !== Number.parseInt(line[3] ?? "", 16)) return undefined;
  return {
    format: Number(line[2]),
    value(shape) {
      try {
        const value: unknown = JSON.parse(body.toString());
        return shape(value) ? value : undefined;
      } catch {
        return undefined;
      }
    },
  };
}
