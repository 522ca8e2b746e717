import type { RecordingInput } from "../../core/documents/audio-decoder.ts";
import { claimOf, contradiction } from "../document-kind.ts";
import { openOriginal } from "../open-original.ts";
import {
  CONTAINER_LABELS,
  CONTAINER_NAMES,
  containerOf,
  type FoundContainer,
  HEAD_BYTES,
} from "./container.ts";

/**
 * The container of a recording, by its bytes; undefined for what is none.
 *
 * @throws {ServiceError} UNSUPPORTED_MEDIA_TYPE for a recording that is called something else.
 */
export async function recognise({ bytes, ...claim }: RecordingInput): Promise<FoundContainer | undefined> {
  const found = containerOf(await headOf(bytes.path));
  const { name } = claimOf(claim);
  if (found === undefined || name === undefined) return found;
  const known = name.replace(/^\./, "");
  const isClaimed = CONTAINER_NAMES.has(known)
    ? [undefined, found.container].includes(CONTAINER_NAMES.get(known))
    : /^(?:audio|video)\//.test(known);
  if (!isClaimed) throw contradiction(name, CONTAINER_LABELS[found.container]);
  return found;
}

async function headOf(path: string): Promise<Uint8Array> {
  const file = await openOriginal(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
