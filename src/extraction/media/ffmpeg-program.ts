import { access, constants } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { ServiceError } from "../../core/errors.ts";

/**
 * The file of a program on a search path as in `PATH`; undefined without one. Relative places, such as the working
 * directory, may be written to by others and are not searched.
 */
export async function findProgram(name: string, path: string): Promise<string | undefined> {
  const file = process.platform === "win32" ? `${name}.exe` : name;
  for (const folder of path.split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const candidate = join(folder, file);
    const isThere = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return candidate;
  }
  return undefined;
}

/**
 * Checks that a program that was named exists: a silent fallback would hide a mistake.
 *
 * @param setting a file, "auto" or "off".
 * @throws {ServiceError} INVALID_REQUEST.
 */
export async function checkNamedProgram(setting: string): Promise<void> {
  if (setting === "auto" || setting === "off") return;
  await access(setting, constants.X_OK).catch((cause: unknown) => {
    throw new ServiceError(
      "INVALID_REQUEST",
      `There is no program at ${setting}, which --ffmpeg names. Correct the path, or use auto or off.`,
      { cause },
    );
  });
}
