/** An object, and no array. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** True when a file could not be read because it, or a folder on the way to it, is not there. */
export const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");

/** An error's message, for a sentence. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
