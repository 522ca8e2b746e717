import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ExtractionProgress, SpooledFile, TextExtractor } from "../../src/core/documents/extraction.ts";

export interface ExtractionWorld {
  readonly extractor: Pick<TextExtractor, "extract" | "checkClaim">;
  /** Keeps a text where it can be read. */
  file(text: string): Promise<SpooledFile>;
  close(): Promise<void>;
}

const SENTENCES = Array.from({ length: 400 }, (_, i) => `Sentence ${i} is about the garden.`);
const TEXT = SENTENCES.join("\n\n");
const UNSUPPORTED = expect.objectContaining({ code: "UNSUPPORTED_MEDIA_TYPE" }) as Error;

/** Every TextExtractor passes these tests: the real one, and the fake that other tests rely on. */
export function textExtractorContract(name: string, open: () => Promise<ExtractionWorld>) {
  describe(`${name} keeps the TextExtractor contract`, () => {
    let world: ExtractionWorld;
    beforeAll(async () => {
      world = await open();
    });
    afterAll(() => world.close());

    it("cuts a text into chunks that hold all of it in order, the same each time", async () => {
      const bytes = await world.file(TEXT);
      const progress: ExtractionProgress[] = [];
      const document = await world.extractor.extract(
        { bytes, filename: "garden.txt" },
        { onProgress: (each) => progress.push(each) },
      );
      expect(document).toMatchObject({ kind: "txt", mediaType: "text/plain" });
      expect(document.chunks.length).toBeGreaterThan(1);
      expect(document.digest?.summary).not.toBe("");
      const words = document.chunks.flatMap(({ content }) => content.split(/\n+/));
      expect(words).toEqual(SENTENCES);
      for (const { done, total } of progress) expect(done).toBeLessThanOrEqual(total);
      expect(await world.extractor.extract({ bytes, filename: "garden.txt" })).toEqual(document);
    });

    it("refuses what is called another kind, and so does the check of the name", async () => {
      const bytes = await world.file("Only text.");
      await expect(world.extractor.extract({ bytes, claimedType: "pdf" })).rejects.toEqual(UNSUPPORTED);
      expect(() => world.extractor.checkClaim({ claimedType: "pdf" }, "txt")).toThrow(UNSUPPORTED);
      world.extractor.checkClaim({ claimedType: "txt" }, "txt");
      world.extractor.checkClaim({}, "txt");
    });

    it("finds no text in spaces, and reads on", async () => {
      await expect(world.extractor.extract({ bytes: await world.file("  \n ") })).rejects.toMatchObject({
        code: "UNPROCESSABLE",
      });
      const { chunks } = await world.extractor.extract({ bytes: await world.file("Only text.") });
      expect(chunks.map(({ content }) => content)).toEqual(["Only text."]);
    });

    it("rejects with the signal's reason", async () => {
      const reason = new Error("enough");
      const bytes = await world.file(TEXT);
      const signal = AbortSignal.abort(reason);
      await expect(world.extractor.extract({ bytes }, { signal })).rejects.toBe(reason);
    });
  });
}
