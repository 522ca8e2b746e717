import { InvalidArgumentError, Option } from "commander";
import { SECTORS } from "../core/memory.ts";
import {
  PROJECT,
  QUERY_PROJECT,
  SESSION_ID,
  TAG,
  textFault,
  type TextRule,
  USER_ID,
} from "../schemas/text-rules.ts";
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

/** A text that the API takes in a field of this rule. */
export function textOf(rule: TextRule): (text: string) => string {
  return (text) => {
    const fault = textFault(text, rule);
    if (fault === undefined) return text;
    throw new InvalidArgumentError(`It ${fault}; for example ${JSON.stringify(rule.examples[0])}.`);
  };
}

export const userId = textOf(USER_ID);
export const project = textOf(PROJECT);
/** The empty text stands for none. */
export const projectOrNone = textOf(QUERY_PROJECT);
export const sessionId = textOf(SESSION_ID);
export const tag = textOf(TAG);

/** An option that may be given several times. */
export function tags(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, tag(value)];
}

export function sectorOption(): Option {
  return new Option("--sector <name>", "only those of this sector").choices(SECTORS);
}
