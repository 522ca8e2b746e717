import type { Fields } from "../../config/narrow.ts";
import type { TSchema } from "typebox";
import { RecordFactBody } from "../../schemas/fact.ts";
import { fieldFaults } from "../../schemas/text-rules.ts";
import { AddMemoryBody } from "../../schemas/memory.ts";
import { TRANSFER_LINES } from "../../schemas/transfer.ts";
import { type ImportItem, faulty, skipped } from "./import-item.ts";
import { Compile, type Validator } from "../../schemas/typebox.ts";

export interface Owners {
  readonly user?: string;
  readonly project?: string;
  readonly tag?: string[];
  /** Keep the users that the file names. */
  readonly keepUsers?: boolean;
}

export type Route = "/memory/add/batch" | "/api/temporal/fact/batch" | "/import";
export interface Sendable {
  readonly route: Route;
  readonly where: string;
  readonly body: Fields;
}
export type Checked = Sendable | Extract<ImportItem, { kind: "original" | "link" | "skipped" | "faulty" }>;

/** Why a record that names a user is refused without `--keep-users`. */
export const NAMES_A_USER =
  "names a user: add --keep-users to believe the file, or --user to give all to one user";

const validators = new Map<TSchema, Validator>();

/** An item with the owners that the command line asks for, if it fits the schema of what it is sent to. */
export function checkItem(item: ImportItem, owners: Owners): Checked {
  if (item.kind !== "memory" && item.kind !== "fact" && item.kind !== "line") return item;
  const { where } = item;
  const owned = ownedBody(item, owners);
  if (typeof owned === "string") return faulty(where, owned);
  const target = targetOf(item);
  if (target === undefined) return faulty(where, "is no memory, document, fact or waypoint");
  const { schema, route } = target;

  const validator = validators.get(schema) ?? Compile(schema);
  validators.set(schema, validator);
  if (validator.Check(owned)) return { route, where, body: owned };
  const [fault] = fieldFaults(validator.Errors(owned));
  const reason = fault === undefined ? "does not fit" : `${fault.path.slice(1) || "it"} ${fault.message}`;
  return faulty(where, reason);
}

function targetOf(item: ImportItem): { readonly schema: TSchema; readonly route: Route } | undefined {
  if (item.kind === "memory") return { schema: AddMemoryBody, route: "/memory/add/batch" };
  if (item.kind === "fact") return { schema: RecordFactBody, route: "/api/temporal/fact/batch" };
  const type = item.kind === "line" ? item.body["type"] : undefined;
  const schema = new Map<unknown, TSchema>(Object.entries(TRANSFER_LINES)).get(type);
  return schema && { schema, route: "/import" };
}

function ownedBody(
  item: Extract<ImportItem, { body: object }>,
  { user, project, tag, keepUsers = false }: Owners,
): Fields | string {
  const body: Record<string, unknown> = { ...item.body };
  const believes = keepUsers || ("isOwnerKept" in item && item.isOwnerKept);
  const isWaypoint = item.kind === "line" && body["type"] === "waypoint";
  if (isWaypoint) return body;
  if (user !== undefined) body["user_id"] = user;
  else if (body["user_id"] !== null && body["user_id"] !== undefined && !believes) return NAMES_A_USER;
  if (project !== undefined) body["project"] = project;
  const takesTags =
    item.kind === "memory" ||
    (item.kind === "line" && (body["type"] === "memory" || body["type"] === "document"));
  if (takesTags && tag !== undefined && (body["tags"] === undefined || Array.isArray(body["tags"])))
    body["tags"] = [...new Set([...((body["tags"] as unknown[] | undefined) ?? []), ...tag])];
  return body;
}

/** Passes on what came of an item, unless it belongs to a record of the same export that was refused for its user. */
export type LeaveOut = (item: ImportItem, checked: Checked) => Checked;

/** Remembers records that were refused for their user: their waypoints and originals would only fail after them. */
export function refusedOwners(): LeaveOut {
  const refused = new Set<unknown>();
  const belongs = (item: ImportItem): boolean => {
    if (item.kind === "original") return refused.has(item.documentId);
    if (item.kind !== "line" || item.body["type"] !== "waypoint") return false;
    return refused.has(item.body["source"]) || refused.has(item.body["target"]);
  };
  return (item, checked) => {
    if (item.kind === "line" && "reason" in checked && checked.reason === NAMES_A_USER) {
      refused.add(item.body["id"]);
      return checked;
    }
    if (!belongs(item)) return checked;
    const reason = "waypoints and originals of records that name a user";
    return skipped(item.where, reason);
  };
}
