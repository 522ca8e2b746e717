import { openAsBlob } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { MemorydError } from "../../client/client.ts";
import { EXPORT_FORMAT, EXPORT_VERSION, present } from "../../schemas/wire.ts";
import type { Daemon } from "../connect.ts";
import type { Owners, Route, Sendable } from "./check-item.ts";
import type { MailItem, OriginalItem } from "./import-item.ts";

export type Outcome = "added" | "known" | "repeated" | { readonly fault: string };

interface Result {
  readonly status: number;
  readonly id?: string;
  readonly outcome?: string;
  readonly deduplicated?: boolean;
  readonly detail?: string;
}

const BUSY = new Set([429, 503]);
const TRIES = 5;
const RETRY_AFTER_MS = 2_000;

/**
 * Sends records to one route, and again those for which the daemon was too busy.
 * @param made ids of records that this import added; new ones are put into it.
 * @param onStored gets the id of each that is there afterwards.
 * @throws {MemorydError} for all of them.
 */
export async function sendItems(
  { api }: Daemon,
  route: Route,
  items: readonly Sendable[],
  made: Set<string>,
  onStored: (item: Sendable, id: string) => void = () => {},
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let waiting = [...items.entries()];
  for (let tries = 1; waiting.length > 0; tries += 1) {
    const bodies = waiting.map(([, item]) => item.body);
    const request = { method: "POST", path: route, body: bodyOf(route, bodies) } as const;
    const { results } = await api.call<{ readonly results: readonly Result[] }>(request);
    const busy: typeof waiting = [];
    for (const [i, [index, item]] of waiting.entries()) {
      const result = results[i];
      if (result === undefined) continue;
      if (BUSY.has(result.status) && tries < TRIES) busy.push([index, item]);
      else outcomes[index] = outcomeOf(result, item, made);
      if (result.id !== undefined) onStored(item, result.id);
    }
    waiting = busy;
    if (busy.length > 0) await sleep(RETRY_AFTER_MS);
  }
  return outcomes;
}

function bodyOf(route: Route, bodies: readonly object[]): object | string {
  if (route === "/memory/add/batch") return { memories: bodies };
  if (route === "/api/temporal/fact/batch") return { facts: bodies };
  const lines = [{ format: EXPORT_FORMAT, version: EXPORT_VERSION }, ...bodies];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

function outcomeOf(
  { id, detail, outcome, deduplicated }: Result,
  { body }: Sendable,
  made: Set<string>,
): Outcome {
  if (detail !== undefined) return { fault: detail };
  if (outcome === "known" || deduplicated === true) {
    if (id !== undefined && made.has(id)) return "repeated";
    // A memory comes with the waypoints that adding it makes.
    if (body["type"] !== "waypoint" || !made.has(String(body["source"]))) return "known";
  }
  if (id !== undefined) made.add(id);
  return "added";
}

/** Makes a document of a mail, or gives one its original, if it is without. @throws {MemorydError} where the daemon cannot be reached. */
export async function sendFile(
  { api }: Daemon,
  item: MailItem | OriginalItem,
  { user, project, tag }: Owners,
): Promise<Outcome> {
  try {
    if (item.kind === "mail") {
      const file = new Blob([new Uint8Array(item.bytes)], { type: "message/rfc822" });
      const fields = present({ user_id: user, project, tags: tag });
      const { deduplicated } = await api.documents.ingest({ file, filename: item.filename }, fields);
      return deduplicated ? "known" : "added";
    }
    const { documentId, path } = item;
    if ((await api.documents.get(documentId, { l: 1 })).has_original) return "known";
    await api.documents.restoreFile(documentId, await openAsBlob(path));
    return "added";
  } catch (error) {
    if (error instanceof MemorydError && error.status !== 0) return { fault: error.detail };
    throw error;
  }
}
