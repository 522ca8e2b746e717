/** The context at the start of a piece of work. */
import * as field from "./fields.ts";
import * as t from "./shapes.ts";

export const DEFAULT_CONTEXT_TOKENS = 1_200;

export const ContextBody = t.closed("ContextRequest", {
  user_id: t.optional(field.UserId),
  project: t.optional(t.text("It and what has no project; left out: every project.", field.Project)),
  query: t.optional(
    t.text("What the work is about; what answers it comes first.", {
      minLength: 1,
      maxLength: 8_192,
      examples: ["rate limits for partners"],
    }),
  ),
  max_tokens: t.optional(
    t.whole(
      "Of the text, by an estimate that is not under what tokenizers count for English: four letters a token.",
      { minimum: 100, maximum: 20_000, default: DEFAULT_CONTEXT_TOKENS },
    ),
  ),
});

export const ContextReply = t.named("Context", {
  text: t.text(
    "For an agent: one line per item, by kind, between two lines with a mark that stands nowhere else. Empty without items.",
  ),
  items: t.records("In the order of the text.", {
    kind: t.oneOf(["preference", "correction", "decision", "fact", "summary", "done", "open"]),
    id: t.text("Of the memory, or of the fact."),
    text: t.text("One line: the memory, or what is worth telling of a long one."),
    at: field.Time,
  }),
  tokens: t.count("Of the text; at most `max_tokens`."),
});
