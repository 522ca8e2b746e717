import { Type } from "typebox";
import {
  QueryProject,
  queryTime,
  QueryTime,
  SectorName,
  SessionId,
  Tag,
  UserId,
  writerInQuery,
} from "./fields.ts";
import { MemoryRecord } from "./memory.ts";
import { pageQuery, pageReply } from "./page.ts";

export const ListMemoriesQuery = Type.Object({
  ...pageQuery("Memories"),
  sector: Type.Optional(SectorName),
  user_id: Type.Optional(UserId),
  project: Type.Optional(QueryProject),
  tag: Type.Optional(Tag),
  session_id: Type.Optional(SessionId),
  ...writerInQuery,
  id_end: Type.Optional(
    Type.String({
      pattern: "^[0-9a-f-]{6,36}$",
      description: "The last characters of the id, at least six.",
    }),
  ),
  created_from: Type.Optional(queryTime("Added at that moment or later. ")),
  from: Type.Optional(QueryTime),
  to: Type.Optional(QueryTime),
});

export const ListMemoriesReply = pageReply(
  MemoryRecord,
  "MemoryPage",
  "Newest first. A page ends early at 8 MiB.",
  "Goes on where this page ends, whatever was added since; null on the last.",
);
