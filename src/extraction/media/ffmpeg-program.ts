import { access, constants } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { ServiceError } from "../../core/errors.ts";

/** Where the system looks for programs. */
export interface SearchPlaces {
  /** As the variable `PATH` has it. */
  readonly path: string;
  readonly platform: NodeJS.Platform;
}

/**
 * The file of a program, as the system would find it, but for the working directory and other relative places, which
 * may be anybody's. Undefined where there is none.
 */
export async function findProgram(
  name: string,
  { path, platform }: SearchPlaces,
): Promise<string | undefined> {
  const file = platform === "win32" ? `${name}.exe` : name;
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
 * A program that was named must be there: falling back in silence would hide a slip.
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
