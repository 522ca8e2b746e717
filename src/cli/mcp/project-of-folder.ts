import { createHash } from "node:crypto";
import { readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const MAX_CLONES = 8;
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

const workFolderOf = (repository: string): string =>
  basename(repository) === ".git" ? dirname(repository) : repository;

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
  for (let current = realPath(resolve(folder)); ; current = dirname(current)) {
    const found = gitFolderAt(current);
    if (found !== undefined || dirname(current) === current) return found;
  }
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

const readText = (path: string): string | undefined => orUndefined(() => readFileSync(path, "utf8"));

const realPath = (path: string): string => orUndefined(() => realpathSync.native(path)) ?? path;

function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function plain(name: string): string {
  const text = name.replace(/\p{Cc}+/gu, " ").trim();
  return Array.from(text).slice(0, MAX_NAME).join("");
}

/** The folder that a client's root names; undefined for anything but a file URL of an absolute path. */
export const folderOfRoot = (uri: string): string | undefined => orUndefined(() => fileURLToPath(uri));

/** A remote's address in its parts: `ssh://…`, `https://…`, or `user@host:path` as ssh takes it. */
const WITH_SCHEME = /^([a-z][a-z0-9+.-]*):\/\/(?:[^/@]*@)?(\[[0-9a-f:.]+\]|[^/:]+)(?::(\d+))?\/(.*)$/i;
const LIKE_SSH = /^(?:[^/@\s]+@)?(\[[0-9a-f:.]+\]|[^/:\s]{2,}):(?!\/\/)(.+)$/i;

/** Ports that say nothing, since each scheme has its own. Any port of ssh is another door to the same repository. */
const USUAL_PORTS: Readonly<Record<string, string>> = { https: "443", http: "80", git: "9418" };
/** Doors that a forge has beside its name, for networks that let nothing else out. */
const SAME_HOST: Readonly<Record<string, string>> = {
  "ssh.github.com": "github.com",
  "altssh.gitlab.com": "gitlab.com",
  "altssh.bitbucket.org": "bitbucket.org",
};

/**
 * The name of a repository by its remote, `host/path`, the same however it was cloned: without scheme, user, password,
 * `.git` and the ends of paths. Undefined for a remote on this machine.
 */
export function nameOfRemote(remote: string): string | undefined {
  const text = remote.trim();
  const url = WITH_SCHEME.exec(text);
  const ssh = url === null ? LIKE_SSH.exec(text) : null;
  const scheme = (url?.[1] ?? "ssh").toLowerCase();
  const host = (url?.[2] ?? ssh?.[1])?.toLowerCase();
  const path = pathIn(url?.[4] ?? ssh?.[2] ?? "");
  if (scheme === "file" || host === undefined || path === "") return undefined;
  const port = url?.[3];
  const keepsPort = port !== undefined && !/ssh/.test(scheme) && USUAL_PORTS[scheme] !== port;
  return `${SAME_HOST[host] ?? host}${keepsPort ? `:${port}` : ""}/${path}`;
}

function pathIn(text: string): string {
  return text
    .replace(/[?#][^]*$/, "")
    .replace(/^[~/]+/, "")
    .replace(/(?<!\/)\/+$/, "")
    .replace(/\.git$/i, "")
    .replace(/\/{2,}/g, "/");
}

/**
 * The address of a repository's `origin`, else of the remote that stands first, in the text of its configuration. Other
 * files that it includes are not looked at.
 */
export function remoteIn(config: string): string | undefined {
  const urls = new Map<string, string>();
  let remote: string | undefined;
  for (const line of config.split(/\r?\n/)) {
    const section = /^\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/.exec(line);
    if (section !== null) remote = section[1]?.toLowerCase() === "remote" ? section[2] : undefined;
    const setting = /^(?:\s*\[[^\]]*\])?\s*url\s*=\s*(.*?)\s*$/i.exec(line);
    const value = setting?.[1] === undefined ? "" : valueOf(setting[1]);
    if (remote !== undefined && value !== "" && !urls.has(remote)) urls.set(remote, value);
  }
  return urls.get("origin") ?? urls.values().next().value;
}

function valueOf(text: string): string {
  const quoted = /^"((?:[^"\\]|\\.)*)"/.exec(text);
  return quoted?.[1] === undefined
    ? text.replace(/(?<!\s)\s+[#;][^]*$/, "")
    : quoted[1].replace(/\\(.)/g, "$1");
}
