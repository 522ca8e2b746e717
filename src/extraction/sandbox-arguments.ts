import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, parse, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** The packages that parse; theirs are found from them. */
const PARSERS = [
  "pdfjs-dist",
  "mammoth",
  "@mozilla/readability",
  "linkedom",
  "htmlparser2",
  "marked",
  "chardet",
];

/**
 * Arguments of a Node that may read the program's code and nothing else: write no file, start no process, load no native
 * addon. (Node's permissions do not cover the network.)
 *
 * @param worker the built file it will run.
 * @param heapBytes of JavaScript objects; buffers are not among them.
 */
export function sandboxArguments(worker: string, heapBytes: number): string[] {
  return [
    `--max-old-space-size=${Math.round(heapBytes / 1024 ** 2)}`,
    permissionFlag(process.versions.node),
    ...readableFolders(worker).map((folder) => `--allow-fs-read=${join(folder, "*")}`),
    "--allow-worker",
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
 * The folder of this package and every `node_modules` that it or a parser lies in. Packages may be links (pnpm) to
 * where they are: both names count, because Node checks the one it is given.
 */
export function readableFolders(worker: string): string[] {
  const root = packageRoot(worker);
  const require = createRequire(worker);
  const places = PARSERS.flatMap((name) => {
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

function packageRoot(worker: string): string {
  // dist/extraction/extraction-worker.js
  return dirname(dirname(dirname(worker)));
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

function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

/** The built file beside this module, or in `dist` when the sources run as they are, which tests do. */
export function builtFile(name: string): string {
  const isSource = import.meta.url.endsWith(".ts");
  return fileURLToPath(new URL(isSource ? `../../dist/extraction/${name}` : `./${name}`, import.meta.url));
}
