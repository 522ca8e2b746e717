import { CliFailure, EXIT } from "./cli-failure.ts";
import { connect } from "./daemon-client.ts";
import { readMemory } from "./memory-reads.ts";
import { oneLine, print, printJson } from "./output.ts";
import { ShownMemory } from "./shown-memory.ts";

export interface TagOptions {
  readonly json?: boolean;
}

/** Adds and takes away tags, unless the memory was changed meanwhile. */
export async function tagMemory(
  dataDir: string,
  { id, changes }: { readonly id: string; readonly changes: readonly string[] },
  options: TagOptions,
): Promise<void> {
  for (const change of changes) {
    if (!/^[+-][^]/.test(change)) {
      throw new CliFailure(
        `${oneLine(change)} is neither +tag nor -tag; say for example \`memoryd tag ${oneLine(id)} +garden -todo\`.`,
        { exitCode: EXIT.usage },
      );
    }
  }
  const given = new Set(changes);
  const both = changes.find((change) => change.startsWith("+") && given.has(`-${change.slice(1)}`));
  if (both !== undefined) {
    throw new CliFailure(
      `The tag ${oneLine(both.slice(1))} cannot be both added and taken away; say ${oneLine(both)} or -${oneLine(both.slice(1))}.`,
      { exitCode: EXIT.usage },
    );
  }
  const daemon = await connect(dataDir);
  const memory = await readMemory(daemon, id);
  const tags = new Set(memory.tags);
  for (const change of changes) {
    const tag = change.slice(1);
    if (change.startsWith("+")) tags.add(tag);
    else tags.delete(tag);
  }
  const isSame = tags.size === memory.tags.length && memory.tags.every((tag) => tags.has(tag));
  const changed = isSame
    ? memory
    : await daemon.call(
        ShownMemory,
        "PATCH",
        `/memory/${encodeURIComponent(id)}`,
        { tags: [...tags] },
        { "if-match": `"${memory.version}"` },
      );
  if (options.json === true) return printJson(changed);
  const words = changed.tags.map((tag) => ` #${oneLine(tag)}`).join("");
  print(`${isSame ? "nothing to change:" : "tagged"} ${changed.id}${words}`);
}
