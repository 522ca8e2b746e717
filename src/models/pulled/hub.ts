import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { fetchFailed, notFound, type ServiceError } from "../../core/errors.ts";

/** A file of a model, at a hub. */
export interface HubFile {
  readonly path: string;
  readonly size: number;
  /** Expected hash: SHA-256 of a large file, else Git's blob id. */
  readonly hash: { readonly kind: "sha256" | "git"; readonly hex: string };
}

export interface HubModel {
  readonly name: string;
  /** The commit of all its files. */
  readonly revision: string;
  readonly licence: string;
  readonly languages: string;
  readonly files: readonly HubFile[];
}

export interface HubAccess {
  /** Address of the hub, such as https://huggingface.co */
  readonly endpoint: string;
  readonly signal: AbortSignal;
  readonly fetch?: typeof fetch;
}

const MAX_LISTING_BYTES = 8 * 1024 ** 2;
const MAX_REDIRECTS = 5;
const NAME = /^[\w.-]{1,96}\/[\w.-]{1,96}$/;

/** Whether a text has the form of a model's name at a hub: OWNER/NAME. */
export const isHubName = (text: string): boolean =>
  NAME.test(text) && !text.split("/").some((part) => /^\.+$/.test(part));

/**
 * A hub's description of a model and its files.
 * @see https://huggingface.co/docs/hub/api
 * @throws {ServiceError} NOT_FOUND for one that is unknown or not open to everybody; FETCH_FAILED.
 */
export async function lookUpModel(access: HubAccess, name: string): Promise<HubModel> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  await get(access, addressOf(access, `api/models/${name}?blobs=true`), false, async (chunk) => {
    bytes += chunk.length;
    if (bytes > MAX_LISTING_BYTES) throw failed(access, "its answer on the model is too long");
    chunks.push(chunk);
  });
  let said: unknown;
  try {
    said = JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch (error) {
    throw failed(access, "its answer on the model is no JSON; is it a hub?", error);
  }
  const { sha, siblings, cardData } = Object(said) as {
    readonly sha?: unknown;
    readonly siblings?: unknown;
    readonly cardData?: { readonly license?: unknown; readonly language?: unknown };
  };
  if (typeof sha !== "string" || !/^[0-9a-f]{7,64}$/.test(sha) || !Array.isArray(siblings))
    throw failed(access, "its answer on the model names no revision or no files");
  return {
    name,
    revision: sha,
    licence: plain(cardData?.license) || "unknown licence",
    languages: plain(cardData?.language) || "languages not named",
    files: siblings.flatMap((sibling) => fileOf(sibling) ?? []),
  };
}

/**
 * Writes a file of a model to a path that is free, and syncs it.
 * @throws {ServiceError} as `lookUpModel`, and FETCH_FAILED for other bytes than the hub promised; else the disk's own
 *   error. What was written is left to the caller.
 */
export async function download(
  access: HubAccess,
  { name, revision }: HubModel,
  { path, size, hash }: HubFile,
  to: string,
  onBytes: (count: number) => void,
): Promise<void> {
  const digest = hash.kind === "sha256" ? createHash("sha256") : createHash("sha1").update(`blob ${size}\0`);
  const file = await open(to, "wx", 0o600);
  try {
    let bytes = 0;
    const url = addressOf(access, `${name}/resolve/${revision}/${path}`);
    await get(access, url, hash.kind === "sha256", async (chunk) => {
      bytes += chunk.length;
      if (bytes > size) throw failed(access, `${path} is longer than its ${size} bytes`);
      digest.update(chunk);
      await file.write(chunk);
      onBytes(chunk.length);
    });
    if (bytes < size) throw failed(access, `${path} ended after ${bytes} of its ${size} bytes`);
    if (digest.digest("hex") !== hash.hex)
      throw failed(access, `${path} is not what the hub itself says it is`);
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Reads an answer piece by piece. Goes to another host, as hubs do for large files, only by HTTPS and for bytes that are
 * checked against a hash of the hub's: then it does not matter who sends them, and nothing without a certificate of its
 * name is asked. A hub that is silent for 5 min is given up, by the limits of Node's own `fetch`.
 */
async function get(
  access: HubAccess,
  from: URL,
  isHashed: boolean,
  take: (chunk: Uint8Array) => Promise<void>,
): Promise<void> {
  try {
    const response = await follow(access, from, isHashed);
    for await (const chunk of response.body ?? []) await take(chunk);
  } catch (error) {
    access.signal.throwIfAborted();
    // undici's errors of the connection, not of the disk.
    if (error instanceof TypeError) throw failed(access, reasonOf(error), error);
    throw error;
  }
}

async function follow(access: HubAccess, from: URL, isHashed: boolean): Promise<Response> {
  let url = from;
  for (let step = 0; step <= MAX_REDIRECTS; step += 1) {
    // The files as they are, so that their length is what the hub says.
    const headers = { "accept-encoding": "identity", "user-agent": "memoryd" };
    const { signal } = access;
    const response = await (access.fetch ?? fetch)(url.href, { redirect: "manual", signal, headers });
    const { status } = response;
    if (status === 200) return response;
    await response.body?.cancel();
    const location = response.headers.get("location");
    if (status === 401 || status === 403 || status === 404)
      throw notFound(
        `${access.endpoint} has no such model, or not for everybody (${status} for ${from.pathname}). Of one that asks for a ` +
          "login, download the files yourself and name their folder.",
      );
    if (status < 300 || status > 399 || location === null || !URL.canParse(location, url.href))
      throw failed(access, `it answered ${status} for ${from.pathname}`);
    const next = new URL(location, url);
    if (next.origin !== from.origin && !(isHashed && next.protocol === "https:"))
      throw failed(access, `it sends to another host (${next.host}) for ${from.pathname}`);
    url = next;
  }
  throw failed(access, `it sends from one address to the next for ${from.pathname}`);
}

function fileOf(sibling: unknown): HubFile | undefined {
  const { rfilename, size, blobId, lfs } = Object(sibling) as Record<string, unknown>;
  const sha256 = (Object(lfs) as { readonly sha256?: unknown }).sha256;
  if (typeof rfilename !== "string" || !Number.isSafeInteger(size)) return undefined;
  const file = { path: rfilename, size: Number(size) };
  if (typeof sha256 === "string" && /^[0-9a-f]{64}$/.test(sha256))
    return { ...file, hash: { kind: "sha256", hex: sha256 } };
  if (typeof blobId === "string" && /^[0-9a-f]{40}$/.test(blobId))
    return { ...file, hash: { kind: "git", hex: blobId } };
  return undefined;
}

/** Words of somebody else, fit for a terminal and a table. */
export function plain(value: unknown): string {
  const words = (Array.isArray(value) ? value : [value]).filter((word) => typeof word === "string");
  return words
    .join(", ")
    .replaceAll(/[^\p{L}\p{N} .,+_-]/gu, "")
    .slice(0, 80);
}

const addressOf = ({ endpoint }: HubAccess, path: string) =>
  new URL(endpoint.endsWith("/") ? `${endpoint}${path}` : `${endpoint}/${path}`);

const failed = ({ endpoint }: HubAccess, reason: string, cause?: unknown): ServiceError =>
  fetchFailed(`The model cannot be had from ${endpoint}: ${reason}; nothing was kept.`, { cause });

const reasonOf = (error: TypeError): string =>
  error.cause instanceof Error ? error.cause.message : error.message;
