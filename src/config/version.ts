import { readFileSync } from "node:fs";

/** The version of this package, such as `0.1.0`. */
export const VERSION = readVersion(new URL("../../package.json", import.meta.url));

function readVersion(manifest: URL): string {
  const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };
  return version;
}
