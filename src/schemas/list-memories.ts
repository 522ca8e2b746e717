import { Type } from "typebox";
import {
  ClientName,
  nullable,
  QueryProject,
  queryTime,
  QueryTime,
  SectorName,
  SessionId,
  Tag,
  UserId,
} from "./fields.ts";
import { MemoryRecord } from "./memory.ts";

export const DEFAULT_PAGE_LIMIT = 100;

export const ListMemoriesQuery = Type.Object({
  l: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: DEFAULT_PAGE_LIMIT,
      description: "Memories on a page, at most.",
    }),
  ),
  u: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: 0,
      description: "How many to leave out at the start.",
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: "`next_cursor` of the page before; takes the place of `u`.",
    }),
  ),
  sector: Type.Optional(SectorName),
  user_id: Type.Optional(UserId),
  project: Type.Optional(QueryProject),
  tag: Type.Optional(Tag),
  session_id: Type.Optional(SessionId),
  created_by: Type.Optional(ClientName),
  created_from: Type.Optional(queryTime("Added at that moment or later. ")),
  from: Type.Optional(QueryTime),
  to: Type.Optional(QueryTime),
});

export const ListMemoriesReply = Type.Object(
  {
    items: Type.Array(MemoryRecord, { description: "Newest first. A page ends early at 8 MiB." }),
    total: Type.Integer({ minimum: 0, description: "How many match in all." }),
    limit: Type.Integer(),
    offset: Type.Integer(),
    next_cursor: nullable(
      Type.String({
        description: "Goes on where this page ends, whatever was added since; null on the last.",
      }),
    ),
  },
  { $id: "MemoryPage" },
);
