import { createHmac, randomBytes } from "node:crypto";
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { StartedWith } from "../config/config.ts";
import { isObject } from "../config/narrow.ts";
import { makeFolder, readJson, writeJson } from "../files/own-files.ts";
import type { DirectoryLock } from "../storage/files/lock.ts";

export { isAlive } from "../storage/files/process-identity.ts";

/** By it the command line finds the daemon: its address, identity and a token of the owner. */
export interface RuntimeInfo {
  /** Address to connect to, which is not always the one listened on (`0.0.0.0`). */
  readonly address: string;
  readonly port: number;
  readonly pid: number;
  /** Drawn at every start. */
  readonly instanceId: string;
  readonly version: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Good for this run of the daemon only. */
  readonly token: string;
  /** SHA-256 of the certificate that the daemon shows, as Node writes it; absent: it speaks plain HTTP. */
  readonly tlsFingerprint?: string;
  /** For a restart. */
  readonly startedWith?: StartedWith;
}

/** The file is our own: this only tells a damaged one. */
function isRuntimeInfo(info: unknown): info is RuntimeInfo {
  if (!isObject(info)) return false;
  const { address, port, pid, instanceId, token } = info;
  return (
    [address, instanceId, token].every((text) => typeof text === "string" && text !== "") &&
    [port, pid].every((number) => Number.isInteger(number) && (number as number) >= 1)
  );
}

const FILE_NAME = "daemon.json";

/** Stays the same where the directory is moved; that of a copy is another. */
const identityOf = (dataDir: string): string => String(statSync(dataDir, { bigint: true }).ino);

/** A token for one run of the daemon: 256 random bits, fit for a header. */
export const newLocalToken = (): string => randomBytes(32).toString("base64url");

/** The answer to a challenge that only the daemon of that run can give; the token itself does not cross the wire. */
export const proofOf = (
  { instanceId, token }: Pick<RuntimeInfo, "instanceId" | "token">,
  challenge: string,
): string => createHmac("sha256", token).update(`memoryd ${instanceId} ${challenge}`).digest("base64url");

/** Writes the file, in place of an earlier daemon's. Readers see the old file or the new one, whole. */
export function writeRuntimeInfo(dataDir: string, info: RuntimeInfo): void {
  writeJson(join(dataDir, FILE_NAME), { ...info, directory: identityOf(dataDir) });
}

/**
 * The daemon that runs on this data directory, or that did not stop cleanly; undefined without a file, for a damaged one, and for one
 * that was copied with the directory: what is meant for the copy must not reach the original.
 */
export function readRuntimeInfo(dataDir: string): RuntimeInfo | undefined {
  const info = readJson(join(dataDir, FILE_NAME));
  if (!isRuntimeInfo(info)) return undefined;
  const { directory } = info as { readonly directory?: unknown };
  return directory === undefined || directory === identityOf(dataDir) ? info : undefined;
}

/** True where a store was ever made, which a daemon could serve. */
export async function hasStore(dataDir: string): Promise<boolean> {
  const [{ holdsStore }, { nodeDisk }] = await storeFiles();
  return holdsStore(nodeDisk, dataDir);
}

/** Hooks read this file at every prompt, and neither lock nor look for a store. */
const storeFiles = () =>
  Promise.all([import("../storage/files/data-directory.ts"), import("../storage/files/disk.ts")]);

/** Removes the file, unless another instance has written its own meanwhile. */
export function removeRuntimeInfo(dataDir: string, instanceId: string): void {
  if (readRuntimeInfo(dataDir)?.instanceId === instanceId) rmSync(join(dataDir, FILE_NAME), { force: true });
}

/** True for a wildcard address, at which every address of the machine is served. */
export const isEveryAddress = (address: string): boolean => address === "0.0.0.0" || address === "::";

/** The URL of a daemon that listens on `address`; loopback in place of a wildcard address. */
export function baseUrl(place: {
  readonly address: string;
  readonly port: number;
  readonly isSecure?: boolean;
}): string {
  const { address, port, isSecure = false } = place;
  const scheme = isSecure ? "https" : "http";
  if (address === "0.0.0.0") return `${scheme}://127.0.0.1:${port}`;
  if (address === "::") return `${scheme}://[::1]:${port}`;
  return `${scheme}://${address.includes(":") ? `[${address}]` : address}:${port}`;
}

/** The lock of starting the daemon; undefined while another has it. @throws {ServiceError} STORE_UNUSABLE. */
export async function lockStart(dataDir: string): Promise<DirectoryLock | undefined> {
  const [{ refuseForeignDirectory }, { nodeDisk }] = await storeFiles();
  const { tryLock } = await import("../storage/files/lock.ts");
  makeFolder(dataDir);
  await refuseForeignDirectory(nodeDisk, dataDir);
  return tryLock(dataDir, START_LOCK);
}

/** The file of that lock, for people. */
export const startLockOf = (dataDir: string): string => join(dataDir, `lock.${START_LOCK}`);

const START_LOCK = "starting";
