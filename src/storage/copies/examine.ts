import { join } from "node:path";
import { type Finding, note, ok, wrong } from "../../core/status.ts";
import {
  type Checkpoint,
  type FileDamage,
  lossesOf,
  noteSuspects,
  NOTHING_LOST,
  readCheckpoints,
  tablesFolder,
  verifyFiles,
  without,
} from "../checkpoints/checkpoint.ts";
import { type Disk, removeTree, copyFile, linkFiles } from "../files/disk.ts";
import { inWords, roomNeededFor } from "../files/disk-space.ts";
import { readAncestors, readErasures } from "../checkpoints/erasures.ts";
import { checkJournal } from "../journal/open-journal.ts";
import { readKeyFile } from "../files/key-file.ts";

/** State of a store's files, read without opening the store. */
export interface Examination {
  readonly findings: readonly Finding[];
  /** Newest first. */
  readonly checkpoints: readonly Checkpoint[];
  /** Files of tables that are not as they were written, below the folder of tables. */
  readonly damaged: readonly string[];
  /** True if the checkpoints, tables and journal allow opening it. */
  readonly canOpen: boolean;
}

const MENDED = "The next start opens without these, and makes again what can be, in the background.";
const SALVAGE =
  "The store is not opened like this. Restore a backup (`memoryd backup list`), or write out what can be read with " +
  "`memoryd doctor --salvage FOLDER`.";
/** A clock may be so far behind the newest record. */
const CLOCK_STEP_MS = 60_000;

/** Reads every file of a store against its checksum; changes nothing. The caller keeps daemons out meanwhile. */
export async function examineStore(disk: Disk, directory: string, now: number): Promise<Examination> {
  const findings: Finding[] = [];
  const { readable: checkpoints, damage } = await readCheckpoints(disk, directory);
  const [newest, older] = checkpoints;
  findings.push(...spaceAndClock(await disk.freeBytes(directory), newest, now));
  if (newest === undefined) {
    const message = damage.length > 0 ? `${damage.join("; ")}.` : "There is no CHECKPOINT file.";
    findings.push(wrong("checkpoints", message, SALVAGE));
    return { findings, checkpoints, damaged: [], canOpen: false };
  }
  findings.push(
    damage.length === 0
      ? ok("checkpoints", `${checkpoints.length === 1 ? "One is" : `${checkpoints.length} are`} whole.`)
      : wrong("checkpoints", `${damage.join("; ")}.`, "A start uses the other one and the journal since it."),
  );
  const tables = await examineTables(disk, directory, newest, older);
  const journal = await examineJournal(disk, directory, newest, tables.opensAt ?? newest);
  findings.push(tables.finding, journal, ...(await examineSmallFiles(disk, directory)));
  return {
    findings,
    checkpoints,
    damaged: tables.damaged,
    canOpen: tables.opensAt !== undefined && journal.status !== "wrong",
  };
}

const NAMED_FAULTS = 3;

/** The first faults of a list, and how many more there are. */
export function few(faults: readonly string[]): string {
  const more = faults.length - NAMED_FAULTS;
  return [...faults.slice(0, NAMED_FAULTS), ...(more > 0 ? [`and ${more} more`] : [])].join("; ");
}

function spaceAndClock(free: number, newest: Checkpoint | undefined, now: number): Finding[] {
  const space = { free, needed: roomNeededFor(newest?.tables ?? []) };
  const ahead = (newest?.clockFloor ?? 0) - now;
  return [
    free < space.needed
      ? wrong("space", `${inWords(space)}.`, "Adding is refused until some space is freed.")
      : ok("space", `${inWords(space)}.`),
    ahead > CLOCK_STEP_MS
      ? wrong(
          "clock",
          `The newest record is dated ${Math.round(ahead / 60_000)} minutes after this machine's clock.`,
          "Set the clock. If it is right now, it was ahead before: records of then keep their dates, and new ones go by the clock.",
        )
      : ok("clock", "No record is dated later than this machine's clock."),
  ];
}

