import { factIdOfRow } from "../../core/facts/fact.ts";
import { json, nullableNumber, nullableText, number, oneOf, text } from "./columns.ts";
import { rowTable } from "./table-spec.ts";

/** One row a version; the fact's own id is the first part of the row's. */
export const factsTable = rowTable(
  "facts",
  {
    version: number,
    subject: text,
    predicate: text,
    object: text,
    validFrom: number,
    validTo: nullableNumber,
    confidence: number,
    metadata: json(),
    userId: nullableText,
    project: nullableText,
    cardinality: oneOf(),
    sourceMemoryId: nullableText,
    supersededBy: nullableText,
    derivedFrom: nullableText,
    createdBy: nullableText,
    recordedAt: number,
    updatedAt: number,
  },
  { idOf: factIdOfRow },
);
