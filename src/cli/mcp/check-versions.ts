import { CliFailure } from "../output/cli-failure.ts";

/**
 * Compares the version of this program with that of the daemon that runs. Until 1.0 a minor version may change the API.
 *
 * @param warn is told of a difference that does no harm.
 * @throws {CliFailure} that says which of the two to upgrade, where they may not understand each other.
 */
export function checkVersions(own: string, daemon: string, warn: (text: string) => void): void {
  if (own === daemon) return;
  const order = compareVersions(own, daemon);
  const remedy =
    order > 0
      ? `The daemon that runs is memoryd ${daemon}, and this is ${own}: restart it with \`memoryd restart\`.`
      : `The daemon that runs is memoryd ${daemon}, and this is ${own}: upgrade the program that the agent starts, then restart the agent.`;
  if (seriesOf(own) === seriesOf(daemon)) warn(remedy);
  else throw new CliFailure(remedy);
}

/** Versions of one series understand each other. */
function seriesOf(version: string): string {
  const [major = 0, minor = 0] = partsOf(version);
  return major === 0 ? `0.${minor}` : String(major);
}

function partsOf(version: string): number[] {
  return version.split(/[.+-]/, 3).map(Number);
}

/** Above 0 where the first is newer, below where it is older. */
export function compareVersions(a: string, b: string): number {
  const [one, other] = [partsOf(a), partsOf(b)];
  for (const [i, part] of one.entries()) {
    const difference = part - (other[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
