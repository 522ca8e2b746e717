/** The items of a batch: judged one by one, stored as one, answered one by one. */
import { setImmediate as turnOfOthers } from "node:timers/promises";
import { ServiceError } from "../core/errors.ts";
import { type ProblemDetails, problemOf } from "./problem.ts";
import type { Static, TSchema } from "typebox";
import { validator } from "./validation.ts";

/** What a batch may hold a turn of the event loop, ms. */
const TURN_MS = 20;

/** Maps items in order; others get their turn in between. */
export async function mapInTurns<Item, Result>(
  items: readonly Item[],
  map: (item: Item, index: number) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  let turnEnds = performance.now() + TURN_MS;
  for (const [index, item] of items.entries()) {
    results.push(map(item, index));
    if (performance.now() < turnEnds) continue;
    await turnOfOthers();
    turnEnds = performance.now() + TURN_MS;
  }
  return results;
}

/** Makes of each item of a list an input, or why it is refused; `common` is in each input. */
export function judge<S extends TSchema, Input extends object>(
  schema: S,
  inputOf: (item: Static<S>) => Input,
) {
  const check = validator(schema, "The item");
  return async <Common extends object>(items: readonly unknown[], path: string, common: Common) =>
    mapInTurns(items, (item, index) => {
      const checked = check(item, `${path}/${index}`);
      return "error" in checked ? checked.error : { ...inputOf(checked.value as Static<S>), ...common };
    });
}

/**
 * What a batch answers.
 * @param items as they were judged: an error that comes back as it went in has its whole path already.
 * @param path of the list in the body.
 */
export async function batchReply<Result, Answer extends object>(
  results: readonly (Result | ServiceError)[],
  items: readonly unknown[],
  path: string,
  requestId: string,
  answerOf: (result: Result) => Answer,
): Promise<{ results: ((Answer & { status: 200 }) | ProblemDetails)[]; added: number; failed: number }> {
  const answers = await mapInTurns(results, (result, index) =>
    result instanceof ServiceError
      ? problemOf(result === items[index] ? result : within(`${path}/${index}`, result), requestId)
      : { status: 200 as const, ...answerOf(result) },
  );
  const failed = results.filter((result) => result instanceof ServiceError).length;
  return { results: answers, added: results.length - failed, failed };
}

/** The error, its fields named from the body on. */
function within(path: string, error: ServiceError): ServiceError {
  return new ServiceError(error.code, error.message, {
    cause: error,
    fields: error.fields.map((field) => ({ ...field, path: path + field.path })),
  });
}
