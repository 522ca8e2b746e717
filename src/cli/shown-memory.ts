import {
  anything,
  arrayOf,
  type Formed,
  integer,
  mapOf,
  nullable,
  number,
  optional,
  record,
  string,
} from "../json-form.ts";

/** What the commands about memories show of one. */
export const ShownMemory = record({
  id: string,
  content: string,
  tags: arrayOf(string),
  metadata: mapOf(anything),
  user_id: nullable(string),
  project: nullable(string),
  session_id: nullable(string),
  occurred_at: string,
  sectors: arrayOf(string),
  salience: number,
  created_at: string,
  updated_at: string,
  version: integer,
  created_by: nullable(string),
  source: nullable(
    record({
      document_id: string,
      filename: nullable(string),
      chunk_index: integer,
      page: optional(integer),
      section: optional(string),
      url: optional(string),
    }),
  ),
});
export type ShownMemory = Formed<typeof ShownMemory>;

export const MemoryPage = record({
  items: arrayOf(ShownMemory),
  total: integer,
  offset: integer,
  next_cursor: nullable(string),
});
