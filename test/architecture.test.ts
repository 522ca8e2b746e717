/** The rules of src/README.md that a machine can check: who may import whom, and what no file may hold. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, posix, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const SRC = resolve(import.meta.dirname, "../src");
const MAX_LINES = 400;

/** Folder → folders it may import, besides itself. A folder not listed here fails. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  schemas: [],
  storage: ["core"],
  sandbox: [],
  models: ["core", "sandbox"],
  extraction: ["core", "sandbox", "files"],
  files: ["config", "core", "schemas"],
  http: ["core", "schemas"],
  mcp: ["core", "schemas"],
  client: ["schemas"],
  console: ["client"],
  config: ["core", "http", "storage"],
  daemon: ["config", "core", "schemas", "storage", "models", "extraction", "sandbox", "files", "http", "mcp"],
  cli: ["daemon", "files", "config", "core", "models", "schemas", "client"],
};
/** The command line starts the daemon; nothing else in the daemon's room knows how it is built. */
const ONLY_CLI_IMPORTS = "daemon/daemon.ts";
/** What reads the contents of foreign files: for processes without rights, which the daemon starts. */
const PARSERS =
  /^(?:pdfjs-dist|mammoth|@mozilla\/readability|linkedom|htmlparser2|marked|postal-mime|tesseract\.js-core|@ffmpeg\/.*)(?:\/|$)/;
/** Clients that run inside of a framework, which their user has installed. */
const FRAMEWORKS = "client/frameworks/";

interface SourceFile {
  /** Relative to src, with `/`. */
  readonly path: string;
  readonly folder: string;
  readonly text: string;
  /** As `text`, without comments and string contents. */
  readonly code: string;
  readonly packages: readonly string[];
  /** Files of ours, relative to src. */
  readonly imports: readonly string[];
}

const files = (readdirSync(SRC, { recursive: true }) as string[])
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => /\.tsx?$/.test(path))
  .map(readSource);

function readSource(path: string): SourceFile {
  const text = readFileSync(resolve(SRC, path), "utf8");
  const statements = text.matchAll(
    /^(?:import|export)\s[^;]*?from\s*"([^"]+)"|\bimport\(\s*"([^"]+)"|^import\s*"([^"]+)"/gm,
  );
  const specifiers = Array.from(statements, ([, from, dynamic, bare]) => from ?? dynamic ?? bare ?? "");
  return {
    path,
    folder: folderOf(path),
    text,
    code: codeOf(text),
    packages: specifiers.filter((specifier) => !specifier.startsWith(".")),
    imports: specifiers
      .filter((specifier) => specifier.startsWith("."))
      .map((specifier) => posix.join(dirname(path), specifier)),
  };
}

/** The package that a specifier names, without the path in it. */
const packageOf = (specifier: string): string => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? "";

function folderOf(path: string): string {
  const [folder = "", file] = path.split("/");
  return file === undefined ? "root" : folder;
}

function codeOf(text: string): string {
  return text.replace(/"(?:[^"\\\n]|\\.)*"|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, (match) =>
    match.startsWith('"') ? '""' : "",
  );
}

/** The files, as `path: detail`, for which `find` names something that must not be there. */
function offences(find: (file: SourceFile) => readonly string[]): string[] {
  return files.flatMap((file) => find(file).map((detail) => `${file.path}: ${detail}`));
}

