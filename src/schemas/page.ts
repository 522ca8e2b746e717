/** What chooses a page of a list, in a query. */
import { Type, type TSchema } from "typebox";
import { nullable } from "./fields.ts";

export const DEFAULT_PAGE_LIMIT = 100;
const MAX_PAGE_LIMIT = 10_000;
const MAX_CURSOR_LENGTH = 128;

/** @param items what is listed, as a description begins. */
export function pageQuery(items: string, maxCursorLength = MAX_CURSOR_LENGTH) {
  return {
    l: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_PAGE_LIMIT,
        default: DEFAULT_PAGE_LIMIT,
        description: `${items} on a page, at most; \`limit\` is the same.`,
      }),
    ),
    u: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        default: 0,
        description: "How many to leave out at the start; `offset` is the same.",
      }),
    ),
    cursor: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: maxCursorLength,
        description: "`next_cursor` of the page before; takes the place of `u`.",
      }),
    ),
  };
}

/** A page of a list, as an answer. @param cursor how the next page is described. */
export function pageReply<T extends TSchema>(items: T, id: string, description = "", cursor = "") {
  const meaning = (text: string) => (text === "" ? {} : { description: text });
  return Type.Object(
    {
      items: Type.Array(items, meaning(description)),
      total: Type.Integer({ minimum: 0, description: "How many match in all." }),
      limit: Type.Integer(),
      offset: Type.Integer(),
      next_cursor: nullable(Type.String(meaning(cursor))),
    },
    { $id: id },
  );
}
