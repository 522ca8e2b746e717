/** What a command loads before it can do anything: most of the time that it takes. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const SRC = resolve(import.meta.dirname, "../../src");
/** What imports are when they are run: neither types nor what an action loads by itself. */
const STATEMENTS = /^(?:import|export)(?!\s+type\b)\s[^;]*?from\s*"([^"]+)"|^import\s*"([^"]+)"/gm;
const SMALL = new Set(["commander", "env-paths", "ignore", "jsonc-parser", "smol-toml"]);
const ACTIONS = /\bawait import\(\s*"([^"]+)"/g;

/** Actions that cannot do without schemas, YAML, a log of the daemon's kind or the store; and requests over HTTPS. */
const HEAVY = [
  "cli/agents/agent-entry.ts",
  "cli/agents/install.ts",
  "cli/commands/export.ts",
  "cli/commands/import-transcripts.ts",
  "cli/commands/import.ts",
  "cli/commands/start.ts",
  "cli/import/read-export.ts",
  "cli/mcp/serve-agent.ts",
  "daemon/add-model.ts",
  "daemon/backup-service.ts",
  "daemon/daemon.ts",
  "daemon/doctor.ts",
  "daemon/key-service.ts",
  "daemon/move-in.ts",
  "daemon/reach-database.ts",
  "daemon/salvage-store.ts",
  "daemon/stopped-store.ts",
  "daemon/system.ts",
  "undici",
];

/** Files and packages that are loaded with a file, itself among them. */
function loadedWith(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  const file = join(SRC, path);
  if (!existsSync(file)) return seen;
  for (const [, from, bare] of readFileSync(file, "utf8").matchAll(STATEMENTS)) {
    const specifier = from ?? bare ?? "";
    if (specifier.startsWith("node:")) continue;
    if (specifier.startsWith(".")) {
      loadedWith(relative(SRC, resolve(dirname(file), specifier)).replaceAll("\\", "/"), seen);
    } else seen.add(specifier);
  }
  return seen;
}

function packagesOf(path: string): string[] {
  return [...loadedWith(path)].filter((name) => !name.endsWith(".ts")).sort();
}

/** What the actions of a file load. */
function actionsOf(path: string): string[] {
  const text = readFileSync(join(SRC, path), "utf8");
  return Array.from(text.matchAll(ACTIONS), ([, target = ""]) =>
    target.startsWith(".")
      ? relative(SRC, resolve(SRC, dirname(path), target)).replaceAll("\\", "/")
      : target,
  );
}

describe("what is loaded", () => {
  it("is, before a command is known, what reads arguments and settings", () => {
    expect(packagesOf("cli/main.ts")).toEqual(["commander", "env-paths"]);
    const files = [...loadedWith("cli/main.ts")].filter((name) => name.endsWith(".ts"));
    expect(files).toContain("config/config.ts");
    expect(files).not.toContain("daemon/daemon.ts");
  });

  it("is for a hook, which an agent waits for at every prompt, little and nothing of the store", () => {
    const files = [...loadedWith("cli/hooks/run-hook.ts")].sort();
    expect(files.filter((name) => !name.startsWith("cli/"))).toEqual([
      "config/narrow.ts",
      "core/context/marked-lines.ts",
      "core/text/text-size.ts",
      "daemon/runtime-file.ts",
      "files/own-files.ts",
      "schemas/json-limits.ts",
      // Whether the daemon's process exists.
      "storage/files/process-identity.ts",
    ]);
  });

  it("is no large library for a command, but for those that need one", () => {
    const commands = [...loadedWith("cli/main.ts")].filter((name) => name.startsWith("cli/"));
    const actions = new Set(commands.flatMap(actionsOf));
    expect(actions.size).toBeGreaterThan(9);
    const heavy = [...actions].filter((path) =>
      (path.endsWith(".ts") ? packagesOf(path) : [path]).some((name) => !SMALL.has(name)),
    );
    expect(heavy.sort()).toEqual(HEAVY);
  });
});
