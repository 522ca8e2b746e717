import { stat } from "node:fs/promises";
import { timeOf } from "../../files/front-matter.ts";
import { CliFailure, complain, oneLine } from "../output/output.ts";
import { SECTOR_NAMES } from "../../schemas/fields.ts";
import { type ImportItem, type ImportItems, memory, skipped } from "./import-item.ts";
import type { ConversationOptions } from "./read-chats.ts";
import { FACT_FIELDS, readRow } from "./read-record.ts";
import { type Fields, messageOf } from "../../config/narrow.ts";

/** Columns that are read where the table has them: older databases have fewer. */
const MEMORY_COLUMNS = ["content", "primary_sector", "tags", "meta", "created_at", "user_id", "project"];

const HISTORY_COLUMNS = ["memory_id", "new_memory", "event", "created_at", "updated_at"];

/** Names that OpenMemory gives its one unnamed user: without a key, and the hash of a key. */
const NO_PERSON = /^(?:dev-no-auth|anonymous|default|[0-9a-f]{16,64})$/;

type Row = Fields;

/**
 * The memories and facts of an OpenMemory database, or those that mem0's history ends with (SQLite). The file is read where it is, with what stands in its
 * write-ahead log, and not changed; stop that service before, so that nothing changes meanwhile.
 * @throws {CliFailure} for what is no such database.
 */
export async function* readOlderService(
  path: string,
  { keepUsers = false }: Pick<ConversationOptions, "keepUsers">,
): ImportItems {
  const { default: sqlite } = await import("node-sqlite3-wasm");
  const database = new sqlite.Database(path, { readOnly: true, fileMustExist: true });
  try {
    // There is no shared memory here, which a write-ahead log is read through where others may write.
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA trusted_schema = OFF;");
    const columnsOf = (table: string, wanted: readonly string[]): readonly string[] => {
      // A view of that name could compute for ever.
      const isTable = database.get("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", table);
      const found = isTable === null ? [] : (database.all(`PRAGMA table_info(${table})`) as Row[]);
      const there = new Set(found.map((row) => row["name"]));
      return wanted.filter((column) => there.has(column));
    };
    const memories = columnsOf("memories", MEMORY_COLUMNS);
    const facts = columnsOf("temporal_facts", FACT_FIELDS);
    const history = columnsOf("history", HISTORY_COLUMNS);
    if (!memories.includes("content") && history.length < HISTORY_COLUMNS.length)
      throw new CliFailure(
        `${path} has no table "memories" with a column "content", and no "history" of memories: it is no database of OpenMemory or mem0.`,
      );
    const read = function* (table: string, columns: readonly string[], order: string): Generator<Row> {
      const statement = database.prepare(
        `SELECT rowid AS place, ${columns.join(", ")} FROM ${table} ORDER BY ${order}`,
      );
      try {
        yield* statement.iterate() as Iterable<Row>;
      } finally {
        statement.finalize();
      }
    };
    if (!memories.includes("content"))
      return yield* readHistory(read("history", history, "rowid"), (await stat(path)).mtimeMs);
    const usersOf = (table: string, columns: readonly string[]): string[] => {
      if (!columns.includes("user_id")) return [];
      const rows = database.all(`SELECT DISTINCT user_id FROM ${table} WHERE user_id IS NOT NULL`) as Row[];
      return rows.map((row) => String(row["user_id"]));
    };
    const users = new Set([...usersOf("memories", memories), ...usersOf("temporal_facts", facts)]);
    const names = [...users].map(oneLine).join(", ");
    const isNobodys = !keepUsers && users.size === 1 && NO_PERSON.test([...users].join(""));
    if (isNobodys) complain(`The one user of the file, ${names}, stands for nobody; --keep-users keeps it.`);
    else if (users.size > 0) complain(`Users of the file are kept unless --user names another: ${names}.`);
    const owned = function* ({ user_id, place: _place, ...row }: Row, where: string): Generator<ImportItem> {
      for (const item of readRow(Object.entries(isNobodys ? row : { ...row, user_id }), where))
        yield item.kind === "memory" || item.kind === "fact" ? { ...item, isOwnerKept: true } : item;
    };
    for (const row of read("memories", memories, "rowid")) {
      const where = `memory ${String(row["place"])}`;
      const { content, primary_sector: sector } = row;
      // A memory with an unknown sector is classified like a new one.
      const isKnown = SECTOR_NAMES.some((name) => name === sector);
      if (typeof content !== "string" || content.trim() === "")
        yield skipped(where, "memories that OpenMemory stored empty");
      else yield* owned(isKnown ? row : { ...row, primary_sector: null }, where);
    }
    if (facts.includes("object")) {
      for (const row of read("temporal_facts", facts, "valid_from, rowid"))
        yield* owned(row, `fact ${String(row["place"])}`);
    }
  } catch (error) {
    if (error instanceof CliFailure) throw error;
    const reason = messageOf(error);
    throw new CliFailure(`${path} cannot be read as an SQLite database (${reason}).`, { cause: error });
  } finally {
    database.close();
  }
}

/** The last text of each memory that was not deleted, with the time of its first; the file's where none is named. */
function* readHistory(rows: Iterable<Row>, changedAt: number): Generator<ImportItem> {
  const texts = new Map<unknown, { readonly content: string; readonly at: unknown }>();
  for (const { memory_id: id, new_memory: content, event, created_at, updated_at } of rows) {
    const at = texts.get(id)?.at ?? timeOf(created_at ?? updated_at) ?? Math.round(changedAt);
    if (event === "DELETE") texts.set(id, { content: "", at });
    else if (typeof content === "string") texts.set(id, { content, at });
  }
  for (const [id, { content, at }] of texts)
    yield content.trim() === ""
      ? skipped(`memory ${String(id)}`, "memories that mem0 deleted")
      : memory(`memory ${String(id)}`, { content, occurred_at: at, metadata: { source: "mem0" } });
}
