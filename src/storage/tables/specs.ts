import type { TableName } from "../../core/rows.ts";
import { documentsTable } from "./documents-table.ts";
import { edgesTable } from "./edges-table.ts";
import { factsTable } from "./facts-table.ts";
import { jobsTable } from "./jobs-table.ts";
import { memoriesTable } from "./memories-table.ts";
import { requestsTable } from "./requests-table.ts";
import { signalsTable } from "./signals-table.ts";
import type { TableSpec } from "./table-spec.ts";
import { tokensTable } from "./tokens-table.ts";
import { vectorsTable } from "./vectors-table.ts";

/** Every table there is; a new one without a specification does not compile. */
export const TABLE_SPECS: { readonly [T in TableName]: TableSpec<T> } = {
  memories: memoriesTable,
  vectors: vectorsTable,
  tokens: tokensTable,
  signals: signalsTable,
  edges: edgesTable,
  requests: requestsTable,
  facts: factsTable,
  documents: documentsTable,
  jobs: jobsTable,
};

export const TABLE_NAMES = Object.keys(TABLE_SPECS) as TableName[];
