import { CliFailure, complain, oneLine } from "../output/output.ts";
import { SECTOR_NAMES } from "../../schemas/fields.ts";
import { type ImportItem, type Progress, skipped } from "./import-item.ts";
import type { ConversationOptions } from "./read-chatgpt.ts";
import { FACT_FIELDS, readRow } from "./read-record.ts";
import { type Fields, messageOf } from "../../config/narrow.ts";

/** Columns that are read where the table has them: older databases have fewer. */
const MEMORY_COLUMNS = ["content", "primary_sector", "tags", "meta", "created_at", "user_id", "project"];

/** Names that OpenMemory gives its one unnamed user: without a key, and the hash of a key. */
const NO_PERSON = /^(?:dev-no-auth|anonymous|default|[0-9a-f]{16,64})$/;

type Row = Fields;

/**
 * The memories and facts of an OpenMemory database (SQLite). The file is read where it is, with what stands in its
 * write-ahead log, and not changed; stop that service before, so that nothing changes meanwhile.
 * @throws {CliFailure} for what is no such database.
 */
export async function* readOlderService(
  path: string,
  progress: Progress,
  { keepUsers = false }: Pick<ConversationOptions, "keepUsers">,
): AsyncGenerator<ImportItem> {
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
    const facts = columnsOf("temporal_facts", FACT_FIELDS);
    if (!memories.includes("content"))
      throw new CliFailure(
        `${path} has no table "memories" with a column "content": it is no database of OpenMemory.`,
      );
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
    const users = new Set<string>();
    for (const [table, columns] of [
      ["memories", memories],
      ["temporal_facts", facts],
    ] as const) {
      if (!columns.includes("user_id")) continue;
      for (const row of database.all(`SELECT DISTINCT user_id FROM ${table} WHERE user_id IS NOT NULL`))
        users.add(String((row as Row)["user_id"]));
    }
    const [user = ""] = users;
    const isNobodys = !keepUsers && users.size === 1 && NO_PERSON.test(user);
    if (isNobodys)
      complain(`The one user of the file, ${oneLine(user)}, stands for nobody; --keep-users keeps it.`);
    else if (users.size > 0)
      complain(
        `Users of the file are kept unless --user names another: ${[...users].map(oneLine).join(", ")}.`,
      );
    const owned = (item: ImportItem): ImportItem => {
      if (item.kind !== "memory" && item.kind !== "fact") return item;
      const { user_id: _, ...body } = item.body;
      return isNobodys ? { ...item, body } : { ...item, isOwnerKept: true };
    };
    for (const row of read("memories", memories, "rowid")) {
      const where = `memory ${String(row["place"])}`;
      const isEmpty = typeof row["content"] !== "string" || row["content"].trim() === "";
      if (isEmpty) yield skipped(where, "memories that OpenMemory stored empty");
      else yield owned(memoryOf(row, where));
    }
    if (facts.includes("object")) {
      for (const row of read("temporal_facts", facts, "valid_from, rowid"))
        yield owned(readRow(Object.entries(row), `fact ${String(row["place"])}`));
    }
  } catch (error) {
    if (error instanceof CliFailure) throw error;
    const reason = messageOf(error);
    throw new CliFailure(`${path} cannot be read as an SQLite database (${reason}).`, { cause: error });
  } finally {
    database.close();
  }
}

/** A memory with an unknown sector is classified like a new one. */
function memoryOf(row: Row, where: string): ImportItem {
  const isKnown = SECTOR_NAMES.some((name) => name === row["primary_sector"]);
  return readRow(Object.entries(isKnown ? row : { ...row, primary_sector: null }), where);
}
