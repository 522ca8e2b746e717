import { createHmac, randomBytes } from "node:crypto";
import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  arrayOf,
  type Formed,
  integer,
  mapOf,
  number,
  optional,
  record,
  string,
  where,
} from "./json-form.ts";
import { isMissing } from "./system-error.ts";

const filled = where(string, (text) => text !== "");

/**
 * What a running daemon tells its own command line: where it listens, who it is, and a token that stands for the
 * owner of the data directory. It is a file in that directory which only its owner can read.
 */
export const RuntimeInfo = record({
  /** Address to connect to, which is not always the one listened on (`0.0.0.0`). */
  address: filled,
  port: where(integer, (port) => port >= 1 && port <= 65_535),
  pid: where(integer, (pid) => pid >= 1),
  /** Drawn at every start; the daemon that answers with another one is not this one. */
  instanceId: filled,
  version: string,
  /** Epoch milliseconds. */
  startedAt: number,
  /** Good for this run of the daemon only. */
  token: filled,
  /** SHA-256 of the certificate that the daemon shows, as Node writes it; absent: it speaks plain HTTP. */
  tlsFingerprint: optional(filled),
  /** As `StartedWith` of the settings, for a restart. */
  startedWith: optional(
    record({
      configFile: optional(string),
      flags: mapOf(string),
      secrets: arrayOf(string),
    }),
  ),
});
export type RuntimeInfo = Readonly<Formed<typeof RuntimeInfo>>;

const FILE_NAME = "daemon.json";

/** A token for one run of the daemon: 256 random bits, fit for a header. */
export function newLocalToken(): string {
  return randomBytes(32).toString("base64url");
}

/** What only the daemon of that run can answer to a challenge; the token need not cross the wire for it. */
export function proofOf(
  { instanceId, token }: Pick<RuntimeInfo, "instanceId" | "token">,
  challenge: string,
): string {
  return createHmac("sha256", token).update(`memoryd ${instanceId} ${challenge}`).digest("base64url");
}

/** Says who runs on this data directory, in place of whoever did before. Readers see the old file or the new one, whole. */
export function writeRuntimeInfo(dataDir: string, info: RuntimeInfo): void {
  const path = join(dataDir, FILE_NAME);
  const temporary = `${path}.${info.pid}.tmp`;
  writeFileSync(temporary, `${JSON.stringify(info, null, 2)}\n`, { mode: 0o600 });
  // The mode above counts only for a new file; a temporary one left behind by a crash keeps its own.
  chmodSync(temporary, 0o600);
  renameSync(temporary, path);
}

/** Who ran last on this data directory and did not stop cleanly, or still runs; undefined when nobody, or when the file is unreadable. */
export function readRuntimeInfo(dataDir: string): RuntimeInfo | undefined {
  let info: unknown;
  try {
    info = JSON.parse(readFileSync(join(dataDir, FILE_NAME), "utf8"));
  } catch (error) {
    if (error instanceof SyntaxError || isMissing(error)) return undefined;
    throw error;
  }
  return RuntimeInfo(info) ? info : undefined;
}

/** Takes the file away, unless another instance has written its own meanwhile. */
export function removeRuntimeInfo(dataDir: string, instanceId: string): void {
  if (readRuntimeInfo(dataDir)?.instanceId === instanceId) rmSync(join(dataDir, FILE_NAME), { force: true });
}

/** Whether a daemon that listens there is reached at every address of the machine. */
export function isEveryAddress(address: string): boolean {
  return address === "0.0.0.0" || address === "::";
}

/** Where a client reaches a daemon that listens on `address`: a wildcard address is reached over loopback. */
export function baseUrl({
  address,
  port,
  isSecure = false,
}: {
  readonly address: string;
  readonly port: number;
  readonly isSecure?: boolean;
}): string {
  const scheme = isSecure ? "https" : "http";
  if (address === "0.0.0.0") return `${scheme}://127.0.0.1:${port}`;
  if (address === "::") return `${scheme}://[::1]:${port}`;
  return `${scheme}://${address.includes(":") ? `[${address}]` : address}:${port}`;
}
