import { createHash } from "node:crypto";
import { type Fields, isObject } from "../../config/narrow.ts";
import { parseTime } from "../../schemas/wire.ts";
import type { Daemon } from "../connect.ts";

interface Stored {
  readonly id: string;
  /** Of a note; empty for other memories. */
  readonly path: string;
  readonly time: number | undefined;
  /** The note of this import that it is. */
  takenBy?: string;
}

/** Finds the memory of a note or record that is stored already. @param isDated false where its time is that of its file, which copying changes. */
export type FindStored = (body: Fields, isDated: boolean) => string | undefined;

/**
 * Reads what was imported before. Which folder was named decides how long a note's path is, so it is the same note where one
 * path ends in the other and all else is equal; each is the memory of one note at most.
 */
export async function readStored({ api }: Daemon, project: string | undefined): Promise<FindStored> {
  const notes = new Map<string, Stored[]>();
  const filter = { created_by: "memoryd-cli", ...(project !== undefined && { project }) };
  for await (const { id, occurred_at, ...memory } of api.memories.list(filter)) {
    const { key, path } = placeOf(memory);
    notes.set(key, [...(notes.get(key) ?? []), { id, path, time: parseTime(occurred_at) }]);
  }
  return (body, isDated) => {
    const { key, path } = placeOf(body);
    const time = parseTime(body["occurred_at"]);
    const alike = (notes.get(key) ?? []).filter(
      (note) => (note.takenBy ?? path) === path && (!isDated || note.time === time),
    );
    const found =
      alike.find((note) => note.path === path) ??
      alike.find((note) => note.path.endsWith(`/${path}`) || path.endsWith(`/${note.path}`));
    if (found !== undefined) found.takenBy = path;
    return found?.id;
  };
}

/** The path of a note, and a hash of all that is equal for memories that differ in their paths and times alone. */
function placeOf(memory: Fields): { readonly key: string; readonly path: string } {
  const { content, tags = [], metadata, user_id = null, project = null, session_id = null } = memory;
  const all = isObject(metadata) ? metadata : {};
  const isNote = /^(?:markdown|basic-memory)$/.test(String(all["source"])) && typeof all["path"] === "string";
  const fields = Object.entries(all)
    .filter(([name]) => !isNote || name !== "path")
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const equal = [String(content).trim(), tags, fields, user_id, project, session_id];
  return {
    path: isNote ? String(all["path"]) : "",
    key: createHash("sha256").update(JSON.stringify(equal)).digest("base64"),
  };
}
