import { shortened } from "../../core/text/text-size.ts";
import { formatTime, parseTime } from "../../schemas/wire.ts";
import { CliFailure, complain, oneLine, plural, print, printJson } from "../output/output.ts";
import { NAMES_A_USER, type Sendable } from "./check-item.ts";
import type { LeftOut, MailItem, OriginalItem } from "./import-item.ts";
import type { Outcome } from "./send.ts";

/** The outcome of an import: numbers, and reasons with the first place of each. */
export class ImportReport {
  /** Records that were added, were there already, were left out on purpose, and could not be imported. */
  readonly counts = { added: 0, known: 0, skipped: 0, failed: 0 };
  readonly #isStrict: boolean;
  readonly #skipped = new Map<string, number>();
  readonly #faults: { readonly where: string; readonly reason: string }[] = [];
  /** Places of records that name a user: one option mends them all. */
  readonly #owned: string[] = [];
  readonly #samples: Sendable[] = [];
  readonly #kinds = new Map<Kind, number>();

  constructor(isStrict = false) {
    this.#isStrict = isStrict;
  }

  skipped(reason: string): void {
    this.counts.skipped += 1;
    this.#skipped.set(reason, (this.#skipped.get(reason) ?? 0) + 1);
  }

  /** @throws {CliFailure} with --strict. */
  fault(where: string, reason: string): void {
    if (this.#isStrict) throw new CliFailure(`${where}: ${reason}. The rest was not read.`);
    this.counts.failed += 1;
    if (reason === NAMES_A_USER) this.#owned.push(where);
    if (this.#faults.length < MAX_FAULTS_KEPT) this.#faults.push({ where, reason });
  }

  /** @throws {CliFailure} as `fault`. */
  leftOut({ kind, where, reason }: LeftOut): void {
    if (kind === "skipped") this.skipped(reason);
    else this.fault(where, reason);
  }

  /** @throws {CliFailure} as `fault`. */
  count(where: string, outcome: Outcome | undefined): void {
    if (outcome === "repeated") this.skipped("records that stand in it twice");
    else if (typeof outcome === "string") this.counts[outcome] += 1;
    else this.fault(where, outcome?.fault ?? "the daemon did not answer for it");
  }

  found(item: Sendable | OriginalItem | MailItem): void {
    if ("leftOut" in item && item.leftOut !== undefined) this.skipped(item.leftOut);
    const kind = kindOf(item);
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1);
    if (this.#samples.length < SAMPLES && kind === "memories" && "body" in item) this.#samples.push(item);
  }

  inWords(): string {
    const { added, known, skipped, failed } = this.counts;
    return `${added} added, ${known} there already, ${skipped} left out, ${failed} failed`;
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
      print(this.inWords());
      if (this.#kinds.size > 1) print(`  in all ${found}`);
    }
    for (const [reason, count] of this.#skipped) print(`  left out ${count}: ${reason}`);
    const shown = this.#faults.filter(({ reason }) => reason !== NAMES_A_USER).slice(0, FAULTS_SHOWN);
    for (const { where, reason } of shown) complain(`  ${oneLine(where)}: ${oneLine(reason)}`);
    const [firstOwned, ...others] = this.#owned;
    const more = failed - this.#owned.length - shown.length;
    if (more > 0) complain(`  … and ${more} more; --json lists up to ${MAX_FAULTS_KEPT}`);
    if (firstOwned === undefined) return;
    const rest = others.length === 0 ? "" : ` (so do ${others.length} more)`;
    complain(`  ${oneLine(firstOwned)}: ${NAMES_A_USER}${rest}`);
  }
}

const KINDS = {
  memories: "memory",
  documents: "document",
  facts: "fact",
  waypoints: "waypoint",
  originals: "original",
  mails: "mail",
} as const;
type Kind = keyof typeof KINDS;

const MAX_FAULTS_KEPT = 1_000;
const FAULTS_SHOWN = 20;
const SAMPLES = 3;
const SAMPLE_CHARS = 60;

function kindOf(item: Sendable | OriginalItem | MailItem): Kind {
  if ("kind" in item) return item.kind === "mail" ? "mails" : "originals";
  const { route, body } = item;
  if (route === "/memory/add/batch" || body["type"] === "memory") return "memories";
  if (body["type"] === "document") return "documents";
  return body["type"] === "waypoint" ? "waypoints" : "facts";
}

function sampleLine({ body }: Sendable): string {
  const time = parseTime(body["occurred_at"]);
  const tags = (body["tags"] as readonly string[] | undefined) ?? [];
  const parts = [
    ...(time === undefined ? [] : [formatTime(time).slice(0, 10)]),
    shortened(oneLine(String(body["content"])), SAMPLE_CHARS),
    ...tags.map((tag) => `#${oneLine(tag)}`),
  ];
  return parts.join("  ");
}
