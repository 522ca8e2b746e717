import { Type } from "typebox";
import * as t from "./shapes.ts";

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
