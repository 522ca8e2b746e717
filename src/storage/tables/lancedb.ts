/*! LanceDB: Apache License 2.0, Copyright The LanceDB Authors; Apache Arrow: the same, The Apache Software Foundation; see their packages. */
import { createRequire } from "node:module";
import type * as arrowTypes from "apache-arrow";

// What the program uses of it, which the build writes into this one file: the package itself brings 350 MB for embedding models.
export { connect, Index, Session } from "@lancedb/lancedb";
export type { Connection, MaterializedView, Table } from "@lancedb/lancedb";
/** The copy that LanceDB loads, which is CommonJS: an import would load the whole of Arrow a second time. */
export const arrow = createRequire(import.meta.url)("apache-arrow") as typeof arrowTypes;
