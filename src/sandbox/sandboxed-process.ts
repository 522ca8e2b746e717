import { type ChildProcess, fork, type StdioOptions } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, parse, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { behind, type Walls } from "./walls.ts";

export interface Sandbox {
  /** The built file it will run. */
  readonly worker: string;
  /** For JavaScript objects, without buffers. */
  readonly heapBytes: number;
  /** Packages that it imports directly. */
  readonly packages: readonly string[];
  /** Further folders it may read. */
  readonly folders?: readonly string[];
  /** Whether it may load native addons, which no permission binds. */
  readonly hasAddons?: boolean;
}

/** The built file of that path below `src`, also when the sources run as they are, which tests do. */
export function builtFile(path: string): string {
  const isSource = import.meta.url.endsWith(".ts");
  return fileURLToPath(new URL(isSource ? `../../dist/${path}` : `../${path}`, import.meta.url));
}

/** Starts a Node with its sandbox's rights, behind the walls. @throws {Error} if the built worker is missing. */
export function forkSandboxed(
  sandbox: Sandbox,
  walls: Walls | undefined,
  {
    args = [],
    env = {},
    stdio,
  }: { readonly args?: readonly string[]; readonly env?: NodeJS.ProcessEnv; readonly stdio: StdioOptions },
): ChildProcess {
  if (!existsSync(sandbox.worker)) throw new Error(`${sandbox.worker} is missing: run "npm run build" first`);
  // To resolve a link, Node reads every folder on the way, which the sandbox forbids.
  const worker = realpathSync.native(sandbox.worker);
  const node = behind(walls, process.execPath, sandboxArguments({ ...sandbox, worker }));
  const [execPath, ...execArgv] = node;
  return fork(worker, args, {
    execPath,
    execArgv,
    detached: walls !== undefined,
    serialization: "advanced",
    env,
    stdio,
  });
}

/**
 * Arguments of a Node that may read the program's code and nothing else: write no file, start no process, load no native
 * addon. Node's permissions do not cover the network and signals: see `Walls`.
 */
export function sandboxArguments(sandbox: Sandbox): string[] {
  const { worker, heapBytes, packages, folders = [], hasAddons } = sandbox;
  return [
    `--max-old-space-size=${Math.round(heapBytes / 1024 ** 2)}`,
    permissionFlag(process.versions.node),
    ...[...readableFolders(worker, packages), ...folders].map(
      (folder) => `--allow-fs-read=${join(folder, "*")}`,
    ),
    "--allow-worker",
    ...(hasAddons === true ? ["--allow-addons"] : []),
    "--no-warnings",
  ];
}

/** The permission model left its experiment with Node 22.13 and 23.5. */
export function permissionFlag(version: string): string {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isStable = major >= 24 || (major === 23 && minor >= 5) || (major === 22 && minor >= 13);
  return isStable ? "--permission" : "--experimental-permission";
}

/**
 * The folder of this package and every `node_modules` that holds it or one of the packages. Packages may be links (pnpm): both
 * names count, because Node checks the one it is given.
 */
export function readableFolders(worker: string, packages: readonly string[]): string[] {
  const root = packageRoot(worker);
  const require = createRequire(worker);
  const places = packages.flatMap((name) => {
    try {
      return [require.resolve(name)];
    } catch {
      // Only for `import`: it lies where the others do.
      return (require.resolve.paths(name) ?? [])
        .map((folder) => join(folder, name))
        .filter((path) => existsSync(path));
    }
  });
  const folders = [root, ...[worker, ...places].flatMap(moduleFolders)];
  return Array.from(new Set(folders.flatMap((folder) => [folder, realOf(folder)]))).filter(
    (folder, _, all) => !all.some((other) => folder !== other && folder.startsWith(other + sep)),
  );
}

/** The nearest folder above with a `package.json`, which Node itself reads to run the file. */
function packageRoot(worker: string): string {
  let folder = dirname(worker);
  while (!existsSync(join(folder, "package.json")) && folder !== dirname(folder)) folder = dirname(folder);
  return folder;
}

function moduleFolders(path: string): string[] {
  const folders: string[] = [];
  const { root } = parse(path);
  for (const start of new Set([path, realOf(path)])) {
    for (let folder = start; folder !== root && folder !== dirname(folder); folder = dirname(folder)) {
      if (folder.endsWith(`${sep}node_modules`)) folders.push(folder);
    }
  }
  return folders;
}

/** The path without links; as it is where it cannot be resolved, which is reported where it is used. */
export function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
