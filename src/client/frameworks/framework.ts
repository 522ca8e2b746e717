/** What the clients for frameworks share; how their data lies in memories is in `docs/frameworks.md`. */
import { NOT_BLANK_PATTERN } from "../../schemas/text-rules.ts";
import { type Memory, type MemorydClient, MemorydError, type MemoryFilter } from "../client.ts";

/** The daemon and whose data it is. */
export interface MemoryOwner {
  /** One of `createClient`; of the daemon at `http://127.0.0.1:8080` if left out. */
  readonly client?: MemorydClient;
  /** With a key that is bound to a user it must be that user. */
  readonly userId: string;
  /** Data of this project only; if left out, what has no project. */
  readonly project?: string;
}

/** Passes over a memory that was deleted meanwhile. @throws any other error. */
export function ifGone(error: unknown): "gone" {
  if (error instanceof MemorydError && error.code === "NOT_FOUND") return "gone";
  throw error;
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

const SEEN = new RegExp(NOT_BLANK_PATTERN, "u");
/** Whether a text cannot be the content of a memory. */
export const isBlank = (text: string): boolean => !SEEN.test(text);

const MAX_TAG_CHARS = 256;

/** The tag of a path below a root, and of a key in it: no two paths have the same one. */
export async function pathTag(root: string, path: readonly string[], key?: string): Promise<string> {
  const end = key === undefined ? "" : `?${encodeURIComponent(key)}`;
  const tag = [root, ...path.map((part) => encodeURIComponent(part))].join("/") + end;
  if (tag.length <= MAX_TAG_CHARS) return tag;
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(tag)));
  return `${root}#${Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** Memories with a tag that have exactly that user and project. */
export const ownedBy = ({ userId, project = "" }: MemoryOwner, tag: string): MemoryFilter => ({
  user_id: userId,
  project,
  tag,
});

/** Owner of what is written. */
export const ownerOf = ({ userId, project }: MemoryOwner) => ({
  user_id: userId,
  ...(project !== undefined && { project }),
});

/**
 * All memories of an owner with a tag. Of several for one key the first one counts: the one changed last, and of those
 * that were never changed the one added first.
 */
export async function keptWith(client: MemorydClient, owner: MemoryOwner, tag: string): Promise<Memory[]> {
  const memories: Memory[] = [];
  for await (const memory of client.memories.list(ownedBy(owner, tag))) memories.push(memory);
  const changed = ({ version, updated_at }: Memory) => (version > 1 ? Date.parse(updated_at) : 0);
  return memories.reverse().sort((one, other) => changed(other) - changed(one));
}
