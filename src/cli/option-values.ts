import { InvalidArgumentError, Option } from "commander";
import type { TSchema } from "typebox";
import { Value } from "typebox/value";
import { fieldFaults } from "../schemas/field-faults.ts";
import { Project, QueryProject, SECTOR_NAMES, SessionId, Tag, UserId } from "../schemas/fields.ts";
import { formatTime, parseTime } from "../schemas/time.ts";

/** Reads the values of options and arguments; what is thrown is printed with the option's name. */

export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most)
      throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
    return value;
  };
}

/** A number from 0 to 1. */
export function part(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !(value >= 0 && value <= 1))
    throw new InvalidArgumentError("It must be a number from 0 to 1.");
  return value;
}

/** A time as the API takes it in bodies and addresses alike; epoch milliseconds become text. */
export function time(text: string): string {
  const isNumber = /^-?\d{10,16}$/.test(text);
  const value = parseTime(isNumber ? Number(text) : text);
  if (value !== undefined) return isNumber ? formatTime(value) : text;
  throw new InvalidArgumentError(
    "It must be a date such as 2026-11-21 or a time such as 2026-11-21T10:15:00Z.",
  );
}

/** A text that the API takes in a field of this schema. */
export function textOf(schema: TSchema): (text: string) => string {
  return (text) => {
    const [fault] = fieldFaults(Value.Errors(schema, text));
    if (fault === undefined) return text;
    const { examples }: { examples?: unknown } = schema;
    const example = Array.isArray(examples) ? `; for example ${JSON.stringify(examples[0])}` : "";
    throw new InvalidArgumentError(`It ${fault.message}${example}.`);
  };
}

export const userId = textOf(UserId);
export const project = textOf(Project);
/** The empty text stands for none. */
export const projectOrNone = textOf(QueryProject);
export const sessionId = textOf(SessionId);
export const tag = textOf(Tag);

/** An option that may be given several times. */
export function tags(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, tag(value)];
}

export function sectorOption(): Option {
  return new Option("--sector <name>", "only those of this sector").choices(SECTOR_NAMES);
}
