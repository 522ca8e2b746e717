/** The real one runs the built worker: run `npm run build` first. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openExtractor } from "../../src/extraction/sandboxed-text-extractor.ts";
import { textExtractorContract } from "../contract/text-extractor.contract.ts";
import { EXTRACTION_LIMITS } from "../support/extraction-limits.ts";
import { createFakeExtractor } from "../support/fake-extractor.ts";

textExtractorContract("openExtractor", async () => {
  const folder = await mkdtemp(join(tmpdir(), "memoryd-extractor-"));
  const extractor = openExtractor({ limits: EXTRACTION_LIMITS });
  let files = 0;
  return {
    extractor,
    async file(text) {
      const path = join(folder, String((files += 1)));
      await writeFile(path, text);
      return { path };
    },
    async close() {
      await extractor.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
});

textExtractorContract("createFakeExtractor", async () => {
  const contents = new Map<string, Uint8Array>();
  return {
    extractor: createFakeExtractor({ contents }),
    async file(text) {
      const path = String(contents.size);
      contents.set(path, Buffer.from(text));
      return { path };
    },
    close: async () => {},
  };
});
