import { describe, expect, it } from "vitest";
import { DocumentIndex } from "../../../src/core/documents/document-index.ts";
import type { DocumentRow, JobRow } from "../../../src/core/documents/document.ts";

const document = (order: number, memories: number): DocumentRow => ({
  id: `d${order}`,
  sha256: `s${order}`,
  bytes: 1,
  filename: null,
  mediaType: "text/plain",
  url: null,
  userId: null,
  project: null,
  tags: [],
  metadata: {},
  extraction: { kind: "txt", method: "plain-text", charCount: 1 },
  strategy: "root-child",
  rootMemoryId: "m0",
  memoryIds: Array.from(
    { length: memories },
    (_, n) => `01a1fddb-78d9-776a-bdaa-${String(n).padStart(12, "0")}`,
  ),
  totalTokens: 1,
  chunkingVersion: 1,
  createdBy: null,
  createdAt: 0,
  fetchedAt: null,
  order,
});
const job = (order: number): JobRow => ({
  kind: "ingest",
  status: "succeeded",
  userId: null,
  project: null,
  request: null,
  documentId: `d${order}`,
  deduplicated: false,
  problem: null,
  createdAt: 0,
  startedAt: 0,
  finishedAt: 0,
  order,
});

describe("DocumentIndex", () => {
  it("ends a page of documents, and of the jobs that made them, at 8 MiB, and the next goes on there", () => {
    const index = new DocumentIndex();
    for (let order = 1; order <= 5; order += 1) {
      index.apply({ table: "documents", id: `d${order}`, row: document(order, 100_000) });
      index.apply({ table: "jobs", id: `j${order}`, row: job(order) });
    }
    const whole = { limit: 1_000, offset: 0 };
    for (const page of [index.pageOfDocuments({}, whole), index.pageOfJobs({}, whole)]) {
      expect(page.items.map(({ order }) => order)).toEqual([5, 4]);
      expect(page).toMatchObject({ total: 5, nextBefore: 4 });
      expect(JSON.stringify(index.pageOfDocuments({}, whole).items).length).toBeLessThan(8 * 1_024 ** 2);
    }
    const rest = index.pageOfJobs({}, { ...whole, before: 4 });
    expect(rest.items.map(({ order }) => order)).toEqual([3, 2]);
    expect(index.pageOfJobs({}, { ...whole, before: 2 })).toMatchObject({ items: [{ order: 1 }] });
    expect(index.pageOfJobs({}, { ...whole, before: 2 }).nextBefore).toBeUndefined();
  });
});