describe("src", () => {
  it("has something to check", () => {
    const paths = files.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(["config/config.ts", "core/ports.ts", "cli/main.ts"]));
    expect(files.flatMap(({ imports }) => imports).length).toBeGreaterThan(files.length);
  });

  it("has no folder but those with a place in the layers", () => {
    expect(Object.keys(MAY_IMPORT)).toEqual(expect.arrayContaining(files.map(({ folder }) => folder)));
  });

  it("imports along the arrows only", () => {
    const wrong = offences(({ folder, imports }) => imports.filter((target) => !mayImport(folder, target)));
    expect(wrong).toEqual([]);
  });

  it("imports files that exist, by their full name", () => {
    const known = new Set(files.map(({ path }) => path));
    expect(offences(({ imports }) => imports.filter((target) => !known.has(target)))).toEqual([]);
  });

  it("has no import cycles", () => {
    expect(findCycle(new Map(files.map(({ path, imports }) => [path, imports])))).toEqual([]);
  });

  it("reads foreign files outside of the daemon", () => {
    const graph = new Map(files.map(({ path, imports }) => [path, imports]));
    const inDaemon = reached(graph, ONLY_CLI_IMPORTS);
    const parsing = offences(({ path, packages }) => {
      if (!inDaemon.has(path)) return [];
      return packages.filter((name) => PARSERS.test(name));
    });
    expect(parsing).toEqual([]);
  });

  it("makes no folder by `recursive`, which never ends where a parent refuses with ENOENT", () => {
    const recursive = ({ code }: SourceFile) => code.match(/\bmkdir(?:Sync)?\([^;]*?recursive/g) ?? [];
    expect(offences(recursive)).toEqual([]);
  });

  it("keeps the core free of packages and of Node, the schemas of all but TypeBox", () => {
    const foreign = offences(({ folder, packages }) => {
      if (folder === "core") return packages;
      return folder === "schemas" ? packages.filter((name) => !/^typebox(\/|$)/.test(name)) : [];
    });
    expect(foreign).toEqual([]);
    const globals = /\b(process|Buffer|__dirname)\s*\./g;
    expect(offences(({ folder, code }) => (folder === "core" ? matches(code, globals) : []))).toEqual([]);
  });

  it("runs TypeBox from the one file that the build makes of it", () => {
    const running = /^(?:import|export)(?!\s+type\b)\s[^;]*?from\s*"typebox[^"]*"/gm;
    const direct = offences(({ path, text }) =>
      path === "schemas/typebox.ts" ? [] : matches(text, running),
    );
    expect(direct).toEqual([]);
  });

  it("ships a client that imports nothing at run time but its own files, and clients for frameworks", () => {
    const statements = /^(?:import|export)(?!\s+type\b)\s[^;]*?from\s*"([^"]+)"|\bimport\(/gm;
    const foreign = offences(({ folder, path, text }) =>
      folder === "client" && !path.startsWith(FRAMEWORKS)
        ? matches(text, statements).filter((found) => !/"\.\/[^"]+"$/.test(found))
        : [],
    );
    expect(foreign).toEqual([]);
    const ofFrameworks = files.filter(({ path }) => path.startsWith(FRAMEWORKS));
    const { peerDependencies } = JSON.parse(readFileSync(resolve(SRC, "../package.json"), "utf8")) as {
      peerDependencies: Readonly<Record<string, string>>;
    };
    for (const { path, packages, imports } of ofFrameworks) {
      expect({
        path,
        missing: packages.filter((name) => !Object.hasOwn(peerDependencies, packageOf(name))),
      }).toEqual({
        path,
        missing: [],
      });
      expect(
        imports.filter((target) => !/^client\/|^schemas\/(?:agent-tools|text-rules)\.ts$/.test(target)),
      ).toEqual([]);
    }
    const node = /\b(process|Buffer|require|__dirname)\b/g;
    expect(offences(({ folder, code }) => (folder === "client" ? matches(code, node) : []))).toEqual([]);
  });

  it("reads settings from the environment in config/config.ts only, and little else elsewhere", () => {
    /** Variables of other programs: NO_COLOR, EDITOR, folders of agents and of systemd. */
    const others = [
      "output/output.ts",
      "commands/changes.ts",
      "agents/known-agents.ts",
      "service/service.ts",
    ];
    const may = new Set(["config/config.ts", ...others.map((path) => `cli/${path}`)]);
    const reading =
      /process\s*\.\s*env\b|process\s*\[|import\s*\{[^}]*\benv\b[^}]*\}\s*from\s*"node:process"/g;
    expect(offences(({ path, text }) => (may.has(path) ? [] : matches(text, reading)))).toEqual([]);
  });

  it("writes to the terminal in cli/output/output.ts only", () => {
    const writing = /\bconsole\s*\.|process\s*\.\s*std(out|err)\s*\.\s*write/g;
    expect(
      offences(({ path, code }) => (path === "cli/output/output.ts" ? [] : matches(code, writing))),
    ).toEqual([]);
  });

  it("has no `any`, no enum and no namespace but declared ones", () => {
    const loose =
      /[:<|&,]\s*any\b(?!\s*[:?(])|\bas\s+any\b|^\s*(export\s+)?(const\s+)?(enum|namespace)\s+\w+\s*\{/gm;
    expect(offences(({ code }) => matches(code, loose))).toEqual([]);
  });

  it("names its files in kebab case, after what is in them", () => {
    const vague = /^(index|types|utils?|common|helpers?|manager)\.ts$|-(manager|helpers?|utils?)\.ts$/;
    const wrong = offences(({ path }) => {
      const name = path.split("/").at(-1) ?? "";
      return /^[a-z0-9]+(-[a-z0-9]+)*\.tsx?$/.test(name) || (name === "vite.config.ts" && !vague.test(name))
        ? []
        : [name];
    });
    expect(wrong).toEqual([]);
  });

  it(`has no file of more than ${MAX_LINES} lines`, () => {
    const long = offences(({ text }) => {
      const lines = text.split("\n").length - 1;
      return lines > MAX_LINES ? [`${lines} lines`] : [];
    });
    expect(long).toEqual([]);
  });
});

function mayImport(folder: string, target: string): boolean {
  if (target === ONLY_CLI_IMPORTS && folder !== "cli") return false;
  const targetFolder = folderOf(target);
  return targetFolder === folder || (MAY_IMPORT[folder] ?? []).includes(targetFolder);
}

function matches(text: string, pattern: RegExp): string[] {
  return Array.from(text.matchAll(pattern), ([match]) => match.trim());
}

describe("findCycle", () => {
  it("names the files of a cycle in order, and none where there is none", () => {
    const cycle = new Map([
      ["a", ["b"]],
      ["b", ["c", "d"]],
      ["c", []],
      ["d", ["b"]],
    ]);
    expect(findCycle(cycle)).toEqual(["b", "d", "b"]);
    expect(
      findCycle(
        new Map([
          ["a", ["b", "c"]],
          ["b", ["c"]],
          ["c", []],
        ]),
      ),
    ).toEqual([]);
  });
});

/** A file and all that it imports, directly or not. */
function reached(graph: ReadonlyMap<string, readonly string[]>, start: string): Set<string> {
  const found = new Set([start]);
  for (const path of found) for (const next of graph.get(path) ?? []) found.add(next);
  return found;
}

/** The files along the first cycle of imports, its first one repeated at the end; empty if there is none. */
function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): string[] => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (done.has(path)) return [];
    for (const next of graph.get(path) ?? []) {
      const cycle = visit(next, [...trail, path]);
      if (cycle.length > 0) return cycle;
    }
    done.add(path);
    return [];
  };
  for (const path of graph.keys()) {
    const cycle = visit(path, []);
    if (cycle.length > 0) return cycle;
  }
  return [];
}
