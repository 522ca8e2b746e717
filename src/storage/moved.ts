import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ServiceError } from "../core/errors.ts";
import { type Disk, hasCode, replaceFile } from "./disk.ts";

/**
 * Two marks carry a move of a data directory. `INCOMING` stands in the new place from before the first file is there
 * until nothing is left to do. `MOVED` comes to stand in the old place when the new one is whole, and stays: that is the
 * moment of the move, and from then on it says where the data is. Both carry the id of their move.
 */
export const MOVED_NAME = "MOVED";
export const INCOMING_NAME = "INCOMING";

/** In the old place. */
export interface MovedMark {
  readonly id: string;
  readonly to: string;
}

/** In the new place. */
export interface IncomingMark {
  readonly id: string;
  readonly from: string;
}

/** What a place has that is worth following a mark to. */
const DATA_NAMES = /^(CHECKPOINT-\d+|KEYS|journal|tables|files)$/;

/**
 * Where the data of a directory is by now: there, or where marks of moves lead.
 *
 * @throws {ServiceError} STORE_UNUSABLE if they lead to where no data is: its disk may not be there.
 */
export function whereDataIs(directory: string): string {
  const seen = new Set<string>();
  for (let place = directory; ;) {
    const moved = readMoved(place);
    if (moved === undefined || hasArrived(place)) return place;
    if (seen.has(place))
      throw unusable(
        `The marks of moves (${MOVED_NAME}) from ${directory} lead in a circle; remove the wrong one.`,
      );
    seen.add(place);
    if (!holdsData(moved.to)) {
      throw unusable(
        `What was in ${place} was moved to ${moved.to}, and is not there. Connect that disk; if the data has gone for ` +
          `good, or is elsewhere, remove or change ${join(place, MOVED_NAME)}.`,
      );
    }
    place = moved.to;
  }
}

/** Whether a move to here has come so far that the data is here. */
export function hasArrived(place: string): boolean {
  const incoming = readIncoming(place);
  return incoming !== undefined && readMoved(incoming.from)?.id === incoming.id;
}

export function readMoved(place: string): MovedMark | undefined {
  const mark = read(join(place, MOVED_NAME));
  return mark && typeof mark["to"] === "string" ? { id: mark.id, to: mark["to"] } : undefined;
}

export function readIncoming(place: string): IncomingMark | undefined {
  const mark = read(join(place, INCOMING_NAME));
  return mark && typeof mark["from"] === "string" ? { id: mark.id, from: mark["from"] } : undefined;
}

export async function writeMoved(disk: Disk, place: string, { id, to }: MovedMark): Promise<void> {
  const note = "What was in this folder was moved. memoryd finds it by this file, so keep it.";
  await write(disk, join(place, MOVED_NAME), { note, to, id, at: new Date().toISOString() });
}

export async function writeIncoming(disk: Disk, place: string, from: string): Promise<IncomingMark> {
  const note = "A move to this folder is not finished; the same `memoryd data move` goes on with it.";
  const id = randomUUID();
  await write(disk, join(place, INCOMING_NAME), { note, from, id });
  return { id, from };
}

function holdsData(place: string): boolean {
  try {
    return existsSync(join(place, MOVED_NAME)) || readdirSync(place).some((name) => DATA_NAMES.test(name));
  } catch {
    return false;
  }
}

/** A mark that is damaged is refused: passing it over could make a new store where there must be none. */
function read(path: string): (Record<string, unknown> & { readonly id: string }) | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    // EACCES: whoever may not look will be told so by what comes after.
    if (hasCode(error, "ENOENT", "ENOTDIR", "EACCES", "EPERM", "ELOOP")) return undefined;
    throw error;
  }
  try {
    const mark: unknown = JSON.parse(text);
    if (typeof mark === "object" && mark !== null && typeof (mark as { id?: unknown }).id === "string")
      return mark as Record<string, unknown> & { readonly id: string };
  } catch {
    // Said below.
  }
  throw unusable(`The file ${path} is damaged, so it is not known where the data is. Restore or remove it.`);
}

async function write(disk: Disk, path: string, mark: object): Promise<void> {
  await replaceFile(disk, path, Buffer.from(`${JSON.stringify(mark, null, 2)}\n`));
}

function unusable(message: string): ServiceError {
  return new ServiceError("STORE_UNUSABLE", message);
}
