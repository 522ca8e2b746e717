/** The context at the start of a piece of work. */
import { Type } from "typebox";
import { optional, Project, Time, UserId } from "./fields.ts";

export const DEFAULT_CONTEXT_TOKENS = 1_200;

export const ContextBody = Type.Object(
  {
    user_id: optional(UserId),
    project: optional(
      Type.String({ ...Project, description: "It and what has no project; left out: every project." }),
    ),
    query: optional(
      Type.String({
        minLength: 1,
        maxLength: 8_192,
        description: "What the work is about; what answers it comes first.",
        examples: ["rate limits for partners"],
      }),
    ),
    max_tokens: optional(
      Type.Integer({
        minimum: 100,
        maximum: 20_000,
        default: DEFAULT_CONTEXT_TOKENS,
        description:
          "Of the text, by an estimate that is not under what tokenizers count for English: four letters a token.",
      }),
    ),
  },
  { $id: "ContextRequest" },
);

export const ContextReply = Type.Object(
  {
    text: Type.String({
      description:
        "For an agent: one line per item, by kind, between two lines with a mark that stands nowhere else. Empty without items.",
    }),
    items: Type.Array(
      Type.Object({
        kind: Type.Enum(["preference", "correction", "decision", "fact", "summary", "done", "open"], {
          type: "string",
        }),
        id: Type.String({ description: "Of the memory, or of the fact." }),
        text: Type.String({ description: "One line: the memory, or what is worth telling of a long one." }),
        at: Time,
      }),
      { description: "In the order of the text." },
    ),
    tokens: Type.Integer({ minimum: 0, description: "Of the text; at most `max_tokens`." }),
  },
  { $id: "Context" },
);
