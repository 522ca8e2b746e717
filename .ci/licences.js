/** Prints every package that an installation has, by licence; ends with code 1 where one names none. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const found = new Map();

function read(folder) {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

/** Where `require` finds a package from a folder; undefined for one that was left out. */
function folderOf(name, from) {
  for (let at = from; ; at = join(at, "..")) {
    const folder = join(at, "node_modules", name);
    try {
      read(folder);
      return folder;
    } catch {
      if (at === join(at, "..")) return undefined;
    }
  }
}

function visit(folder) {
  const { dependencies, optionalDependencies } = read(folder);
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const at = folderOf(name, folder);
    if (at === undefined || found.has(at)) continue;
    const { version, license, licenses } = read(at);
    found.set(at, { name: `${name} ${version}`, licence: license?.type ?? license ?? licenses?.[0]?.type });
    visit(at);
  }
}

visit(process.cwd());
const byLicence = new Map();
for (const { name, licence = "none" } of found.values())
  byLicence.set(licence, [...(byLicence.get(licence) ?? []), name]);
for (const [licence, packages] of Array.from(byLicence).sort(([, a], [, b]) => b.length - a.length)) {
  console.log(`${licence} (${packages.length})`);
  for (const name of packages.sort()) console.log(`  ${name}`);
}
if (byLicence.has("none")) process.exitCode = 1;
