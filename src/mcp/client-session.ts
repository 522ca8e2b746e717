/**
 * The name of a client that says it only once. It travels in the session id, which such a client repeats with every
 * request: so nothing has to be remembered here, and it holds over restarts.
 */
import { Buffer } from "node:buffer";

const PREFIX = "client.";
/** A session id is a header; longer names are cut. */
const MAX_NAME_BYTES = 512;

/** The session id for the client that a message introduces; undefined for any other message. */
export function sessionCarrying(body: unknown): string | undefined {
  const message = body as
    | { readonly method?: unknown; readonly params?: { readonly clientInfo?: { readonly name?: unknown } } }
    | undefined;
  const name = message?.method === "initialize" ? message.params?.clientInfo?.name : undefined;
  if (typeof name !== "string" || name === "") return undefined;
  return PREFIX + Buffer.from(name).subarray(0, MAX_NAME_BYTES).toString("base64url");
}

/** The name that a request's session id carries. */
export function carriedClient(headers: Headers): string | undefined {
  const id = headers.get("mcp-session-id");
  if (id?.startsWith(PREFIX) !== true) return undefined;
  const name = Buffer.from(id.slice(PREFIX.length), "base64url").toString("utf8");
  return name === "" ? undefined : name;
}
