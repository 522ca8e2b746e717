import { createHash } from "node:crypto";
import { readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { nameOfRemote, remoteIn } from "./git-remote.ts";

const MAX_CLONES = 8;
/** Folders looked at on the way up; no path is deeper. */
const MAX_DEPTH = 256;
/** A project's name has 256 characters at most. */
const MAX_NAME = 200;
const MARK_CHARS = 8;

/**
 * The project of a folder: the remote of the git repository it lies in, so that clones and worktrees of one repository
 * agree; for one without a remote its main folder's name with a mark of its path. Undefined outside of a repository.
 * Reads files only: git itself would run what a repository's configuration tells it to.
 */
export function projectOfFolder(folder: string): string | undefined {
  const repository = findRepository(folder);
  return repository === undefined ? undefined : projectOfRepository(repository, MAX_CLONES);
}

/** @param clones how many clones of clones on this machine are still followed. */
function projectOfRepository(repository: string, clones: number): string {
  const remote = remoteIn(readText(join(repository, "config")) ?? "");
  const name = remote === undefined ? undefined : nameOfRemote(remote);
  if (name !== undefined) return plain(name);
  const isPath = remote !== undefined && /^(?:file:\/\/|[/\\.]|[a-z]:[/\\])/i.test(remote);
  if (isPath && clones > 0) {
    const origin = resolve(workFolderOf(repository), remote.replace(/^file:\/\/(?:localhost)?/i, ""));
    const known = repositoryAt(origin);
    return known === undefined ? namedByPath(origin) : projectOfRepository(known, clones - 1);
  }
  return namedByPath(workFolderOf(repository));
}

function workFolderOf(repository: string): string {
  return basename(repository) === ".git" ? dirname(repository) : repository;
}

/** The name of a folder that was named as a project, a repository or not. */
export function namedByPath(path: string): string {
  const real = realPath(path);
  const mark = createHash("sha256").update(real).digest("hex").slice(0, MARK_CHARS);
  const name = plain(basename(real).replace(/\.git$/, "")) || "root";
  return `${name}~${mark}`;
}

/** The same of one folder alone, which may be a repository without a working tree. */
function repositoryAt(folder: string): string | undefined {
  const found = gitFolderAt(folder);
  if (found !== undefined) return found;
  const isBare = [join(folder, "HEAD"), join(folder, "config")].every((file) => readText(file) !== undefined);
  return isBare ? realPath(folder) : undefined;
}

/** The folder that holds a repository's configuration, worktrees' too. */
function findRepository(folder: string): string | undefined {
  let current = realPath(resolve(folder));
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const found = gitFolderAt(current);
    if (found !== undefined) return found;
    const parent = dirname(current);
    if (parent === current) return undefined;
    current = parent;
  }
  return undefined;
}

function gitFolderAt(folder: string): string | undefined {
  const path = join(folder, ".git");
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory();
  if (isFolder === undefined) return undefined;
  // A worktree and a submodule have a file that names the folder.
  const named = isFolder ? undefined : /^gitdir:[ \t]*(\S.*)$/m.exec(readText(path) ?? "")?.[1]?.trim();
  if (!isFolder && named === undefined) return undefined;
  const own = named === undefined ? path : resolve(folder, named);
  const common = readText(join(own, "commondir"))?.trim();
  const repository = common === undefined || common === "" ? own : resolve(own, common);
  return readText(join(repository, "config")) === undefined ? undefined : realPath(repository);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

function plain(name: string): string {
  const text = name.replace(/\p{Cc}+/gu, " ").trim();
  return Array.from(text).slice(0, MAX_NAME).join("");
}

/** The folder that a client's root names; undefined for anything but a file URL of an absolute path. */
export function folderOfRoot(uri: string): string | undefined {
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}
