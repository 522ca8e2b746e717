import { Type } from "typebox";

/** Any error, as `application/problem+json` (RFC 9457). */
export const Problem = Type.Object(
  {
    type: Type.String({ description: "Names the kind of problem; not an address to open." }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: "What is wrong and what to do about it; for people." }),
    code: Type.String({ description: "Stable, UPPER_SNAKE." }),
    error: Type.String({ description: "The code in lower_snake, for clients of the older API." }),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          path: Type.String({ description: "JSON pointer into the body, the query or the headers." }),
          message: Type.String(),
        }),
      ),
    ),
    request_id: Type.String(),
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
