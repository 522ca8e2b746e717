import { factIdOfRow } from "../../core/fact.ts";
import type { Rows } from "../../core/rows.ts";
import { json, nullableNumber, nullableText, number, oneOf, text } from "./columns.ts";
import { rowTable, type TableSpec } from "./table-spec.ts";

const versions = rowTable("facts", {
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
  recordedAt: number,
  updatedAt: number,
});

/** One row a version; the fact's own id is the first part of the row's. */
export const factsTable: TableSpec<"facts"> = {
  ...versions,
  decode(columns, into) {
    const rows = new Map<string, Rows["facts"]>();
    versions.decode(columns, rows);
    for (const [rowId, row] of rows) into.set(rowId, { ...row, id: factIdOfRow(rowId) });
  },
};
