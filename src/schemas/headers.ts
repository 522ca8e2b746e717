/** Request headers that mean something to more than one route; names in lower case, as Node gives them. */
import { Type } from "typebox";

/** Visible ASCII. */
const VISIBLE_PATTERN = "^[!-~]+$";

export const WriteHeaders = Type.Object({
  "x-memoryd-client": Type.Optional(
    Type.String({
      description: "Names the writer for `created_by`: at most 256 printable characters, in UTF-8.",
      examples: ["notes-import"],
    }),
  ),
  "idempotency-key": Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: VISIBLE_PATTERN,
      description: "Repeating the request within 24 hours answers what the first one made. Visible ASCII.",
      examples: ["5f1c2c6e-import-0042"],
    }),
  ),
});

export const RepeatHeaders = Type.Object({ "idempotency-key": WriteHeaders.properties["idempotency-key"] });

export const IfMatchHeaders = Type.Object({
  "if-match": Type.Optional(
    Type.String({
      description: 'The version that must still be current, as in the `ETag`: `"3"`; `*` for any.',
      examples: ['"3"'],
    }),
  ),
});
