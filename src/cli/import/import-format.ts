/** What `--format` of an import may be. */
export const IMPORT_FORMATS = [
  "memoryd",
  "chats",
  "markdown",
  "ndjson",
  "json",
  "csv",
  "openmemory",
] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];
