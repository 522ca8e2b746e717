import type { TProperties, TSchema } from "typebox";
import * as field from "./fields.ts";
import * as t from "./shapes.ts";
import { Type } from "./typebox.ts";

/** Any error, as `application/problem+json` (RFC 9457). */
export const Problem = Type.Object(
  {
    type: t.text("Names the kind of problem; not an address to open."),
    title: t.text(),
    status: t.whole(),
    detail: t.text("What is wrong and what to do about it; for people."),
    code: t.text("Stable, UPPER_SNAKE."),
    error: t.text("The code in lower_snake, for clients of the older API."),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          path: t.text("JSON pointer into the body, the query or the headers."),
          message: t.text(),
        }),
      ),
    ),
    request_id: t.text(),
  },
  {
    $id: "Problem",
    examples: [
      {
        type: "urn:memoryd:problem:invalid-request",
        title: "Invalid request",
        status: 400,
        detail: "The body is not valid: /content must be a string.",
        code: "INVALID_REQUEST",
        error: "invalid_request",
        errors: [{ path: "/content", message: "must be a string" }],
        request_id: "8f14e45f-ceea-4671-a9f3-2b1f0a6b7c11",
      },
    ],
  },
);

export const MAX_BATCH_ITEMS = 1_000;
export const DEFAULT_PAGE_LIMIT = 100;
const MAX_PAGE_LIMIT = 10_000;
const MAX_CURSOR_LENGTH = 128;

/** @param items what is listed, as a description begins. */
export const pageQuery = (items: string, maxCursorLength = MAX_CURSOR_LENGTH) =>
  t.partial({
    l: t.whole(`${items} on a page, at most; \`limit\` is the same.`, {
      minimum: 1,
      maximum: MAX_PAGE_LIMIT,
      default: DEFAULT_PAGE_LIMIT,
    }),
    u: t.whole("How many to leave out at the start; `offset` is the same.", {
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: 0,
    }),
    cursor: t.text("`next_cursor` of the page before; takes the place of `u`.", {
      minLength: 1,
      maxLength: maxCursorLength,
    }),
  });

/** A page of a list, as an answer. @param cursor how the next page is described. */
export function pageReply<T extends TSchema>(items: T, id: string, description = "", cursor = "") {
  const meaning = (text: string) => (text === "" ? {} : { description: text });
  return t.named(id, {
    items: Type.Array(items, meaning(description)),
    total: t.count("How many match in all."),
    limit: t.whole(),
    offset: t.whole(),
    next_cursor: t.nullable(Type.String(meaning(cursor))),
  });
}

/** The items of a batch. */
export function batchOf<T extends TSchema>(item: T, order = "") {
  return Type.Array(item, {
    maxItems: MAX_BATCH_ITEMS,
    description: `Judged one by one${order}: what is wrong with one does not keep the others out.`,
    [field.TOO_LARGE_KEYWORDS]: ["maxItems"],
  });
}

/** The result of each item of a batch, with `status` 200, or why it was refused. */
export const outcomes = <F extends TProperties>(fields: F, description: string) =>
  t.list(Type.Union([Type.Object({ status: Type.Literal(200), ...fields }), Problem]), description);

/** The reply to a batch. @param item its name in a sentence. */
export function batchReply<F extends TProperties>(fields: F, item: string, id: string) {
  return t.named(id, {
    results: outcomes(fields, `One an item, in order: the ${item} with \`status\` 200, or a problem.`),
    added: t.whole("Items accepted, deduplicated ones included."),
    failed: t.whole(),
  });
}
