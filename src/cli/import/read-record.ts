import { parseTime, TIME_PATTERN } from "../../schemas/wire.ts";
import { tagsOf, timeOf } from "../../files/front-matter.ts";
import { jsonOf } from "../../files/own-files.ts";
import {
  PATTERN_MEANINGS,
  type JsonObject,
  MAX_METADATA_BYTES,
  metadataBytes,
  metadataFault,
} from "../../schemas/text-rules.ts";
import { type ImportItem, faulty, listOf, objectOf, skipped } from "./import-item.ts";

/** Other names that programs give to a field, in the order in which they are looked for. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  content: ["content", "text", "memory"],
  occurred_at: ["occurred_at", "created_at", "createdAt", "timestamp", "date"],
  session_id: ["session_id", "conversation_id", "run_id"],
  tags: ["tags", "categories"],
  sector: ["sector", "primary_sector"],
  metadata: ["metadata", "meta"],
};
const namesOf = (field: string): readonly string[] => OTHER_NAMES[field] ?? [field];
const MEMORY_FIELDS = "content tags metadata user_id project session_id occurred_at sector".split(" ");
export const FACT_FIELDS =
  "subject predicate object valid_from valid_to confidence metadata user_id project cardinality".split(" ");
const TIME_RULE = PATTERN_MEANINGS.get(TIME_PATTERN) ?? "";
const TIMES: ReadonlySet<string> = new Set(["occurred_at", "valid_from", "valid_to"]);

/** How the times of a file are read: to epoch milliseconds, or unchanged; and what to do where they are not read. */
export interface Times {
  readonly read: (value: unknown) => unknown;
  readonly advice: string;
}
const USUAL_TIMES: Times = { read: timeOf, advice: "" };

/**
 * A record of JSON: a fact if it has a subject, a predicate and an object, else a memory. Its other fields become metadata; one
 * that cannot is left out by itself.
 */
export function* readRecord(
  value: unknown,
  where: string,
  times: Times = USUAL_TIMES,
): Generator<ImportItem> {
  const record = objectOf(value);
  if (record === undefined) return yield faulty(where, "is not a JSON object");
  const isFact = ["subject", "predicate", "object"].every((name) => record[name] !== undefined);
  const isKnown = namesOf("content").some((name) => name in record);
  if (!isFact && !isKnown)
    return yield faulty(
      where,
      `has no text under content, text or memory, and is of no known format (${KNOWN_FORMATS})`,
    );
  const others = new Map(Object.entries(record).filter(([, value]) => value !== null));
  const body: Record<string, unknown> = {};
  const names: Record<string, string> = {};
  for (const name of isFact ? FACT_FIELDS : MEMORY_FIELDS) {
    const given = namesOf(name).find((other) => others.has(other));
    if (given === undefined) continue;
    const value = others.get(given);
    others.delete(given);
    names[name] = given;
    body[name] = name === "confidence" && typeof value === "string" ? Number(value) : value;
    if (!TIMES.has(name)) continue;
    body[name] = times.read(value);
    if (parseTime(body[name]) === undefined)
      return yield faulty(where, `${given} ${TIME_RULE}; got ${JSON.stringify(value)}${times.advice}`);
  }
  const { metadata = {} } = body;
  if (objectOf(metadata) !== undefined) {
    const { kept, refused } = withOthers(metadata as JsonObject, others);
    if (Object.keys(kept).length > 0) body["metadata"] = kept;
    for (const name of refused) yield skipped(where, `${CANNOT_BE_METADATA} (${name})`);
  }
  yield { kind: isFact ? "fact" : "memory", where, body, names };
}

const CANNOT_BE_METADATA = "fields that cannot be metadata, such as vectors and long texts";

/** So many numbers are the vector of a text, of which the daemon makes its own. */
const VECTOR_NUMBERS = 64;

function isVector(value: unknown): boolean {
  const list = typeof value === "string" && value.startsWith("[") ? jsonOf(value) : value;
  return listOf(list).length >= VECTOR_NUMBERS && listOf(list).every((one) => typeof one === "number");
}

/** The metadata with other fields of its record, under a free name where it has another value under theirs; and the names of those that it cannot have. */
function withOthers(metadata: JsonObject, others: ReadonlyMap<string, unknown>) {
  const kept = new Map<string, unknown>(Object.entries(metadata));
  const refused: string[] = [];
  let bytes = metadataBytes(metadata);
  for (const [name, value] of others) {
    const free = freeName(name, kept);
    const field = Object.fromEntries([[free, value]]) as JsonObject;
    const isFit = name !== "" && !isVector(value) && metadataFault(field) === undefined;
    if (isFit && JSON.stringify(kept.get(name)) === JSON.stringify(value)) continue;
    const size = isFit ? metadataBytes(field) : Infinity;
    if (bytes + size > MAX_METADATA_BYTES) refused.push(name);
    else {
      kept.set(free, value);
      bytes += size;
    }
  }
  return { kept: Object.fromEntries(kept), refused };
}

