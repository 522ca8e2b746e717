import { keysOf } from "./keys.ts";
import { complain, print } from "./output.ts";
import { plural } from "./plural.ts";

/** Removes all keys of a data directory, so that none is needed. */
export async function authOff(dataDir: string): Promise<void> {
  const { deleted, key_needed: isStillNeeded } = await (await keysOf(dataDir)).removeAll();
  print(`Removed ${plural(deleted, "key")}.`);
  complain(
    isStillNeeded
      ? "A key is needed still: the daemon was started with MEMORYD_API_KEY or --api-key-file."
      : "Every program on this machine can read and write all memories now.",
  );
}
