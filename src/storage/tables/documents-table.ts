import { json, nullableNumber, nullableText, number, oneOf, text } from "./columns.ts";
import { rowTable } from "./table-spec.ts";

export const documentsTable = rowTable(
  "documents",
  {
    sha256: text,
    bytes: number,
    filename: nullableText,
    mediaType: text,
    url: nullableText,
    userId: nullableText,
    project: nullableText,
    tags: json(),
    metadata: json(),
    extraction: json(),
    strategy: oneOf(),
    rootMemoryId: text,
    memoryIds: json(),
    totalTokens: number,
    chunkingVersion: number,
    createdBy: nullableText,
    createdAt: number,
    fetchedAt: nullableNumber,
    order: number,
  },
  { idOf: (id) => id },
);
