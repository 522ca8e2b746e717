/** A fetcher on this machine, and a sink that keeps what it is given. */
import type { FetchedPage, FetchOptions } from "../../src/core/documents/document-ports.ts";
import { createUrlFetcher, type UrlFetcherOptions } from "../../src/extraction/fetch/node-url-fetcher.ts";

export const FETCHED_AT = Date.UTC(2026, 10, 21);

export function localFetcher(options: Partial<UrlFetcherOptions> = {}) {
  return createUrlFetcher({
    version: "1.2.3",
    clock: { now: () => FETCHED_AT },
    maxBytes: 1_000_000,
    privateTargets: () => "allow",
    ownPort: () => undefined,
    lookup: async (name) => {
      throw Object.assign(new Error(`no ${name}`), { code: "ENOTFOUND" });
    },
    ...options,
  });
}

/** The page and its text. */
export async function fetchText(
  url: string,
  options: Partial<UrlFetcherOptions> = {},
  fetchOptions: Partial<FetchOptions> = {},
): Promise<FetchedPage & { readonly text: string }> {
  const chunks: Uint8Array[] = [];
  const sink = { write: async (chunk: Uint8Array) => void chunks.push(chunk) };
  const page = await localFetcher(options).fetch(url, { sink, ...fetchOptions });
  return { ...page, text: Buffer.concat(chunks).toString() };
}
