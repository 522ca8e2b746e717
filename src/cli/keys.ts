import type { Scope } from "../core/access/api-key.ts";
import { arrayOf, boolean, type Formed, integer, nullable, oneOf, record, string } from "../json-form.ts";
import type { KeyDesk } from "../key-service.ts";
import { CliFailure } from "./cli-failure.ts";
import { findDaemon } from "./daemon-client.ts";
import { complain, oneLine, print, printJson, sayIfLost } from "./output.ts";

export interface JsonOption {
  readonly json?: boolean;
}

export interface CreateKeyOptions extends JsonOption {
  readonly name: string;
  readonly user?: string;
  readonly scope: Scope;
  /** Epoch milliseconds. */
  readonly expires?: number;
}

const KEY_FIELDS = {
  id: string,
  name: string,
  prefix: string,
  scope: oneOf("read", "write", "admin"),
  user_id: nullable(string),
  state: oneOf("active", "expired", "revoked"),
  created_at: string,
  expires_at: nullable(string),
  revoked_at: nullable(string),
  last_used_at: nullable(string),
};
const KeyRecord = record(KEY_FIELDS);
type KeyRecord = Formed<typeof KeyRecord>;
const MadeKey = record({ ...KEY_FIELDS, key: string, first: boolean });
const KeyList = record({ keys: arrayOf(KeyRecord), key_needed: boolean });
const RemovedKeys = record({ ok: oneOf(true), deleted: integer, key_needed: boolean });

/** Said after the first key: what worked before and does not any more. */
const FIRST_KEY =
  "It is the first key. From now on every request needs one: clients that send none, agents and scripts among them, are " +
  "refused (401) until they send `Authorization: Bearer KEY`. memoryd's own commands on this machine need none. Pages of " +
  "this machine and of private networks are no longer fetched. `memoryd auth off` goes back to how it was.";

/** The keys of a data directory: through the daemon that runs on it, so that a change holds at once, or in its file. */
export async function keysOf(dataDir: string): Promise<KeyDesk> {
  const daemon = await findDaemon(dataDir);
  if (daemon === undefined) {
    const { offlineKeys } = await import("../key-service.ts");
    return offlineKeys(dataDir);
  }
  return {
    list: () => daemon.call(KeyList, "GET", "/keys"),
    create: (body) => daemon.call(MadeKey, "POST", "/keys", body),
    revoke: (id) => daemon.call(KeyRecord, "DELETE", `/keys/${id}`),
    removeAll: () => daemon.call(RemovedKeys, "DELETE", "/keys"),
  };
}

/** Prints the key alone on standard output, so that it can be piped to where it is needed. */
export async function createKey(
  dataDir: string,
  { name, user, scope, expires, json = false }: CreateKeyOptions,
): Promise<void> {
  const desk = await keysOf(dataDir);
  const { first, ...made } = await desk.create({
    name,
    scope,
    ...(user !== undefined && { user_id: user }),
    ...(expires !== undefined && { expires_at: expires }),
  });
  sayIfLost(
    `The key is lost, but made: revoke it with \`memoryd keys revoke ${made.id}\`, and make another.`,
  );
  if (json) printJson({ ...made, first });
  else print(made.key);
  complain(`Made ${described(made)}. It is shown this once and not kept.`);
  if (first) complain(FIRST_KEY);
}

export async function listKeys(dataDir: string, { json = false }: JsonOption): Promise<void> {
  const answer = await (await keysOf(dataDir)).list();
  if (json) return printJson(answer);
  for (const key of answer.keys) {
    const use = key.last_used_at === null ? "never used" : `last used ${minuteOf(key.last_used_at)}`;
    print(`${key.prefix}…  ${key.state.padEnd(7)}  ${described(key)}, ${use}`);
  }
  if (answer.keys.length === 0) print("There are no keys.");
  print(answer.key_needed ? "Every request needs a key." : "No key is needed.");
}

/** @param wanted name, prefix or id. */
export async function revokeKey(
  dataDir: string,
  wanted: string,
  { json = false }: JsonOption,
): Promise<void> {
  const desk = await keysOf(dataDir);
  const revoked = await desk.revoke(idOf((await desk.list()).keys, wanted));
  if (json) return printJson(revoked);
  print(`Revoked ${described(revoked)}.`);
}

function idOf(keys: readonly KeyRecord[], wanted: string): string {
  const named = keys.filter(({ id, name, prefix }) => [id, name, prefix].includes(wanted));
  // A name may be given again once its key is gone.
  const found = named.find(({ state }) => state === "active") ?? named.at(-1);
  if (found === undefined)
    throw new CliFailure(`There is no key "${oneLine(wanted)}"; \`memoryd keys list\` shows what there is.`);
  return found.id;
}

function described({ name, scope, user_id: user, expires_at: expiresAt }: KeyRecord): string {
  const whose = user === null ? "for all users" : `for the user ${oneLine(user)}`;
  const end = expiresAt === null ? "without end" : `until ${minuteOf(expiresAt)}`;
  return `the key ${oneLine(name)}: ${scope}, ${whose}, ${end}`;
}

function minuteOf(time: string): string {
  return `${time.slice(0, 16).replace("T", " ")} UTC`;
}
