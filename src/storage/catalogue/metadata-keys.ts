import type { Metadata } from "../../core/memory.ts";

/** A number for each top-level key with a scalar value: equal pairs get equal numbers, others differ but once in 2⁵³. */
export function metadataKeys(metadata: Metadata): number[] {
  return Object.entries(metadata).flatMap(([key, value]) =>
    typeof value === "object" && value !== null
      ? []
      : [hash53(`${JSON.stringify(key)}:${JSON.stringify(value)}`)],
  );
}

/** FNV-1a's 32-bit prime; two rounds from unlike starts give 64 bits, of which a number holds 53. */
const FNV_PRIME = 16_777_619;
const FNV_START = 2_166_136_261;

function hash53(text: string): number {
  let low = FNV_START;
  let high = ~FNV_START;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    low = Math.imul(low ^ unit, FNV_PRIME);
    // Bytes of a unit in the other order, so that the two rounds do not collide together.
    high = Math.imul(high ^ ((unit << 8) | (unit >>> 8)), FNV_PRIME);
  }
  return ((high >>> 0) & 0x1f_ffff) * 2 ** 32 + (low >>> 0);
}
