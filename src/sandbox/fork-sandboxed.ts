import { type ChildProcess, fork, type StdioOptions } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { type Sandbox, sandboxArguments } from "./sandbox-arguments.ts";

/**
 * Starts a Node that may do no more than its sandbox says. Values of any structure go between the two; `env` is all that it
 * gets of an environment.
 *
 * @throws {Error} if the built worker is missing.
 */
export function forkSandboxed(
  sandbox: Sandbox,
  { env = {}, stdio }: { readonly env?: NodeJS.ProcessEnv; readonly stdio: StdioOptions },
): ChildProcess {
  if (!existsSync(sandbox.worker)) throw new Error(`${sandbox.worker} is missing: run "npm run build" first`);
  // Node looks at every folder on the way to a link, and may not in there.
  const worker = realpathSync.native(sandbox.worker);
  const execArgv = sandboxArguments({ ...sandbox, worker });
  return fork(worker, { execArgv, serialization: "advanced", env, stdio });
}
