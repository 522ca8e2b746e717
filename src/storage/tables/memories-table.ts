import { json, nullableNumber, nullableText, number, oneOf, owned, since, text, written } from "./columns.ts";
import { rowTable } from "./table-spec.ts";

export const memoriesTable = rowTable(
  "memories",
  {
    content: text,
    tags: json(),
    metadata: json(),
    ...owned,
    sessionId: nullableText,
    occurredAt: nullableNumber,
    primarySector: oneOf(),
    sectors: json(),
    createdAt: number,
    updatedAt: number,
    version: number,
    ...written,
    source: json(),
    order: number,
    terms: text,
    traits: json(),
    analyserVersion: number,
    duplicateHash: text,
    supersedes: since(json(), []),
  },
  { idOf: (id) => id },
);

/** Everything that indexes and the catalogue are built from: all but the text itself. */
export const SLIM_MEMORY_COLUMNS = Object.keys(memoriesTable.fields).filter((column) => column !== "content");
