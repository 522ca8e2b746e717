import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Disk, hasCode, replaceFile } from "./disk.ts";
import { type IncomingMark, MOVED_NAME, readMoved, writeMoved } from "./moved.ts";

/**
 * Beside the data: every place that it was moved from. Their marks are led to each new place directly, so that none of
 * them depends on another that may be gone by then.
 */
export const CAME_FROM_NAME = "CAME_FROM";

/** Writes into the new place of a move what the old one has, and the old one. */
export async function inheritEarlierPlaces(disk: Disk, move: IncomingMark, to: string): Promise<void> {
  const places = [...readEarlierPlaces(move.from), move].filter(
    ({ from }, index, all) => from !== to && all.findLastIndex((other) => other.from === from) === index,
  );
  const note = "Where this data was before. A move tells those places.";
  const text = `${JSON.stringify({ note, places }, null, 2)}\n`;
  await replaceFile(disk, join(to, CAME_FROM_NAME), Buffer.from(text));
}

/** Leads the marks in all earlier places here. Returns those in places that cannot be reached or written to. */
export async function leadEarlierPlaces(disk: Disk, to: string): Promise<string[]> {
  const untold: string[] = [];
  for (const { from, id } of readEarlierPlaces(to)) {
    try {
      const mark = readMoved(from);
      // Nothing there at all: its disk is not connected. Other things without a mark: somebody wanted it so.
      if (mark === undefined && (await disk.list(from)).length === 0) untold.push(join(from, MOVED_NAME));
      // Another id: the place has been used for another store since.
      if (mark?.id === id && mark.to !== to) await writeMoved(disk, from, { id, to });
    } catch {
      untold.push(join(from, MOVED_NAME));
    }
  }
  return untold;
}

/** A list that is damaged is none: what would be led by it goes the longer way. */
function readEarlierPlaces(place: string): IncomingMark[] {
  try {
    const list: unknown = JSON.parse(readFileSync(join(place, CAME_FROM_NAME), "utf8"));
    const places = typeof list === "object" && list !== null && "places" in list ? list.places : undefined;
    return Array.isArray(places) ? places.filter(isMark) : [];
  } catch (error) {
    if (error instanceof SyntaxError || hasCode(error, "ENOENT", "ENOTDIR")) return [];
    throw error;
  }
}

function isMark(value: unknown): value is IncomingMark {
  if (typeof value !== "object" || value === null) return false;
  const { id, from } = value as Partial<IncomingMark>;
  return typeof id === "string" && typeof from === "string";
}
