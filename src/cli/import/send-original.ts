import { openAsBlob } from "node:fs";
import { boolean, oneOf, record } from "../../json-form.ts";
import { CliFailure } from "../cli-failure.ts";
import type { DaemonClient } from "../daemon-client.ts";
import type { OriginalItem } from "./import-item.ts";
import type { Outcome } from "./send-items.ts";

const Document = record({ has_original: boolean });
const Restored = record({ ok: oneOf(true) });

/** Brings a document its original, if it is without. @throws {CliFailure} where the daemon is not to be reached. */
export async function sendOriginal(
  daemon: DaemonClient,
  { documentId, path }: OriginalItem,
): Promise<Outcome> {
  try {
    const address = `/documents/${documentId}`;
    const { has_original: isThere } = await daemon.call(Document, "GET", `${address}?l=1`);
    if (isThere) return "known";
    await daemon.call(Restored, "PUT", `${address}/file`, await openAsBlob(path));
    return "added";
  } catch (error) {
    if (error instanceof CliFailure && error.status !== undefined) return { fault: error.message };
    throw error;
  }
}
