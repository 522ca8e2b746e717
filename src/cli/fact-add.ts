import { arrayOf, boolean, record, string } from "../json-form.ts";
import { parseMetadata } from "./add.ts";
import { connect } from "./daemon-client.ts";
import { doubt, period, SHOWN_FIELDS, statement } from "./facts.ts";
import { print, printJson, sayIfLost } from "./output.ts";

export interface AddFactOptions {
  readonly from?: string;
  readonly to?: string;
  readonly confidence?: number;
  readonly metadata?: string;
  readonly user?: string;
  readonly project?: string;
  readonly source?: string;
  readonly many?: boolean;
  readonly json?: boolean;
}

const Recorded = record({
  ...SHOWN_FIELDS,
  superseded: arrayOf(string),
  deduplicated: boolean,
});

/** Records that something is true for a time, and says what that ended. */
export async function addFact(
  dataDir: string,
  [subject, predicate, object]: readonly [subject: string, predicate: string, object: string],
  options: AddFactOptions,
): Promise<void> {
  const metadata = options.metadata === undefined ? undefined : parseMetadata(options.metadata);
  const daemon = await connect(dataDir);
  const recorded = await daemon.call(Recorded, "POST", "/api/temporal/fact", {
    subject,
    predicate,
    object,
    valid_from: options.from,
    valid_to: options.to,
    confidence: options.confidence,
    metadata,
    user_id: options.user,
    project: options.project,
    source_memory_id: options.source,
    cardinality: options.many === true ? "many" : undefined,
  });
  sayIfLost(`The fact is recorded: ${recorded.id}.`);
  if (options.json === true) return printJson(recorded);
  print(`${recorded.deduplicated ? "already recorded" : "recorded"} ${recorded.id}`);
  print(`  ${statement(recorded)}`);
  print(`  ${period(recorded)}${doubt(recorded)}`);
  for (const id of recorded.superseded) print(`  ended, split or replaced ${id}`);
}
