import { ServiceError } from "../../src/core/errors.ts";
import type { UrlFetcher } from "../../src/core/documents/document-ports.ts";

/** Fetches from a map of addresses; after redirects each ends in "?final". */
export function createFakeFetcher(
  pages: ReadonlyMap<string, string>,
  {
    now = () => 0,
    held = () => undefined,
  }: {
    readonly now?: () => number;
    /** What a fetch waits for. */
    readonly held?: () => Promise<void> | undefined;
  } = {},
): UrlFetcher {
  const check: UrlFetcher["check"] = (url) => {
    if (!/^https?:/.test(url)) throw new ServiceError("INVALID_REQUEST", "not an address");
  };
  return {
    check,
    async fetch(url, { sink, signal, onProgress }) {
      signal?.throwIfAborted();
      check(url);
      await held();
      signal?.throwIfAborted();
      const page = pages.get(url);
      if (page === undefined) throw new ServiceError("FETCH_FAILED", "nobody there");
      const body = Buffer.from(page);
      await sink.write(body);
      onProgress?.({ done: body.length, total: body.length });
      return {
        url: `${url}?final`,
        contentType: "text/plain",
        charset: null,
        filename: "page.txt",
        fetchedAt: now(),
      };
    },
  };
}
