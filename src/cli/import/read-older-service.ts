import { CliFailure } from "../cli-failure.ts";
import { SECTOR_NAMES } from "../../schemas/fields.ts";
import type { ImportItem, Progress } from "./import-item.ts";
import { jsonOf, tagsOf, timeOf } from "./read-record.ts";

/** What is read of each table, as far as it is there: tables grew columns over the years. */
const MEMORY_COLUMNS = ["content", "primary_sector", "tags", "meta", "created_at", "user_id", "project"];
const FACT_COLUMNS = [
  "subject",
  "predicate",
  "object",
  "valid_from",
  "valid_to",
  "confidence",
  "metadata",
  "user_id",
];

type Row = Readonly<Record<string, unknown>>;

/**
 * The memories and facts of an OpenMemory database (SQLite). The file is read where it is, with what stands in its
 * write-ahead log, and not changed; stop that service before, so that nothing changes meanwhile.
 *
 * @throws {CliFailure} for what is no such database.
 */
export async function* readOlderService(path: string, progress: Progress): AsyncGenerator<ImportItem> {
  const { default: sqlite } = await import("node-sqlite3-wasm");
  const database = new sqlite.Database(path, { readOnly: true, fileMustExist: true });
  try {
    // There is no shared memory here, which a write-ahead log is read through where others may write.
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA trusted_schema = OFF;");
    const columnsOf = (table: string, wanted: readonly string[]): readonly string[] => {
      // A view of that name could compute for ever.
      const isTable =
        database.get("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", table) !== null;
      const there = isTable
        ? database.all(`PRAGMA table_info(${table})`).map((row) => (row as Row)["name"])
        : [];
      return wanted.filter((column) => there.includes(column));
    };
    const memories = columnsOf("memories", MEMORY_COLUMNS);
    const facts = columnsOf("temporal_facts", FACT_COLUMNS);
    if (!memories.includes("content")) {
      throw new CliFailure(
        `${path} has no table "memories" with a column "content": it is no database of OpenMemory.`,
      );
    }
    for (const table of facts.length > 0 ? ["memories", "temporal_facts"] : ["memories"]) {
      progress.total += Number(
        (database.get(`SELECT count(*) AS n FROM ${table}`) as Row | null)?.["n"] ?? 0,
      );
    }

    const read = function* (table: string, columns: readonly string[], order: string): Generator<Row> {
      const statement = database.prepare(
        `SELECT rowid AS place, ${columns.join(", ")} FROM ${table} ORDER BY ${order}`,
      );
      try {
        for (const row of statement.iterate()) {
          yield row;
          progress.done += 1;
        }
      } finally {
        statement.finalize();
      }
    };
    for (const row of read("memories", memories, "rowid"))
      yield memoryOf(row, `memory ${String(row["place"])}`);
    if (facts.includes("object")) {
      for (const row of read("temporal_facts", facts, "valid_from, rowid"))
        yield factOf(row, `fact ${String(row["place"])}`);
    }
  } catch (error) {
    if (error instanceof CliFailure) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new CliFailure(`${path} cannot be read as an SQLite database (${reason}).`, { cause: error });
  } finally {
    database.close();
  }
}

function memoryOf(row: Row, where: string): ImportItem {
  const metadata = jsonField(row["meta"]);
  if (metadata === undefined) return { kind: "faulty", where, reason: "meta is not JSON" };
  const sector = SECTOR_NAMES.find((name) => name === row["primary_sector"]);
  return {
    kind: "memory",
    where,
    body: {
      content: row["content"],
      tags: typeof row["tags"] === "string" && row["tags"] !== "" ? tagsOf(row["tags"]) : [],
      ...(metadata !== null && { metadata }),
      ...present("user_id", row["user_id"]),
      ...present("project", row["project"]),
      ...present("occurred_at", timeOf(plain(row["created_at"]))),
      ...(sector !== undefined && { sector }),
    },
  };
}

function factOf(row: Row, where: string): ImportItem {
  const metadata = jsonField(row["metadata"]);
  if (metadata === undefined) return { kind: "faulty", where, reason: "metadata is not JSON" };
  return {
    kind: "fact",
    where,
    body: {
      subject: row["subject"],
      predicate: row["predicate"],
      object: row["object"],
      ...present("valid_from", timeOf(plain(row["valid_from"]))),
      ...present("valid_to", timeOf(plain(row["valid_to"]))),
      ...present("confidence", row["confidence"]),
      ...present("user_id", row["user_id"]),
      ...(metadata !== null && { metadata }),
    },
  };
}

/** Null for none. */
function jsonField(value: unknown): unknown {
  return typeof value === "string" && value !== "" ? jsonOf(value) : null;
}

function plain(value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}

function present(name: string, value: unknown): object {
  return value === null || value === undefined || value === "" ? {} : { [name]: value };
}
