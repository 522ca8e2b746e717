import { fileURLToPath } from "node:url";

/** The built file of that path below `src`, also when the sources run as they are, which tests do. */
export function builtFile(path: string): string {
  const isSource = import.meta.url.endsWith(".ts");
  return fileURLToPath(new URL(isSource ? `../../dist/${path}` : `../${path}`, import.meta.url));
}
