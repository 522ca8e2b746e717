import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../config/narrow.ts";
import { addElement, orEmptyObject, remove, set, valueOf } from "../agents/edit-json.ts";
import { RefusedEdit } from "../agents/known-agents.ts";

/**
 * Changes of our hooks in an agent's JSON file of hooks: `{ "hooks": { EVENT: [entry…] } }`. An entry is a hook, or a group
 * `{ matcher, hooks: [hook…] }`. All other text stays byte for byte; ours is what starts our program.
 */

const PROGRAM = "memoryd-hook.js";

/** Entries by event. */
export type HookEntries = Readonly<Record<string, unknown>>;

/** Our hooks by event, one each; undefined where there is none. @throws {RefusedEdit} if the text is not such a file. */
export function readHooks(text: string): HookEntries | undefined {
  const found = eventsOf(valueOf(text)).flatMap(([event, entries]) => {
    const own = entries.find(isOurs);
    return own === undefined ? [] : [[event, own] as const];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

/**
 * The text with these hooks of ours and no others; new ones go before those of others.
 * @param head keys that a file of hooks must have.
 * @throws {RefusedEdit} if the text is not such a file.
 */
export function withHooks(
  text: string,
  wanted: HookEntries,
  head: Readonly<Record<string, unknown>>,
): string {
  if (isDeepStrictEqual(readHooks(text), wanted) && countOurs(text) === Object.keys(wanted).length)
    return text;
  let edited = orEmptyObject(withoutHooks(text));
  const before = valueOf(edited);
  for (const [event, entry] of Object.entries(wanted).reverse()) {
    const { hooks } = valueOf(edited);
    if (hooks === undefined) edited = set(edited, ["hooks"], { [event]: [entry] });
    else if (isObject(hooks) && hooks[event] === undefined) edited = set(edited, ["hooks", event], [entry]);
    else edited = addElement(edited, ["hooks", event], entry);
  }
  for (const [key, value] of Object.entries(head).reverse())
    if (!Object.hasOwn(before, key)) edited = set(edited, [key], value);
  const { hooks: after, ...others } = valueOf(edited);
  const { hooks: _, ...expected } = before;
  if (
    !isDeepStrictEqual(others, { ...head, ...expected }) ||
    !isDeepStrictEqual(readHooks(edited), wanted) ||
    !isObject(after)
  )
    throw new RefusedEdit("It has something in it twice");
  return edited;
}

/** The text without our hooks, and without lists that only held them. @throws {RefusedEdit} if it is not such a file. */
export function withoutHooks(text: string): string {
  let edited = text;
  for (const [event, entries] of eventsOf(valueOf(text))) {
    for (const index of [...entries.keys()].reverse()) {
      const entry = entries[index];
      const inner = innerOf(entry);
      if (isOurs(entry)) edited = remove(edited, ["hooks", event, index]);
      else
        for (const i of [...inner.keys()].reverse())
          if (isOurs(inner[i])) edited = remove(edited, ["hooks", event, index, "hooks", i]);
    }
    const isEmptied = entries.length > 0 && entries.every(isOurs);
    if (isEmptied) edited = remove(edited, ["hooks", event]);
  }
  const { hooks } = valueOf(edited);
  return edited !== text && isObject(hooks) && Object.keys(hooks).length === 0
    ? remove(edited, ["hooks"])
    : edited;
}

function countOurs(text: string): number {
  return eventsOf(valueOf(text)).flatMap(([, entries]) =>
    entries.flatMap((entry) => (isOurs(entry) ? [entry] : innerOf(entry).filter(isOurs))),
  ).length;
}

/** True for a hook of ours, and for a group of nothing else. */
function isOurs(entry: unknown): boolean {
  if (!isObject(entry)) return false;
  const inner = innerOf(entry);
  if (inner.length > 0) return inner.every(isOurs);
  const { command, args } = entry;
  return [command, args].flat().some((word) => typeof word === "string" && word.includes(PROGRAM));
}

function innerOf(entry: unknown): readonly unknown[] {
  return isObject(entry) && Array.isArray(entry["hooks"]) ? (entry["hooks"] as unknown[]) : [];
}

function eventsOf({ hooks = {} }: Readonly<Record<string, unknown>>): [string, readonly unknown[]][] {
  if (!isObject(hooks)) throw new RefusedEdit('Its "hooks" is not an object');
  return Object.entries(hooks).map(([event, entries]) => {
    if (!Array.isArray(entries)) throw new RefusedEdit(`Its "hooks.${event}" is not a list`);
    return [event, entries as unknown[]];
  });
}
