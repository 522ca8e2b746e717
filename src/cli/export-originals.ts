import { createHash } from "node:crypto";
import { mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { CliFailure } from "./cli-failure.ts";
import type { DaemonClient } from "./daemon-client.ts";
import { type NamedOriginal, ORIGINALS } from "./import/read-export.ts";
import { complain, showProgress } from "./output.ts";
import { plural } from "./plural.ts";

/**
 * Writes what documents were made of into a folder of the export, each file once, by its SHA-256; says at the end how
 * many there were. One that the daemon does not have, or that the disk has damaged, is left out.
 *
 * @throws {CliFailure} where the daemon is not to be reached.
 */
export async function writeOriginals(
  daemon: DaemonClient,
  documents: readonly NamedOriginal[],
  folder: string,
): Promise<void> {
  const written = new Set<string>();
  let missing = 0;
  await mkdir(join(folder, ORIGINALS), { mode: 0o700 });
  for (const [i, document] of documents.entries()) {
    showProgress(`${i + 1}/${documents.length} originals`);
    if (written.has(document.sha256)) continue;
    if (await writeOriginal(daemon, document, join(folder, ORIGINALS, document.sha256)))
      written.add(document.sha256);
    else missing += 1;
  }
  const lacking =
    missing === 0 ? "" : `; those of ${plural(missing, "document")} are not kept here, or are damaged`;
  complain(`with ${plural(written.size, "original")}${lacking}`);
}

/** False where there is none, or none that is whole. */
async function writeOriginal(
  daemon: DaemonClient,
  { id, sha256 }: NamedOriginal,
  path: string,
): Promise<boolean> {
  const isWhole = (await hashWhileWriting(daemon, id, path)) === sha256;
  if (!isWhole) await rm(path);
  return isWhole;
}

/** SHA-256 of what was written; undefined where the daemon has nothing. */
async function hashWhileWriting(daemon: DaemonClient, id: string, path: string): Promise<string | undefined> {
  const hash = createHash("sha256");
  const file = await open(path, "wx", 0o600);
  try {
    for await (const chunk of daemon.read(`/documents/${id}/file`)) {
      hash.update(chunk);
      await file.writeFile(chunk);
    }
    await file.sync();
    return hash.digest("hex");
  } catch (error) {
    if (error instanceof CliFailure && error.status === 404) return undefined;
    throw error;
  } finally {
    await file.close();
  }
}
