import type { Static } from "typebox";
import { FoundFact } from "./fact.ts";
import * as field from "./fields.ts";
import { MemoryRecord } from "./memory.ts";
import * as t from "./shapes.ts";
import { DEFAULT_MATCHES, MOST_MATCHES } from "./text-rules.ts";
import { Type } from "./typebox.ts";

const ProjectName = t.nullable(field.Project);

/** Which memories to search; all conditions hold. Unknown keys are errors: a dropped filter answers too much. */
export const QueryFilters = Type.Object(
  t.optionals({
    sector: field.SectorName,
    sectors: Type.Array(field.SectorName, { minItems: 1, maxItems: 64, description: "Any of." }),
    min_score: t.share(),
    user_id: field.UserId,
    project: field.wellFormed(
      Type.Unsafe<string | (string | null)[]>({
        ...field.Project,
        type: ["string", "array"],
        items: ProjectName,
        minItems: 1,
        maxItems: 64,
        description: "A project, or any of a list; null in a list stands for memories without one.",
        examples: [["garden", null]],
      }),
    ),
    tags: Type.Array(field.Tags.items, { maxItems: 64, description: "All of." }),
    session_id: field.SessionId,
    ...field.writerInBody,
    from: field.BodyTime,
    to: field.BodyTime,
    metadata: field.keptExactly(
      Type.Unsafe<{ [key: string]: string | number | boolean | null }>({
        type: "object",
        maxProperties: 16,
        additionalProperties: { type: ["string", "number", "boolean", "null"] },
        description: "Top-level keys that equal a scalar.",
        examples: [{ bed: 3 }],
      }),
    ),
  }),
  {
    additionalProperties: false,
    description: "`from` is included, `to` is not; both compare `occurred_at`.",
  },
);

export const QueryMemoryBody = t.named("QueryMemory", {
  query: field.wellFormed(
    Type.String({ minLength: 1, maxLength: 8_192, examples: ["when did I plant the garlic?"] }),
  ),
  ...t.optionals({
    k: t.whole("How many matches at most.", { minimum: 1, maximum: MOST_MATCHES, default: DEFAULT_MATCHES }),
    user_id: field.UserId,
    filters: QueryFilters,
    time_zone: field.TimeZone,
    snippet: t.whole("Longest snippet wanted, in characters.", { minimum: 1, maximum: 200_000 }),
    as_of: Type.Unsafe<Static<typeof field.BodyTime>>({
      ...field.BodyTime,
      description: "Answer as of this time, by `occurred_at`: what came later has no say.",
    }),
    explain: t.flag("Say what each score is made of."),
    include_facts: t.flag("Also answer the facts valid now (or at `as_of`) that the question asks for.", {
      default: true,
    }),
  }),
});

export const QueryMemoryReply = t.named("QueryResult", {
  query: t.text(),
  matches: t.records("Best first.", {
    ...MemoryRecord.properties,
    score: t.share("Near 1 for the same text, low for unrelated."),
    level: t.oneOf(
      ["answer", "perhaps", "near"],
      "Answers, perhaps answers and is worth reading, or is merely near.",
    ),
    path: t.list(t.text(), "Ids walked over waypoints, the hit last."),
    snippet: Type.Optional(t.text("The best part of the text.")),
    explain: Type.Optional(t.byName(t.number(), "Each term's share of the score.")),
  }),
  relevant: t.count("How many leading matches answer the question."),
  plausible: t.count("How many leading matches are worth reading: at least `relevant`, at most three more."),
  facts: Type.Optional(t.list(FoundFact, "At most 10, best first; absent where `include_facts` is false.")),
  took_ms: Type.Number({ minimum: 0 }),
});

// The context at the start of a piece of work.
export const DEFAULT_CONTEXT_TOKENS = 1_200;

export const ContextBody = t.closed("ContextRequest", {
  user_id: field.UserId,
  project: t.text("It and what has no project; left out: every project.", field.Project),
  query: t.text("What the work is about; what answers it comes first.", {
    minLength: 1,
    maxLength: 8_192,
    examples: ["rate limits for partners"],
  }),
  max_tokens: t.whole(
    "Of the text, by an estimate that is not under what tokenizers count for English: four letters a token.",
    { minimum: 100, maximum: 20_000, default: DEFAULT_CONTEXT_TOKENS },
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
