import { compareFacts } from "./compare-facts.ts";
import { answeringFacts } from "./answering-facts.ts";
import { eraseFact } from "./erase-fact.ts";
import { type Fact, nextVersion } from "./fact.ts";
import { factStats, factSubjects, volatileFacts } from "./fact-stats.ts";
import {
  pageOf,
  presentOf,
  compareForList,
  type FactPage,
  type FactPorts,
  type FactReadPorts,
  type PageRange,
  FactDraft,
} from "./fact-store.ts";
import { factTimeline, compilePattern, findFacts } from "./find-facts.ts";
import { recordFact, recordFacts } from "./record-fact.ts";
import { notFound } from "../errors.ts";
import { type FactFilter, versionKnownAt, countingFact, visitFacts, type AsOf } from "./fact-book.ts";
import { type OneRow, visible } from "../owned.ts";
import { closeFact } from "./timeline.ts";

/** Makes the next version of a fact; metadata is replaced whole. @throws {ServiceError} NOT_FOUND, FORBIDDEN, STORE_FULL, NOT_READY. */
export async function updateFact(
  { store, clock }: FactPorts,
  { id, userId, ...changes }: OneRow & Partial<Pick<Fact, "confidence" | "metadata">>,
): Promise<Fact> {
  return store.commit((section) => {
    const draft = new FactDraft(store.catalogue.facts, section, clock);
    const fact = draft.require(id, userId);
    const updated = nextVersion(fact, changes, draft.recordedAt);
    if (updated !== fact) draft.put([updated]);
    return { changes: draft.changes, result: updated };
  });
}

interface SearchFactsInput extends FactFilter, AsOf, PageRange {
  /** At most 256 characters; see `compilePattern`. */
  readonly pattern: string;
  readonly field: "subject" | "predicate" | "object" | "any";
}

/** Facts with a field that matches the pattern, in list order; without `at` past and future ones too. */
export function searchFacts({ store }: FactReadPorts, input: SearchFactsInput): FactPage {
  const matches = compilePattern(input.pattern);
  const isAsked = (field: SearchFactsInput["field"]) => input.field === field || input.field === "any";
  const found: Fact[] = [];
  for (const timeline of store.catalogue.facts.timelines(input)) {
    const isNamed =
      (isAsked("subject") && matches(timeline.subjectKey)) ||
      (isAsked("predicate") && matches(timeline.predicateKey));
    for (const history of timeline.facts) {
      const fact = countingFact(history, input);
      if (fact !== undefined && (isNamed || (isAsked("object") && matches(history.foldedObject))))
        found.push(fact);
    }
  }
  return pageOf(found, input);
}

/**
 * Ends a fact.
 * @param input.validTo absent: now, or for a fact that has not begun its beginning.
 * @throws {ServiceError} NOT_FOUND, FORBIDDEN, INVALID_REQUEST, STORE_FULL, NOT_READY.
 */
export async function invalidateFact(
  { store, clock }: FactPorts,
  input: OneRow & { readonly validTo?: number },
): Promise<Fact> {
  return store.commit((section) => {
    const draft = new FactDraft(store.catalogue.facts, section, clock);
    const fact = draft.require(input.id, input.userId);
    const closed = closeFact(fact, input.validTo, draft);
    if (closed !== fact) draft.put([closed]);
    return { changes: draft.changes, result: closed };
  });
}

/** The fact, replaced ones too. @throws {ServiceError} NOT_FOUND: another owner's too, and where it was unknown at `knownAt`. */
export function getFact(
  { store }: FactReadPorts,
  { id, userId, knownAt }: OneRow & Pick<AsOf, "knownAt">,
): Fact {
  const history = store.catalogue.facts.find(id);
  return visible("fact", history && versionKnownAt(history, knownAt), userId);
}

/** The fact valid now, or at `at`; of several the newest open one. @throws {ServiceError} NOT_FOUND. */
export function currentFact(
  { store, clock }: FactReadPorts,
  input: FactFilter & AsOf & Pick<Fact, "subject" | "predicate">,
): Fact {
  const at = input.at ?? presentOf(clock, store.catalogue.facts.latestRecordedAt);
  let current: Fact | undefined;
  visitFacts(store.catalogue.facts, { ...input, at }, (fact) => {
    if (current === undefined || compareForList(fact, current) < 0) current = fact;
  });
  if (current === undefined)
    throw notFound("No fact about this subject and predicate is valid at that moment.");
  return current;
}

/** The service's operations on facts. */
export const FACT_OPERATIONS = {
  recordFact,
  recordFacts,
  updateFact,
  invalidateFact,
  eraseFact,
  answeringFacts,
  findFacts,
  currentFact,
  getFact,
  factTimeline,
  searchFacts,
  compareFacts,
  factStats,
  factSubjects,
  volatileFacts,
};
