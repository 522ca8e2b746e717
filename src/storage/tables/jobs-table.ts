import { json, nullableNumber, nullableText, number, oneOf } from "./columns.ts";
import { rowTable } from "./table-spec.ts";

export const jobsTable = rowTable("jobs", {
  kind: oneOf(),
  status: oneOf(),
  userId: nullableText,
  project: nullableText,
  request: json(),
  documentId: nullableText,
  deduplicated: json(),
  problem: json(),
  createdAt: number,
  startedAt: nullableNumber,
  finishedAt: nullableNumber,
  order: number,
});
