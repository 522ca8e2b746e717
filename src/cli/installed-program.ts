import { realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Fields } from "../config/narrow.ts";
import { readJson } from "../files/own-files.ts";
import { CliFailure } from "./output/output.ts";

/** This program as others may start it later, from anywhere: two absolute paths. */
export interface InstalledProgram {
  readonly node: string;
  /** The launcher, `bin/memoryd.js`. */
  readonly launcher: string;
}

/** Folders that package runners fetch a program into for one run, and clear when they like. */
const PASSING_FOLDER = /[/\\](?:_npx|dlx|dlx-[^/\\]+|bunx-[^/\\]+)[/\\]/;

/** The program that runs. @throws {CliFailure} if it lies in a cache that may be cleared any day. */
export function installedProgram(
  command: string,
  { node = process.execPath, launcher = launcherPath() }: Partial<InstalledProgram> = {},
): InstalledProgram {
  if (PASSING_FOLDER.test(launcher))
    throw new CliFailure(
      `memoryd runs from a cache (${dirname(launcher)}) that is cleared now and then, so nothing can rely on it; install it with \`npm install --global memoryd\` and then run \`${command}\`.`,
    );
  return { node, launcher };
}

/** The launcher of this process, without links. */
export function launcherPath(): string {
  const path = process.argv[1];
  if (path === undefined) throw new TypeError("the path of the launcher is not known");
  return realpathSync(resolve(path));
}

/** The version of the package that a launcher belongs to; undefined if there is none that can be read. */
export function versionAt(launcher: string): string | undefined {
  try {
    const manifest = Object(readJson(join(dirname(launcher), "..", "package.json"))) as Fields;
    return typeof manifest["version"] === "string" ? manifest["version"] : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Compares the version of this program with that of the daemon that runs. Until 1.0 a minor version may change the API.
 * @throws {CliFailure} that says which of the two to upgrade, where they may not understand each other.
 */
export function checkVersions(own: string, daemon: string): void {
  if (seriesOf(own) === seriesOf(daemon)) return;
  const remedy =
    compareVersions(own, daemon) > 0
      ? "restart it with `memoryd restart`"
      : "upgrade the program that the agent starts, then restart the agent";
  throw new CliFailure(`The daemon that runs is memoryd ${daemon}, and this is ${own}: ${remedy}.`);
}

function seriesOf(version: string): string {
  const [major = 0, minor = 0] = partsOf(version);
  return major === 0 ? `0.${minor}` : String(major);
}

const partsOf = (version: string): number[] => version.split(/[.+-]/, 3).map(Number);

/** Above 0 where the first is newer, below where it is older. */
export function compareVersions(a: string, b: string): number {
  const [one, other] = [partsOf(a), partsOf(b)];
  for (const [i, part] of one.entries()) {
    const difference = part - (other[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
