import { ServiceError } from "../errors.ts";
import type { Fact } from "./fact.ts";
import type { FactFilter } from "./fact-book.ts";
import { compareForList } from "./fact-page.ts";
import { type AsOf, type FactReadPorts, presentOf } from "./fact-store.ts";
import { visitFacts } from "./visit-facts.ts";

export interface CurrentFactInput extends FactFilter, AsOf {
  readonly subject: string;
  readonly predicate: string;
}

/**
 * The fact valid now, or at `at`. Where several are (cardinality `many`, no user or project named), the first
 * in list order: the newest open one.
 *
 * @throws {ServiceError} NOT_FOUND if none is.
 */
export function currentFact({ facts, clock }: FactReadPorts, input: CurrentFactInput): Fact {
  const at = input.at ?? presentOf(clock, facts.book.latestRecordedAt);
  let current: Fact | undefined;
  visitFacts(facts.book, { ...input, at }, (fact) => {
    if (current === undefined || compareForList(fact, current) < 0) current = fact;
  });
  if (current === undefined) {
    throw new ServiceError("NOT_FOUND", "No fact about this subject and predicate is valid at that moment.");
  }
  return current;
}