/** The name, or `name_2` and so on where there is such a field already. */
function freeName(name: string, fields: ReadonlyMap<string, unknown>): string {
  let free = name;
  for (let number = 2; fields.has(free); number += 1) free = `${name}_${number}`;
  return free;
}

export const KNOWN_FORMATS =
  "exports of memoryd, ChatGPT, Claude, Open WebUI and mem0, memory.jsonl of the reference memory server, databases of OpenMemory and mem0, mailboxes (mbox), memories or facts as JSON, NDJSON or CSV, and Markdown, with what basic-memory writes in it";

/**
 * An entity or a relation of a graph: of the reference memory server, or of mem0, whose relations have other names. Its other fields
 * become metadata of all that is made of it. Undefined for anything else.
 */
export function readGraphRecord(
  value: unknown,
  where: string,
  source = "memory-server",
): ImportItem[] | undefined {
  const record = objectOf(value) ?? {};
  const others = new Map(Object.entries(record));
  const take = (...names: string[]): unknown => {
    const given = names.find((name) => (record[name] ?? undefined) !== undefined);
    for (const other of names) others.delete(other);
    return given === undefined ? undefined : record[given];
  };
  const [name, observations] = [take("name"), take("observations")];
  const isEntity = typeof name === "string" && Array.isArray(observations);
  const entityType = take("entityType");
  const [from, to] = [take("from", "source"), take("to", "target", "destination")];
  const relationType = take("relationType", "relationship");
  take("type");
  const time = timeOf(take(...namesOf("occurred_at")));
  const at = parseTime(time) === undefined ? undefined : time;
  const { kept, refused } = withOthers(
    { source },
    new Map([...others].filter(([, other]) => other !== null)),
  );
  const lost = refused.map((field) => skipped(where, `${CANNOT_BE_METADATA} (${field})`));
  const fact = (subject: unknown, predicate: unknown, object: unknown): ImportItem => ({
    kind: "fact",
    where,
    body: { subject, predicate, object, cardinality: "many", valid_from: at, metadata: kept },
  });
  if (isEntity)
    return [
      ...(typeof entityType === "string" && entityType !== "" ? [fact(name, "is a", entityType)] : []),
      ...observations.map((observation): ImportItem => {
        // Some servers like it keep more of one than its text.
        const text = objectOf(observation)?.["content"] ?? observation;
        const content = typeof text === "string" && !text.includes(name) ? `${name}: ${text}` : text;
        const tags = [name].flatMap((tag) => tag.slice(0, 256));
        return { kind: "memory", where, body: { content, tags, occurred_at: at, metadata: kept } };
      }),
      ...lost,
    ];
  return typeof from === "string" && typeof to === "string" && typeof relationType === "string"
    ? [fact(from, relationType, to), ...lost]
    : undefined;
}

const LOWER_CASE: ReadonlySet<string> = new Set([...MEMORY_FIELDS, ...FACT_FIELDS].flatMap(namesOf));

/** Whether a table with these columns has a text or a fact in each row. */
export function hasText(columns: readonly string[]): boolean {
  const names = new Set(columns.map((column) => column.toLowerCase()));
  return [...namesOf("content"), "subject"].some((name) => names.has(name));
}

/** A row of a table under the names of its columns, where tags and metadata are texts; empty cells are left out. */
export function* readRow(
  cells: Iterable<readonly [column: string, value: unknown]>,
  where: string,
  times?: Times,
): Generator<ImportItem> {
  const record = new Map<string, unknown>();
  for (const [name, value] of cells) {
    if (value === "" || value === null) continue;
    const lower = name.toLowerCase();
    const column = freeName(LOWER_CASE.has(lower) ? lower : name, record);
    if (namesOf("tags").includes(column) && typeof value === "string") record.set(column, tagsOf(value));
    else if (namesOf("metadata").includes(column)) {
      const metadata = typeof value === "string" ? jsonOf(value) : undefined;
      if (metadata === undefined) return yield faulty(where, `${column} must be a JSON object`);
      record.set(column, metadata);
    } else record.set(column, typeof value === "bigint" ? Number(value) : value);
  }
  yield* readRecord(Object.fromEntries(record), where, times);
}
