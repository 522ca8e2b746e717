import { expect, it } from "vitest";
import type { DocumentRow } from "../../src/core/documents/document.ts";
import type { DocumentKind } from "../../src/core/documents/extraction.ts";
import { linesOf, recordOf } from "../../src/http/transfer-line.ts";
import { validator } from "../../src/http/validation.ts";
import { DocumentLine, type TransferLine } from "../../src/schemas/transfer.ts";
import { fakeId } from "../support/fake-operations.ts";

const KINDS: readonly DocumentKind[] = [
  ...(["pdf", "docx", "xlsx", "pptx", "epub", "html", "md", "txt", "srt", "vtt", "eml", "ipynb"] as const),
  ...(["png", "jpeg", "webp", "audio", "video"] as const),
];

const document: Omit<DocumentRow, "order" | "extraction"> = {
  id: fakeId(1),
  sha256: "ab".repeat(32),
  bytes: 12,
  filename: "plan",
  mediaType: "application/octet-stream",
  url: null,
  userId: null,
  project: null,
  createdBy: null,
  tags: [],
  metadata: {},
  strategy: "single",
  rootMemoryId: fakeId(2),
  memoryIds: [fakeId(2)],
  totalTokens: 3,
  chunkingVersion: 1,
  createdAt: 0,
  fetchedAt: null,
};

it.each(KINDS)("takes back what is known of a document of the kind %s", async (kind) => {
  const extraction = { kind, method: "text", charCount: 12, confidence: 0.9 };
  const record = { kind: "document" as const, document: { ...document, extraction } };
  const lines: string[] = [];
  for await (const line of linesOf(
    (async function* () {
      yield record;
    })(),
    "0.1.0",
  ))
    lines.push(line);
  const checked = validator(DocumentLine, "The line")(JSON.parse(lines[1] ?? ""));
  expect(checked).toHaveProperty("value");
  expect(recordOf((checked as { value: TransferLine }).value)).toEqual(record);
});
