import { integer, record } from "../json-form.ts";
import { CliFailure, EXIT } from "./cli-failure.ts";
import { connect } from "./daemon-client.ts";
import { lineOf, readMemory } from "./memory-reads.ts";
import { ask, print } from "./output.ts";
import { plural } from "./plural.ts";

const Deleted = record({ deleted: integer });

export interface RemoveOptions {
  readonly yes?: boolean;
}

/** Deletes memories after asking; none when one of the ids is unknown. */
export async function removeMemories(
  dataDir: string,
  given: readonly string[],
  { yes = false }: RemoveOptions,
): Promise<void> {
  const daemon = await connect(dataDir);
  const ids = [...new Set(given.map((id) => id.toLowerCase()))];
  const memories = [];
  for (const id of ids) memories.push(await readMemory(daemon, id));
  const what = plural(memories.length, "memory", "memories");
  if (!yes) {
    for (const memory of memories) {
      const isRoot = memory.source?.chunk_index === -1;
      print(lineOf(memory) + (isRoot ? " (a document, with all its memories)" : ""));
    }
    const answer = await ask(`Delete ${what} for good? [y/N] `);
    if (answer === undefined) {
      throw new CliFailure(
        "Nothing was deleted: nobody is there to ask. Say --yes to delete without asking.",
        { exitCode: EXIT.usage },
      );
    }
    if (!answer) return print("Nothing was deleted.");
  }
  let count = 0;
  for (const id of ids) {
    const { deleted } = await daemon.call(Deleted, "DELETE", `/memory/${encodeURIComponent(id)}`);
    count += deleted;
  }
  print(`deleted ${plural(count, "memory", "memories")}`);
}
