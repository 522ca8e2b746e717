import { type Fields, isObject } from "../../config/narrow.ts";
import { parseTime } from "../../schemas/wire.ts";
import type { Daemon } from "../connect.ts";

interface StoredNote {
  readonly id: string;
  readonly path: string;
  readonly time: number | undefined;
  /** The note of this import that it is. */
  takenBy?: string;
}

/** Finds the memory of a note that is stored already. @param isDated false where its time is that of its file, which copying changes. */
export type FindNote = (body: Fields, isDated: boolean) => string | undefined;

/**
 * Reads the notes that were imported before. Which folder was named decides how long a note's path is, so it is the same note where one
 * path ends in the other and all else is equal; each is the memory of one note at most.
 */
export async function readStoredNotes({ api }: Daemon, project: string | undefined): Promise<FindNote> {
  const notes = new Map<string, StoredNote[]>();
  const filter = { created_by: "memoryd-cli", ...(project !== undefined && { project }) };
  for await (const { id, occurred_at, ...memory } of api.memories.list(filter)) {
    const found = placeOf(memory);
    if (found === undefined) continue;
    const alike = notes.get(found.key) ?? [];
    notes.set(found.key, [...alike, { id, path: found.path, time: parseTime(occurred_at) }]);
  }
  return (body, isDated) => {
    const { key, path } = placeOf(body) ?? { key: "", path: "" };
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

/** The path of a note, and all that is equal for notes that differ in their paths and times alone. */
function placeOf(memory: Fields): { readonly key: string; readonly path: string } | undefined {
  const { content, tags = [], metadata, user_id = null, project = null } = memory;
  if (!isObject(metadata) || !/^(?:markdown|basic-memory)$/.test(String(metadata["source"])))
    return undefined;
  const { path, ...others } = metadata;
  if (typeof content !== "string" || typeof path !== "string") return undefined;
  const fields = Object.entries(others).sort(([a], [b]) => (a < b ? -1 : 1));
  return { path, key: JSON.stringify([content.trim(), tags, fields, user_id, project]) };
}
