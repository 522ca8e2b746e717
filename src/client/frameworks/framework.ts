/** What the clients for frameworks share: whose data it is, and how a missing framework is told. */
import type { MemorydClient } from "../client.ts";

/** The daemon and whose data it is. */
export interface MemoryOwner {
  /** One of `createClient`; of the daemon at `http://127.0.0.1:8080` if left out. */
  readonly client?: MemorydClient;
  /** With a key that is bound to a user it must be that user. */
  readonly userId: string;
  /** Data of this project only; if left out, what has no project. */
  readonly project?: string;
}

/** A framework's module. @throws {Error} one sentence with the package's name where it is not installed. */
export async function framework<T>(loading: Promise<T>, name: string, usedBy: string): Promise<T> {
  return await loading.catch((cause: unknown) => {
    const { code, message } = cause as { code?: string; message: string };
    if (code !== "ERR_MODULE_NOT_FOUND" || !message.includes(`'${name}'`)) throw cause;
    throw new Error(`${usedBy} needs the package ${name}; install it with \`npm install ${name}\`.`, {
      cause,
    });
  });
}
