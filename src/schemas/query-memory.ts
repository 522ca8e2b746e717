import { type Static, Type } from "typebox";
import { FoundFact } from "./fact.ts";
import {
  BodyTime,
  nullable,
  optional,
  Project,
  SectorName,
  SessionId,
  Tags,
  TimeZone,
  UserId,
  wellFormed,
  writerInBody,
} from "./fields.ts";
import { MemoryRecord } from "./memory.ts";

export const DEFAULT_MATCHES = 8;

const ProjectName = nullable(Project);

/** Which memories to search; all conditions hold. Unknown keys are errors: a dropped filter answers too much. */
export const QueryFilters = Type.Object(
  {
    sector: optional(SectorName),
    sectors: optional(Type.Array(SectorName, { minItems: 1, maxItems: 64, description: "Any of." })),
    min_score: optional(Type.Number({ minimum: 0, maximum: 1 })),
    user_id: optional(UserId),
    project: optional(
      wellFormed(
        Type.Unsafe<string | (string | null)[]>({
          ...Project,
          type: ["string", "array"],
          items: ProjectName,
          minItems: 1,
          maxItems: 64,
          description: "A project, or any of a list; null in a list stands for memories without one.",
          examples: [["garden", null]],
        }),
      ),
    ),
    tags: optional(Type.Array(Tags.items, { maxItems: 64, description: "All of." })),
    session_id: optional(SessionId),
    ...writerInBody,
    from: optional(BodyTime),
    to: optional(BodyTime),
    metadata: optional(
      Type.Unsafe<{ [key: string]: string | number | boolean | null }>({
        type: "object",
        maxProperties: 16,
        additionalProperties: { type: ["string", "number", "boolean", "null"] },
        description: "Top-level keys that equal a scalar.",
        examples: [{ bed: 3 }],
      }),
    ),
  },
  {
    additionalProperties: false,
    description: "`from` is included, `to` is not; both compare `occurred_at`.",
  },
);

export const QueryMemoryBody = Type.Object(
  {
    query: Type.String({ minLength: 1, maxLength: 8_192, examples: ["when did I plant the garlic?"] }),
    k: optional(
      Type.Integer({
        minimum: 1,
        maximum: 200,
        default: DEFAULT_MATCHES,
        description: "How many matches at most.",
      }),
    ),
    user_id: optional(UserId),
    filters: optional(QueryFilters),
    time_zone: optional(TimeZone),
    snippet: optional(
      Type.Integer({ minimum: 1, maximum: 200_000, description: "Longest snippet wanted, in characters." }),
    ),
    as_of: optional(
      Type.Unsafe<Static<typeof BodyTime>>({
        ...BodyTime,
        description: "Answer as of this time, by `occurred_at`: what came later has no say.",
      }),
    ),
    reinforce: optional(
      Type.Boolean({
        default: true,
        description: "false: what is found does not count as remembered.",
      }),
    ),
    explain: optional(Type.Boolean({ description: "Say what each score is made of." })),
    include_facts: optional(
      Type.Boolean({
        default: true,
        description: "Also answer the facts valid now (or at `as_of`) that the question asks for.",
      }),
    ),
  },
  { $id: "QueryMemory" },
);

export const QueryMemoryReply = Type.Object(
  {
    query: Type.String(),
    matches: Type.Array(
      Type.Object({
        ...MemoryRecord.properties,
        score: Type.Number({
          minimum: 0,
          maximum: 1,
          description: "Near 1 for the same text, low for unrelated.",
        }),
        path: Type.Array(Type.String(), { description: "Ids walked over waypoints, the hit last." }),
        snippet: Type.Optional(Type.String({ description: "The best part of the text." })),
        explain: Type.Optional(
          Type.Unsafe<Readonly<Record<string, number>>>({
            type: "object",
            additionalProperties: { type: "number" },
            description: "Each term's share of the score.",
          }),
        ),
      }),
      { description: "Best first." },
    ),
    relevant: Type.Integer({
      minimum: 0,
      description: "How many leading matches answer the question; the others are merely the nearest.",
    }),
    facts: Type.Optional(
      Type.Array(FoundFact, {
        description: "At most 10, best first; absent where `include_facts` is false.",
      }),
    ),
    took_ms: Type.Number({ minimum: 0 }),
  },
  { $id: "QueryResult" },
);
