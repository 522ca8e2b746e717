import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Progress } from "./import-item.ts";

export type Bytes = AsyncIterable<Uint8Array>;

/** The bytes of a file, counted as they are read. */
export async function* readFileBytes(path: string, progress: Progress): Bytes & AsyncGenerator<Uint8Array> {
  progress.total += (await stat(path)).size;
  for await (const chunk of createReadStream(path, { highWaterMark: 64 * 1_024 })) {
    yield chunk as Buffer;
    progress.done += (chunk as Buffer).length;
  }
}