async function examineTables(
  disk: Disk,
  directory: string,
  newest: Checkpoint,
  older: Checkpoint | undefined,
): Promise<{ finding: Finding; damaged: readonly string[]; opensAt: Checkpoint | undefined }> {
  const both: { checkpoint: Checkpoint; found: readonly FileDamage[] }[] = [];
  for (const checkpoint of older === undefined ? [newest] : [newest, older])
    both.push({ checkpoint, found: await verifyFiles(disk, directory, checkpoint, () => true) });
  const sentences = [...new Set(both.flatMap(({ found }) => found.map(({ sentence }) => sentence)))];
  const damaged = [...new Set(both.flatMap(({ found }) => found.map(({ path }) => path)))];
  const message = `${few(sentences)}.`;
  const whole = both.find(({ found }) => found.length === 0)?.checkpoint;
  if (whole !== undefined) {
    const files = whole.tables.flatMap((table) => table.files).length;
    const finding =
      damaged.length === 0
        ? ok("tables", `${files} files are as they were written.`)
        : whole === newest
          ? note("tables", message, "The newest state needs none of these.")
          : wrong(
              "tables",
              message,
              "A start uses the state before and the journal since it: nothing is missing.",
            );
    return { finding, damaged, opensAt: whole };
  }
  for (const { checkpoint, found } of both) {
    const rest = without({ checkpoint, older, nextNumber: 0, damage: [], ...NOTHING_LOST }, found);
    if (rest === undefined) continue;
    return {
      finding: wrong("tables", message, [...lossesOf(rest), MENDED].join(" ")),
      damaged,
      opensAt: checkpoint,
    };
  }
  return { finding: wrong("tables", message, SALVAGE), damaged, opensAt: undefined };
}

async function examineJournal(
  disk: Disk,
  directory: string,
  newest: Checkpoint,
  { storeId, epoch, sequence: after }: Checkpoint,
): Promise<Finding> {
  const options = { disk, directory: join(directory, "journal"), storeId, epoch, after, begin: false };
  try {
    const { sequence, tornBytes } = await checkJournal(options);
    const since = sequence - newest.sequence;
    const state = `Whole to record ${newest.epoch}.${sequence}, ${Math.max(0, since)} after the newest checkpoint.`;
    if (tornBytes === 0) return ok("journal", state);
    const message = `${state} A write of ${tornBytes} bytes behind it was cut short and never answered.`;
    return note("journal", message, "The next start cuts it off.");
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return wrong("journal", error.message, SALVAGE);
  }
}

async function examineSmallFiles(disk: Disk, directory: string): Promise<Finding[]> {
  const reads: readonly (readonly [name: string, read: () => Promise<unknown>, remedy: string])[] = [
    ["keys", () => readKeyFile(disk, directory), "See above."],
    [
      "erasures",
      () => readErasures(disk, directory),
      "Remove the file ERASED; restores of older backups then bring back users that were erased.",
    ],
    [
      "ancestors",
      () => readAncestors(disk, directory),
      "Remove the file ANCESTORS; restores of backups that this store was restored from then bring back users that it erases.",
    ],
  ];
  const findings: Finding[] = [];
  for (const [check, read, remedy] of reads) {
    const failure = await read().then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    findings.push(failure === undefined ? ok(check, "Readable.") : wrong(check, failure, remedy));
  }
  return findings;
}

/** Links to the tables and copies of the rest: opening it never touches the store. */
export async function linkStore(
  disk: Disk,
  directory: string,
  into: string,
  { checkpoints, damaged }: Pick<Examination, "checkpoints" | "damaged">,
): Promise<void> {
  await removeTree(disk, into);
  await disk.makeDirectory(join(into, "journal"));
  const names = (await disk.list(directory)).map(({ name }) => name);
  for (const name of names.filter((each) => /^CHECKPOINT-\d+$/.test(each)))
    await copyFile(disk, join(directory, name), join(into, name));
  for (const { name } of await disk.list(join(directory, "journal")))
    if (name !== "reserve")
      await copyFile(disk, join(directory, "journal", name), join(into, "journal", name));
  const paths = new Set(
    checkpoints.flatMap(({ tables }) => tables.flatMap(({ files }) => files.map(({ path }) => path))),
  );
  await linkFiles(disk, tablesFolder(directory), tablesFolder(into), paths);
  await noteSuspects(disk, into, damaged);
}
