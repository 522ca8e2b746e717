/** What metadata may hold, so that it comes back exactly as it was sent. */

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

export const MAX_METADATA_BYTES = 64 * 1024;
/** Nesting that every encoder and parser on the way takes. */
export const MAX_METADATA_DEPTH = 64;

const LONE_SURROGATE = /\p{Cs}/u;

/** True where half a UTF-16 pair stands alone: it has no UTF-8 form, so it could not be kept as sent. */
export function hasLoneSurrogate(text: string): boolean {
  return LONE_SURROGATE.test(text);
}

/** Why a JSON value cannot be kept exactly, or undefined when it can. Takes any depth. */
export function metadataFault(value: unknown): string | undefined {
  const waiting: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, depth } = next;
    if (typeof value === "string" && hasLoneSurrogate(value))
      return "must not contain a lone UTF-16 surrogate";
    if (typeof value === "number" && !Number.isFinite(value))
      return "must not contain a number beyond 1.8e308";
    if (typeof value !== "object" || value === null) continue;
    if (depth >= MAX_METADATA_DEPTH) return `must not be nested deeper than ${MAX_METADATA_DEPTH} levels`;
    if (Array.isArray(value)) {
      for (const child of value as unknown[]) waiting.push({ value: child, depth: depth + 1 });
      continue;
    }
    for (const [key, child] of Object.entries(value)) {
      if (key === "__proto__") return 'must not contain the key "__proto__"';
      if (hasLoneSurrogate(key)) return "must not contain a lone UTF-16 surrogate";
      waiting.push({ value: child, depth: depth + 1 });
    }
  }
  return undefined;
}

/** Size as compact JSON in UTF-8. Of a value without a `metadataFault`. */
export function metadataBytes(value: JsonObject): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}
