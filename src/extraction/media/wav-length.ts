import { readSync } from "node:fs";
import { openOriginal } from "../open-original.ts";
import { readWavFormat } from "./wav.ts";

/** True for a WAV file of plain samples that does not say how many there are, as one that was written to a pipe. */
export async function isOfUnknownLength(path: string): Promise<boolean> {
  await using file = await openOriginal(path);
  const { size } = await file.stat();
  const format = readWavFormat((buffer, at) => readSync(file.fd, buffer, 0, buffer.length, at), size);
  return format !== undefined && format.dataBytes === undefined;
}
