import { createCipheriv, createDecipheriv, createHash } from "node:crypto";
import type { Places } from "../core/ports.ts";

const CIPHER = "aes-128-ecb";
/** A list in 4 bytes, a place in 6 and a count in 6: one block of the cipher, so none is chained to another. */
const BLOCK_BYTES = 16;
const PLACE_BYTES = 6;

/** Places of a store, which open over restarts. @param storeId a secret from bound keys: only answers to admins name it. */
export function createPlaces(storeId: string): Places {
  const key = createHash("sha256").update(`places ${storeId}`).digest().subarray(0, BLOCK_BYTES);
  const encrypt = createCipheriv(CIPHER, key, null).setAutoPadding(false);
  const decrypt = createDecipheriv(CIPHER, key, null).setAutoPadding(false);
  return {
    seal(list, place, skipped = 0) {
      const block = Buffer.alloc(BLOCK_BYTES);
      block.writeUInt32BE(list);
      block.writeUIntBE(place, 4, PLACE_BYTES);
      block.writeUIntBE(skipped, 10, PLACE_BYTES);
      return encrypt.update(block).toString("base64url");
    },
    open(list, text) {
      const sealed = Buffer.from(text, "base64url");
      if (sealed.length !== BLOCK_BYTES || sealed.toString("base64url") !== text) return undefined;
      const block = decrypt.update(sealed);
      if (block.readUInt32BE() !== list) return undefined;
      return { place: block.readUIntBE(4, PLACE_BYTES), skipped: block.readUIntBE(10, PLACE_BYTES) };
    },
  };
}
