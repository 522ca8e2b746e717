import { formatTime, parseTime } from "../../schemas/time.ts";
import { complain, oneLine, plural, print, printJson } from "../output/output.ts";
import { NAMES_A_USER, type Sendable } from "./check-item.ts";
import type { OriginalItem } from "./import-item.ts";
import type { ImportState } from "./import-state.ts";

/** What there is to say about an import at its end: numbers, and reasons with the first place of each. */
export class ImportReport {
  readonly #skipped = new Map<string, number>();
  readonly #faults: { readonly where: string; readonly reason: string }[] = [];
  /** Records that name a user are told of once, for one option mends them all. */
  #firstOwned: string | undefined;
  #owned = 0;
  readonly #samples: Sendable[] = [];
  readonly #kinds = new Map<Kind, number>();

  skipped(reason: string): void {
    this.#skipped.set(reason, (this.#skipped.get(reason) ?? 0) + 1);
  }

  fault(where: string, reason: string): void {
    if (reason === NAMES_A_USER) {
      this.#firstOwned ??= where;
      this.#owned += 1;
    }
    if (this.#faults.length < MAX_FAULTS_KEPT) this.#faults.push({ where, reason });
  }

  found(item: Sendable | OriginalItem): void {
    const kind = kindOf(item);
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1);
    if (this.#samples.length < SAMPLES && kind === "memories" && "body" in item) this.#samples.push(item);
  }

  /** @param before what of `state` an earlier run of the same import had done. */
  print(
    state: ImportState,
    before: ImportState,
    { json, dryRun }: { readonly json: boolean; readonly dryRun: boolean },
  ): void {
    const done = since(before, state);
    const isResumed = before.items > 0;
    if (json) {
      const { added, known, skipped, failed } = done;
      const found = Object.fromEntries(this.#kinds);
      printJson({
        ...(dryRun ? { found } : { added, known }),
        skipped,
        failed,
        reasons: Object.fromEntries(this.#skipped),
        faults: this.#faults,
        ...(isResumed && { earlier: before }),
      });
      return;
    }
    if (dryRun) {
      const found = [...this.#kinds].map(([kind, count]) => plural(count, KINDS[kind], kind)).join(", ");
      print(`would send ${found === "" ? "nothing" : found}; nothing was sent or changed`);
      for (const sample of this.#samples) print(`  ${sampleLine(sample)}`);
    } else {
      print(countsLine(done));
      if (isResumed)
        print(`  an earlier run dealt with ${plural(before.items, "record")}: ${countsLine(before)}`);
    }
    for (const [reason, count] of this.#skipped) print(`  left out ${count}: ${reason}`);
    const shown = this.#faults.filter(({ reason }) => reason !== NAMES_A_USER).slice(0, FAULTS_SHOWN);
    for (const { where, reason } of shown) complain(`  ${oneLine(where)}: ${oneLine(reason)}`);
    const more = done.failed - this.#owned - shown.length;
    if (more > 0) complain(`  … and ${more} more; --json lists up to ${MAX_FAULTS_KEPT}`);
    if (this.#firstOwned === undefined) return;
    const others = this.#owned === 1 ? "" : ` (so do ${this.#owned - 1} more)`;
    complain(`  ${oneLine(this.#firstOwned)}: ${NAMES_A_USER}${others}`);
  }
}

const KINDS = {
  memories: "memory",
  documents: "document",
  facts: "fact",
  waypoints: "waypoint",
  originals: "original",
} as const;
type Kind = keyof typeof KINDS;

const MAX_FAULTS_KEPT = 1_000;
const FAULTS_SHOWN = 20;
const SAMPLES = 3;
const SAMPLE_CHARS = 60;

function since(before: ImportState, now: ImportState): ImportState {
  const names = ["items", "added", "known", "skipped", "failed"] as const;
  return Object.fromEntries(names.map((name) => [name, now[name] - before[name]])) as ImportState;
}

function countsLine({ added, known, skipped, failed }: ImportState): string {
  return `${added} added, ${known} there already, ${skipped} left out, ${failed} failed`;
}

function kindOf(item: Sendable | OriginalItem): Kind {
  if ("kind" in item) return "originals";
  const { route, body } = item;
  if (route === "/memory/add/batch" || body["type"] === "memory") return "memories";
  if (body["type"] === "document") return "documents";
  return body["type"] === "waypoint" ? "waypoints" : "facts";
}

function sampleLine({ body }: Sendable): string {
  const time = parseTime(body["occurred_at"]);
  const tags = (body["tags"] as readonly string[] | undefined) ?? [];
  const text = oneLine(String(body["content"]));
  const parts = [
    ...(time === undefined ? [] : [formatTime(time).slice(0, 10)]),
    text.length > SAMPLE_CHARS ? `${text.slice(0, SAMPLE_CHARS)}…` : text,
    ...tags.map((tag) => `#${oneLine(tag)}`),
  ];
  return parts.join("  ");
}
