import type { TSchema } from "typebox";
import type { Fields } from "../../config/narrow.ts";
import { illegible, withoutData } from "../../core/text/legible.ts";
import { RecordFactBody } from "../../schemas/fact.ts";
import { AddMemoryBody } from "../../schemas/memory.ts";
import { fieldFaults } from "../../schemas/text-rules.ts";
import { TRANSFER_LINES } from "../../schemas/transfer.ts";
import { present } from "../../schemas/wire.ts";
import { Compile, type Validator } from "../../schemas/typebox.ts";
import { faulty, type ImportItem, skipped } from "./import-item.ts";

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
  /** The kind of data that was left out of its text. */
  readonly leftOut?: string;
}
type WithBody = Extract<ImportItem, { body: object }>;
export type Checked = Sendable | Exclude<ImportItem, WithBody>;

const DATA = "pictures, fonts, sound or video in the text of a memory, as data in base64";
/** The rest of a text that holds only such data: the signs of Markdown around it. */
const NO_TEXT = /^[\s!()[\]<>"']*$/;

/** Why a record that names a user is refused without `--keep-users`. */
export const NAMES_A_USER =
  "names a user: add --keep-users to believe the file, or --user to give all to one user";

const LINES = new Map<unknown, TSchema>(Object.entries(TRANSFER_LINES));
const validators = new Map<TSchema, Validator>();

/** An item with the owners that the command line asks for, if it fits the schema of what it is sent to. */
export function checkItem(item: ImportItem, owners: Owners): Checked {
  if (!("body" in item)) return item;
  const { kind, where } = item;
  const body: Record<string, unknown> = { ...item.body };
  const type = kind === "line" ? body["type"] : kind;
  if (type !== "waypoint") {
    const isBelieved = owners.keepUsers === true || ("isOwnerKept" in item && item.isOwnerKept);
    if (owners.user !== undefined) body["user_id"] = owners.user;
    else if ((body["user_id"] ?? undefined) !== undefined && !isBelieved) return faulty(where, NAMES_A_USER);
    if (owners.project !== undefined) body["project"] = owners.project;
  }
  const { content } = body;
  let leftOut: string | undefined;
  if (kind === "memory" && typeof content === "string") {
    const text = (body["content"] = withoutData(content));
    if (text !== content) {
      if (NO_TEXT.test(text)) return faulty(where, "holds only pictures, fonts, sound or video, and no text");
      leftOut = DATA;
    }
    const what = illegible(text);
    if (what !== undefined) return skipped(where, `texts that are mostly ${what}`);
  }
  const { tags = [] } = body;
  if (owners.tag !== undefined && (type === "memory" || type === "document") && Array.isArray(tags))
    body["tags"] = [...new Set([...(tags as unknown[]), ...owners.tag])];

  const [schema, route] = targetOf(kind, type);
  if (schema === undefined) return faulty(where, "is no memory, document, fact or waypoint");
  const validator = validators.get(schema) ?? Compile(schema);
  validators.set(schema, validator);
  if (validator.Check(body)) return { route, where, body, ...present({ leftOut }) };
  const [fault] = fieldFaults(validator.Errors(body));
  const [, name = "it"] = /^\/?([^/]+)/.exec(fault?.path ?? "") ?? [];
  const given = ("names" in item && item.names?.[name]) || name;
  return faulty(
    where,
    fault ? `${given}${fault.path.slice(name.length + 1)} ${fault.message}` : "does not fit",
  );
}

function targetOf(kind: WithBody["kind"], type: unknown): readonly [TSchema | undefined, Route] {
  if (kind === "memory") return [AddMemoryBody, "/memory/add/batch"];
  if (kind === "fact") return [RecordFactBody, "/api/temporal/fact/batch"];
  return [LINES.get(type), "/import"];
}

/** Passes on what came of an item, unless it belongs to a record of the same export that was refused for its user. */
export type LeaveOut = (item: ImportItem, checked: Checked) => Checked;

/** Remembers records that were refused for their user: their waypoints and originals would only fail after them. */
export function refusedOwners(): LeaveOut {
  const refused = new Set<unknown>();
  return (item, checked) => {
    const { id, type, source, target } = item.kind === "line" ? item.body : {};
    if ("reason" in checked && checked.reason === NAMES_A_USER) refused.add(id);
    const belongsTo =
      item.kind === "original" ? [item.documentId] : type === "waypoint" ? [source, target] : [];
    return belongsTo.some((owner) => refused.has(owner))
      ? skipped(item.where, "waypoints and originals of records that name a user")
      : checked;
  };
}
