import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeDisk } from "../../../src/storage/files/disk.ts";
import type {
  Journal,
  JournalOptions,
  JournalRecord,
  RecordToAppend,
} from "../../../src/storage/journal/journal.ts";
import { type JournalOpened, openJournal } from "../../../src/storage/journal/open-journal.ts";

export const STORE_ID = "0198c9a0-0000-7000-8000-000000000001";

const stillOpen = new Set<Journal>();

export interface OpenedForTest extends JournalOpened {
  readonly records: readonly JournalRecord[];
}

/** Opens a journal as a store does and keeps what it replays. */
export async function openForTest(
  directory: string,
  options: Partial<JournalOptions> = {},
): Promise<OpenedForTest> {
  const records: JournalRecord[] = [];
  const opened = await openJournal({
    disk: nodeDisk,
    directory,
    storeId: STORE_ID,
    epoch: 1,
    after: 0,
    onRecord: (record) => records.push(record),
    ...options,
  });
  stillOpen.add(opened.journal);
  return { ...opened, records };
}

/** A record that is told from others by its number. */
export function numbered(n: number, bytes = 0): RecordToAppend {
  const row = { bodyHash: "x".repeat(bytes), ids: [String(n)], createdAt: n };
  return { time: n, changes: [{ table: "requests", id: `r${n}`, row }], frees: false };
}

export function deletion(n: number): RecordToAppend {
  return { time: n, changes: [{ table: "requests", id: `r${n}`, row: null }], frees: true };
}

/** The numbers of replayed records. */
export function numbersOf(records: readonly JournalRecord[]): number[] {
  return records.map(({ time }) => time);
}

/** A folder below a new temporary one; afterwards it is removed and every journal that the test opened is closed. */
export async function withFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const top = await mkdtemp(join(tmpdir(), "journal-"));
  try {
    await run(join(top, "journal"));
  } finally {
    await Promise.all(Array.from(stillOpen, (journal) => journal.close()));
    stillOpen.clear();
    await rm(top, { recursive: true, force: true });
  }
}
