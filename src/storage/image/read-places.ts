import type { DiskFile } from "../files/disk.ts";

/** A row that the system has in memory takes 2 µs: what is left by then waits for the disk, and is read in other threads. */
const READ_HERE_MS = 2;

/** What stands at some places of files. @throws whatever the disk says. */
export async function readPlaces(
  places: readonly { readonly file: DiskFile; readonly place: number; readonly length: number }[],
): Promise<Buffer[]> {
  const bytes = Buffer.allocUnsafeSlow(places.reduce((sum, { length }) => sum + length, 0));
  const end = performance.now() + READ_HERE_MS;
  const waiting: Promise<number>[] = [];
  let start = 0;
  const pieces = places.map(({ file, place, length }) => {
    const piece = bytes.subarray(start, (start += length));
    if (performance.now() < end) file.readSync(piece, place);
    else waiting.push(file.read(piece, place));
    return piece;
  });
  await Promise.all(waiting);
  return pieces;
}
