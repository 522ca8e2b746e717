/*! LanceDB: Apache License 2.0, Copyright The LanceDB Authors; see its package for the text. */
// What the program uses of it, which the build writes into this one file: the package itself brings 350 MB for embedding models.
export { connect, Index, Session } from "@lancedb/lancedb";
export type { Connection, MaterializedView, Table } from "@lancedb/lancedb";
