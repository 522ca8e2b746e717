import { complain, oneLine, print, printJson } from "../output.ts";
import { plural } from "../plural.ts";
import type { FoundDocuments, SkippedPath } from "./find-documents.ts";
import type { Tally } from "./take-in.ts";

/** So many names of what was passed over for one reason. */
const MAX_NAMES = 3;

/** What went in, what was passed over, and why; what was named stands among the failures. */
export function report(found: FoundDocuments, tally: Tally, gone: number, asJson: boolean): void {
  const skipped = found.skipped.filter(({ isNamed }) => !isNamed);
  const { added, replaced, unchanged, removed, memories, notTried, failed } = tally;
  if (asJson) {
    printJson({
      added,
      replaced,
      unchanged,
      removed,
      memories,
      gone,
      not_tried: notTried,
      failed,
      skipped: skipped.map(({ path, reason }) => ({ path, reason })),
    });
    return;
  }
  print(
    `${added} added, ${replaced} replaced, ${unchanged} unchanged, ${removed} removed; ${plural(memories, "new memory", "new memories")}`,
  );
  for (const [reason, paths] of byReason(skipped)) {
    const names = paths.slice(0, MAX_NAMES).map(oneLine).join(", ");
    const more = paths.length > MAX_NAMES ? " …" : "";
    print(`  skipped ${paths.length}: ${reason} (${names}${more})`);
  }
  for (const { path, reason } of failed) print(`  failed ${oneLine(path)}: ${oneLine(reason)}`);
  if (notTried > 0) print(`  not tried ${notTried}: memoryd does not answer; run it again to go on`);
  if (gone > 0)
    complain(
      gone === 1
        ? "1 taken in earlier is gone from the disk and still remembered; --watch removes it."
        : `${gone} taken in earlier are gone from the disk and still remembered; --watch removes them.`,
    );
}

function byReason(skipped: readonly SkippedPath[]): Map<string, string[]> {
  const reasons = new Map<string, string[]>();
  for (const { path, reason } of skipped) {
    const paths = reasons.get(reason);
    if (paths === undefined) reasons.set(reason, [path]);
    else paths.push(path);
  }
  return reasons;
}
