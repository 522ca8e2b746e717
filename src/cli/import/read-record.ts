import { tagsOf, timeOf } from "../../files/front-matter.ts";
import { jsonOf } from "../../files/own-files.ts";
import { type ImportItem, objectOf, faulty } from "./import-item.ts";

/** Other names that programs give to a field, in the order in which they are looked for. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  content: ["content", "text", "memory"],
  occurred_at: ["occurred_at", "created_at", "timestamp", "date"],
  session_id: ["session_id", "conversation_id", "run_id"],
  tags: ["tags", "categories"],
  sector: ["sector", "primary_sector"],
  metadata: ["metadata", "meta"],
};
const MEMORY_FIELDS = "content tags metadata user_id project session_id occurred_at sector".split(" ");
export const FACT_FIELDS =
  "subject predicate object valid_from valid_to confidence metadata user_id project cardinality".split(" ");
const TIMES: ReadonlySet<string> = new Set(["occurred_at", "valid_from", "valid_to"]);

/** A time as it stands in a file: epoch milliseconds, or what it is for the schema to refuse. */
export type ReadTime = (value: unknown) => unknown;

/** A record of JSON: a fact if it has a subject, a predicate and an object, else a memory. Other fields are not read. */
export function readRecord(value: unknown, where: string, readTime: ReadTime = timeOf): ImportItem {
  const record = objectOf(value);
  if (record === undefined) return faulty(where, "is not a JSON object");
  const isFact = ["subject", "predicate", "object"].every((name) => record[name] !== undefined);
  const isKnown = OTHER_NAMES["content"]?.some((name) => name in record) === true;
  if (!isFact && !isKnown)
    return faulty(
      where,
      `has no text under content, text or memory, and is of no known format (${KNOWN_FORMATS})`,
    );
  const names = isFact ? FACT_FIELDS : MEMORY_FIELDS;
  const fields = names.flatMap((name) => {
    const given = (OTHER_NAMES[name] ?? [name]).find(
      (other) => record[other] !== undefined && record[other] !== null,
    );
    if (given === undefined) return [];
    const value = record[given];
    return [[name, TIMES.has(name) ? readTime(value) : value]];
  });
  return { kind: isFact ? "fact" : "memory", where, body: Object.fromEntries(fields) as object };
}

export const KNOWN_FORMATS =
  "exports of memoryd, ChatGPT, Claude, Open WebUI and mem0, memory.jsonl of the reference memory server, memories or facts as JSON, NDJSON or CSV, and Markdown, with what basic-memory writes in it";

/**
 * An entity or a relation of a graph without times: of the reference memory server, or of mem0, whose relations have other
 * names. Undefined for anything else.
 */
export function readGraphRecord(
  value: unknown,
  where: string,
  source = "memory-server",
): ImportItem[] | undefined {
  const record = objectOf(value) ?? {};
  const { name, entityType, observations } = record;
  const from = record["from"] ?? record["source"];
  const to = record["to"] ?? record["target"] ?? record["destination"];
  const relationType = record["relationType"] ?? record["relationship"];
  const metadata = { source };
  const fact = (subject: unknown, predicate: unknown, object: unknown): ImportItem => ({
    kind: "fact",
    where,
    body: { subject, predicate, object, cardinality: "many", metadata },
  });
  if (typeof name === "string" && Array.isArray(observations))
    return [
      ...(typeof entityType === "string" && entityType !== "" ? [fact(name, "is a", entityType)] : []),
      ...observations.map((text): ImportItem => {
        const content = typeof text === "string" && !text.includes(name) ? `${name}: ${text}` : text;
        return {
          kind: "memory",
          where,
          body: { content, tags: [name].flatMap((tag) => tag.slice(0, 256)), metadata },
        };
      }),
    ];
  return typeof from === "string" && typeof to === "string" && typeof relationType === "string"
    ? [fact(from, relationType, to)]
    : undefined;
}

/** A row of a table under the names of its columns, where tags and metadata are texts; empty cells are left out. */
export function readRow(
  cells: Iterable<readonly [column: string, value: unknown]>,
  where: string,
  readTime?: ReadTime,
): ImportItem {
  const record: Record<string, unknown> = {};
  for (const [column, value] of cells) {
    if (value === "" || value === null) continue;
    if (column === "tags" && typeof value === "string") record["tags"] = tagsOf(value);
    else if (column === "confidence") record["confidence"] = Number(value);
    else if (column === "metadata" || column === "meta") {
      const metadata = typeof value === "string" ? jsonOf(value) : undefined;
      if (metadata === undefined) return faulty(where, `${column} must be a JSON object`);
      record["metadata"] = metadata;
    } else record[column] = typeof value === "bigint" ? Number(value) : value;
  }
  return readRecord(record, where, readTime);
}
