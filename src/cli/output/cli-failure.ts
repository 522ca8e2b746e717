/** Exit codes of every command, as `memoryd --help` lists them. */
export const EXIT = { success: 0, failure: 1, usage: 2 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends a command. The message is one sentence for the person at the terminal, with the next step in it. */
export class CliFailure extends Error {
  override readonly name = "CliFailure";
  readonly exitCode: ExitCode;

  constructor(message: string, options: ErrorOptions & { readonly exitCode?: ExitCode } = {}) {
    super(message, options);
    this.exitCode = options.exitCode ?? EXIT.failure;
  }
}

/** The failure of a command that was called in a wrong way. */
export function usageFailure(message: string, options: ErrorOptions = {}): CliFailure {
  return new CliFailure(message, { ...options, exitCode: EXIT.usage });
}
