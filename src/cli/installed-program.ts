import { readFileSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { CliFailure } from "./output/cli-failure.ts";

/** This program as others may start it later, from anywhere: two absolute paths. */
export interface InstalledProgram {
  readonly node: string;
  /** The launcher, `bin/memoryd.js`. */
  readonly launcher: string;
}

/** Folders that package runners fetch a program into for one run, and clear when they like. */
const PASSING_FOLDER = /[/\\](?:_npx|dlx|dlx-[^/\\]+|bunx-[^/\\]+)[/\\]/;

/**
 * The program that runs.
 *
 * @param command what the user was about to do, such as `memoryd service install`.
 * @throws {CliFailure} if it lies in a cache that may be cleared any day.
 */
export function installedProgram(
  command: string,
  { node = process.execPath, launcher = launcherPath() }: Partial<InstalledProgram> = {},
): InstalledProgram {
  if (PASSING_FOLDER.test(launcher)) {
    throw new CliFailure(
      `memoryd runs from a cache (${dirname(launcher)}) that is cleared now and then, so nothing can rely on it; install it with \`npm install --global memoryd\` and then run \`${command}\`.`,
    );
  }
  return { node, launcher };
}

function launcherPath(): string {
  const path = process.argv[1];
  if (path === undefined) throw new TypeError("the path of the launcher is not known");
  return realpathSync(resolve(path));
}

/** The version of the package that a launcher belongs to; undefined if there is none. */
export function versionAt(launcher: string): string | undefined {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(dirname(launcher), "..", "package.json"), "utf8"));
    const version = (manifest as { readonly version?: unknown } | null)?.version;
    return typeof version === "string" ? version : undefined;
  } catch {
    return undefined;
  }
}
