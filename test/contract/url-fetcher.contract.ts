import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FetchProgress, UrlFetcher } from "../../src/core/documents/document-ports.ts";

export interface FetchingWorld {
  readonly fetcher: UrlFetcher;
  /** An address that answers this as plain text. */
  serve(body: string): Promise<string>;
  /** One where nobody answers. */
  readonly deadUrl: string;
  close(): Promise<void>;
}

const BODY = "Grüne Blätter, dried in the shade.";

/** Every UrlFetcher passes these tests: the real one, and the fake that other tests rely on. */
export function urlFetcherContract(name: string, open: () => Promise<FetchingWorld>) {
  describe(`${name} keeps the UrlFetcher contract`, () => {
    let world: FetchingWorld;
    let written: Uint8Array[];
    const sink = { write: async (chunk: Uint8Array) => void written.push(chunk.slice()) };
    beforeEach(async () => {
      world = await open();
      written = [];
    });
    afterEach(() => world.close());

    it("writes the body and says what it wrote", async () => {
      const progress: FetchProgress[] = [];
      const url = await world.serve(BODY);
      const page = await world.fetcher.fetch(url, { sink, onProgress: (each) => progress.push(each) });
      expect(Buffer.concat(written).toString()).toBe(BODY);
      expect(page).toMatchObject({
        contentType: "text/plain",
      });
      expect(progress.at(-1)?.done).toBe(Buffer.byteLength(BODY));
    });

    it.each(["file:///etc/passwd", "ftp://a.example/x", "no address"])(
      "refuses %s, before and while",
      async (url) => {
        expect(() => world.fetcher.check(url)).toThrow(
          expect.objectContaining({ code: "INVALID_REQUEST" }) as Error,
        );
        await expect(world.fetcher.fetch(url, { sink })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
      },
    );

    it("says where nobody answers", async () => {
      await expect(world.fetcher.fetch(world.deadUrl, { sink })).rejects.toMatchObject({
        code: "FETCH_FAILED",
      });
      expect(written).toEqual([]);
    });

    it("passes on the sink's error and the signal's reason as they are", async () => {
      const url = await world.serve(BODY);
      const full = new Error("full");
      await expect(world.fetcher.fetch(url, { sink: { write: () => Promise.reject(full) } })).rejects.toBe(
        full,
      );
      const reason = new Error("enough");
      await expect(world.fetcher.fetch(url, { sink, signal: AbortSignal.abort(reason) })).rejects.toBe(
        reason,
      );
      expect(written).toEqual([]);
    });
  });
}
