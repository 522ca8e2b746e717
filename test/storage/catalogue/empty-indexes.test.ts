import { expect, it } from "vitest";
import { StoreCatalogue } from "../../../src/storage/catalogue/catalogue.ts";
import { StampedVectors } from "../../../src/storage/catalogue/stamped-vectors.ts";
import { WordIndex } from "../../../src/storage/catalogue/word-index.ts";
import { createFakeEmbedder } from "../../support/fake-embedder.ts";

it("Indexes take next to nothing outside of the heap before they hold anything, as a node has those of thousands of users", async () => {
  const embedder = createFakeEmbedder();
  const { vector } = await embedder.embedQuestion("tea");
  const before = process.memoryUsage().external;
  const indexes = Array.from({ length: 300 }, () => {
    const words = new WordIndex();
    words.pack();
    const vectors = new StampedVectors(embedder.stamp);
    vectors.index.score(vector).top(9);
    return [new StoreCatalogue(() => 0), words, vectors];
  });
  const bytes = (process.memoryUsage().external - before) / indexes.length;
  expect(bytes).toBeLessThan(10_000);
});
