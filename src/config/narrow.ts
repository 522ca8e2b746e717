/** The fields of an object that somebody else wrote. */
export type Fields = Readonly<Record<string, unknown>>;

/** An object, and no array. */
export const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** True when a file could not be read because it, or a folder on the way to it, is not there. */
export const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");

const SYSTEM_ERRORS: Readonly<Record<string, string>> = {
  EACCES: "this user may not use {path}",
  EPERM: "this user may not use {path}",
  EEXIST: "a file is in the way at {path}",
  EISDIR: "{path} is a folder",
  ELOOP: "the symbolic links of {path} lead in a circle",
  ENAMETOOLONG: "the name {path} is too long",
  ENOENT: "there is no {path}",
  ENOTDIR: "a file is where {path} needs a folder",
  EROFS: "{path} is on a read-only disk",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk is full",
};

/** An error's message, for a sentence; that of a file system's error in words. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return pathFault(error) ?? error.message;
}

/** Why a path cannot be used, in words; undefined for other errors. */
export function pathFault(error: Error): string | undefined {
  const { code = "", path = "it", syscall } = error as NodeJS.ErrnoException;
  return syscall === undefined ? undefined : SYSTEM_ERRORS[code]?.replace("{path}", () => path);
}

/** Two sentences where a module of the program is missing, which is behind whatever was thrown for the lack of it. */
export function incompleteProgram(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (!("code" in error) || error.code !== "ERR_MODULE_NOT_FOUND") return incompleteProgram(error.cause);
  return (
    `The program is incomplete: ${error.message}. Build it again with \`npm run build\`, or install it again; ` +
    "the data is not touched."
  );
}
