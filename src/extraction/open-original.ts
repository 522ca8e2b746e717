import { type FileHandle, open } from "node:fs/promises";
import { ServiceError } from "../core/errors.ts";

/** Opens a file to be read that was sent or fetched before. @throws {ServiceError} NOT_FOUND where it is gone. */
export async function openOriginal(path: string): Promise<FileHandle> {
  return await open(path, "r").catch((cause: unknown) => {
    if ((cause as NodeJS.ErrnoException).code !== "ENOENT") throw cause;
    throw new ServiceError("NOT_FOUND", "The file is not on the disk any more. Send it again.", { cause });
  });
}
