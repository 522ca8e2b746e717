import { formatTime, parseTime } from "../../schemas/wire.ts";
import { complain, oneLine, plural, print, printJson } from "../output/output.ts";
import { NAMES_A_USER, type Sendable } from "./check-item.ts";
import type { OriginalItem } from "./import-item.ts";

/** How many records were added, were there already, were left out on purpose, and could not be imported. */
export type ImportCounts = { added: number; known: number; skipped: number; failed: number };

/** The outcome of an import: numbers, and reasons with the first place of each. */
export class ImportReport {
  readonly counts: ImportCounts = { added: 0, known: 0, skipped: 0, failed: 0 };
  readonly #skipped = new Map<string, number>();
  readonly #faults: { readonly where: string; readonly reason: string }[] = [];
  /** The first record that names a user, and how many do: one option mends them all. */
  #firstOwned: string | undefined;
  #owned = 0;
  readonly #samples: Sendable[] = [];
  readonly #kinds = new Map<Kind, number>();

  skipped(reason: string): void {
    this.counts.skipped += 1;
    this.#skipped.set(reason, (this.#skipped.get(reason) ?? 0) + 1);
  }

  fault(where: string, reason: string): void {
    this.counts.failed += 1;
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

  print({ json, dryRun }: { readonly json: boolean; readonly dryRun: boolean }): void {
    const { added, known, skipped, failed } = this.counts;
    if (json)
      return printJson({
        ...(dryRun ? { found: Object.fromEntries(this.#kinds) } : { added, known }),
        skipped,
        failed,
        reasons: Object.fromEntries(this.#skipped),
        faults: this.#faults,
      });
    const found = [...this.#kinds].map(([kind, count]) => plural(count, KINDS[kind], kind)).join(", ");
    if (dryRun) {
      print(`would send ${found === "" ? "nothing" : found}; nothing was sent or changed`);
      for (const sample of this.#samples) print(`  ${sampleLine(sample)}`);
    } else {
      print(`${added} added, ${known} there already, ${skipped} left out, ${failed} failed`);
      if (this.#kinds.size > 1) print(`  in all ${found}`);
    }
    for (const [reason, count] of this.#skipped) print(`  left out ${count}: ${reason}`);
    const shown = this.#faults.filter(({ reason }) => reason !== NAMES_A_USER).slice(0, FAULTS_SHOWN);
    for (const { where, reason } of shown) complain(`  ${oneLine(where)}: ${oneLine(reason)}`);
    const more = failed - this.#owned - shown.length;
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
