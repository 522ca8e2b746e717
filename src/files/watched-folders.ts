/**
 * The folders that the daemon follows, and how it gets on with them: two files in the data directory. The command line alone
 * writes the first, so that nobody who may only send requests can have files read.
 */
import { statSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { isObject } from "../config/narrow.ts";
import { readJson, writeJson } from "./own-files.ts";

export interface WatchedFolder {
  /** Absolute, without links. */
  readonly path: string;
  /** Of the documents of its files. */
  readonly user?: string;
  readonly project?: string;
  readonly tag?: string[];
  readonly language?: string;
}

export interface FolderStatus {
  /** `kept`: the folder is gone or all its files are, and their documents stay. */
  readonly state: "followed" | "kept";
  /** Files that are ingested or tried. */
  readonly files: number;
  /** Of them, those that are still to be ingested. */
  readonly waiting: number;
  /** Documents whose files are gone, while nothing is removed. */
  readonly kept: number;
  /** Documents moved to the trash, the latest last: one that a person restores has no file, and stays. */
  readonly removed?: readonly string[];
  /** RFC 3339. */
  readonly looked_at: string;
  readonly failed: readonly { readonly path: string; readonly reason: string }[];
}

const FOLDERS = "watched-folders.json";
const STATUS = "watch-status.json";

/** Whether a path is a folder or lies in it; both absolute. */
export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && resolve(folder, way) === path);
}

/** In the order in which they were added. @throws {Error} if the file is damaged. */
export function readWatchedFolders(dataDir: string): WatchedFolder[] {
  const found = readJson(join(dataDir, FOLDERS));
  if (found === undefined) return [];
  const isFolder = (each: unknown): each is WatchedFolder =>
    isObject(each) && typeof each["path"] === "string";
  if (Array.isArray(found) && found.every(isFolder)) return found;
  throw new Error(`${join(dataDir, FOLDERS)} is damaged; remove it, and add the folders again.`);
}

export function writeWatchedFolders(dataDir: string, folders: readonly WatchedFolder[]): void {
  writeJson(join(dataDir, FOLDERS), folders);
}

/** Changes when the list of folders does; 0 without one. */
export const watchedFoldersTime = (dataDir: string): number =>
  statSync(join(dataDir, FOLDERS), { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** By path; empty where it was never looked, or the file is damaged. */
export function readWatchStatus(dataDir: string): Readonly<Record<string, FolderStatus>> {
  const found = readJson(join(dataDir, STATUS));
  return isObject(found) ? (found as Record<string, FolderStatus>) : {};
}

export function writeWatchStatus(dataDir: string, status: Readonly<Record<string, FolderStatus>>): void {
  writeJson(join(dataDir, STATUS), status);
}
