import { setTimeout as sleep } from "node:timers/promises";
import { arrayOf, boolean, either, type Formed, integer, oneOf, record, string } from "../../json-form.ts";
import { EXPORT_FORMAT, EXPORT_VERSION } from "../../schemas/export-format.ts";
import type { DaemonClient } from "../daemon-client.ts";
import type { Route, Sendable } from "./check-item.ts";

/** What became of one record. */
export type Outcome = "added" | "known" | { readonly fault: string };

const Result = either(
  record({ status: oneOf(200), outcome: string }),
  record({ status: oneOf(200), deduplicated: boolean }),
  record({ status: integer, detail: string }),
);
const Answer = record({ results: arrayOf(Result) });

const BUSY = new Set([429, 503]);
const TRIES = 5;
const RETRY_AFTER_MS = 2_000;

/** Sends records to one route, and once more those for which the daemon was too busy. @throws {CliFailure} as `DaemonClient.call`. */
export async function sendItems(
  daemon: DaemonClient,
  route: Route,
  items: readonly Sendable[],
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let waiting = [...items.keys()];
  for (let tries = 1; waiting.length > 0; tries += 1) {
    const bodies = waiting.map((index) => items[index]?.body ?? {});
    const { results } = await daemon.call(Answer, "POST", route, requestOf(route, bodies));
    const busy: number[] = [];
    for (const [i, index] of waiting.entries()) {
      const result = results[i];
      if (result !== undefined && BUSY.has(result.status) && tries < TRIES) busy.push(index);
      else outcomes[index] = outcomeOf(result);
    }
    waiting = busy;
    if (busy.length > 0) await sleep(RETRY_AFTER_MS);
  }
  return outcomes;
}

function requestOf(route: Route, bodies: readonly object[]): object | string {
  switch (route) {
    case "/memory/add/batch":
      return { memories: bodies };
    case "/api/temporal/fact/batch":
      return { facts: bodies };
    case "/import":
      return [{ format: EXPORT_FORMAT, version: EXPORT_VERSION }, ...bodies]
        .map((line) => `${JSON.stringify(line)}\n`)
        .join("");
  }
}

function outcomeOf(result: Formed<typeof Result> | undefined): Outcome {
  if (result === undefined) return { fault: "the daemon said nothing of it" };
  if ("detail" in result) return { fault: result.detail };
  if ("outcome" in result) return result.outcome === "known" ? "known" : "added";
  return result.deduplicated ? "known" : "added";
}
