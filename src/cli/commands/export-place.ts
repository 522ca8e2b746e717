import { link, lstat, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { CliFailure } from "../output/cli-failure.ts";
import { FOLDER_INDEX } from "../import/read-export.ts";

/** @throws {CliFailure} for a place that is taken, unless it may be replaced and holds what an export left there. */
export async function refuseTaken(target: string, isFolder: boolean, force: boolean): Promise<void> {
  const found = await lstat(target).catch(() => undefined);
  if (found === undefined) return;
  if (!force)
    throw new CliFailure(`${target} is there already; name another place, or replace it with --force.`);
  if (!found.isDirectory()) {
    if (isFolder) {
      throw new CliFailure(
        `${target} is a file, and Markdown and originals are written to a folder; name another place.`,
      );
    }
    return;
  }
  const index = await lstat(join(target, FOLDER_INDEX)).catch(() => undefined);
  if (!isFolder || index === undefined)
    throw new CliFailure(
      `${target} is a folder that no export made; it is not replaced. Name another place.`,
    );
}

/**
 * Gives what is complete its name.
 * @throws {CliFailure} for a place that was taken while the export ran, as `refuseTaken`; what is there stays.
 */
export async function putInPlace(
  partial: string,
  target: string,
  { isFolder, force }: { readonly isFolder: boolean; readonly force: boolean },
): Promise<void> {
  if (!force) return await (isFolder ? placeNewFolder : placeNewFile)(partial, target);
  await refuseTaken(target, isFolder, force);
  const replacesFolder = (await lstat(target).catch(() => undefined))?.isDirectory() === true;
  if (!replacesFolder) return await rename(partial, target);
  const old = `${target}.old-${process.pid}`;
  await rename(target, old);
  await rename(partial, target);
  await rm(old, { recursive: true, force: true });
}

/** A link never replaces what has the name, where a rename would. */
async function placeNewFile(partial: string, target: string): Promise<void> {
  try {
    await link(partial, target);
  } catch (error) {
    await refuseTakenMeanwhile(target, error);
    // A file system without links: FAT, and some of networks.
    return await rename(partial, target);
  }
  await rm(partial);
}

/** What an export wrote is never an empty folder, so that no system renames another one over it. */
async function placeNewFolder(partial: string, target: string): Promise<void> {
  await refuseTakenMeanwhile(target);
  try {
    await rename(partial, target);
  } catch (error) {
    await refuseTakenMeanwhile(target, error);
    throw error;
  }
}

async function refuseTakenMeanwhile(target: string, cause?: unknown): Promise<void> {
  if ((await lstat(target).catch(() => undefined)) === undefined) return;
  throw new CliFailure(
    `Something else came to be at ${target} while the export ran; it stays, and nothing of this export is left. ` +
      "Name another place, or replace it with --force.",
    { cause },
  );
}
