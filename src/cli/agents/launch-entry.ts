/** What an agent is told to start, in the words of its configuration file. */
export interface Launch {
  readonly type?: "stdio";
  readonly command: string;
  readonly args: readonly string[];
}

/** An entry as it stands in a file, where anything may stand. */
export type LaunchEntry = Readonly<Record<string, unknown>>;

/** Keys of an entry that names an address instead of a program; they and a command exclude each other. */
export const REMOTE_KEYS = ["url", "httpUrl", "serverUrl", "headers", "bearer_token_env_var", "http_headers"];

/** A file that cannot be changed without touching what is not ours. The message says what is wrong with it, without a full stop. */
export class RefusedEdit extends Error {
  override readonly name = "RefusedEdit";
}
