import { invalidRequest, notFound, orRefused, ServiceError } from "../errors.ts";
import type { Cardinality, Fact } from "./fact.ts";
import { FactDraft, type FactPorts } from "./fact-store.ts";
import { similarFacts } from "./answering-facts.ts";
import { goneError, type IdempotentRequest, refusedBefore } from "../idempotency.ts";
import { type Given, type Owned, type Written, writerOf } from "../memory.ts";
import { placeStatement, type Placing, settleCardinality, type Statement } from "./timeline.ts";

/** A statement to record, already checked against the limits of the API. */
export interface RecordFactInput
  extends
    Given<Owned & Written>,
    Pick<Placing, "subject" | "predicate">,
    Omit<Statement, "validFrom" | "validTo"> {
  /** Absent: now. */
  readonly validFrom?: number;
  /** Absent: open, or as far as the next fact. */
  readonly validTo?: number;
  /** Absent: that of the timeline, else `one`. */
  readonly cardinality?: Cardinality;
  readonly idempotency?: IdempotentRequest;
}

export interface RecordedFact {
  readonly fact: Fact;
  /** Facts that were closed, split or replaced by it. */
  readonly superseded: readonly string[];
  /** True when an existing fact covers it. */
  readonly deduplicated: boolean;
}

interface RecordFactsInput {
  /** At most 1 000, in order; an error stands for an item that was refused before, and is returned in its place. */
  readonly items: readonly (RecordFactInput | ServiceError)[];
  readonly idempotency?: IdempotentRequest;
}

/**
 * Records that something is true for a time; see `timeline.ts` for earlier facts. `similar` facts (see `similarFacts`) are
 * returned and left as they are.
 * @throws {ServiceError} INVALID_REQUEST (empty name, empty or backward period); CONFLICT (other
 *   cardinality); NOT_FOUND (source memory); STORE_FULL, NOT_READY; CONFLICT, GONE, UNPROCESSABLE with an
 *   Idempotency-Key (see `RequestLedger`).
 */
export async function recordFact(
  ports: FactPorts,
  { idempotency, ...item }: RecordFactInput,
): Promise<RecordedFact & { readonly similar: readonly Fact[] }> {
  const { results } = await recordFacts(ports, { items: [item], ...(idempotency && { idempotency }) });
  const [recorded] = results;
  if (recorded === undefined || recorded instanceof ServiceError) throw recorded ?? goneError();
  return { ...recorded, similar: await similarFacts(ports, recorded.fact) };
}

/**
 * Records facts in one record, judged one by one; later ones see earlier ones.
 * @returns as many as items, in the same order; each fact as it was when its item had been judged.
 * @throws as `recordFact`.
 */
export async function recordFacts(
  ports: FactPorts,
  input: RecordFactsInput,
): Promise<{ readonly results: readonly (RecordedFact | ServiceError)[] }> {
  const { store, requests, clock } = ports;
  return requests.once(
    store,
    input.idempotency,
    (commit) =>
      commit((section) => {
        const draft = new FactDraft(store.catalogue.facts, section, clock);
        const results = input.items.map((item) =>
          item instanceof ServiceError ? item : orRefused(() => recordInto(draft, ports, item)),
        );
        const ids = results.map((result) => (result instanceof ServiceError ? null : result.fact.id));
        return { changes: draft.changes, ids, result: { results } };
      }),
    async (ids) => ({
      results: input.items.map((item, index) => {
        const id = ids[index] ?? null;
        if (item instanceof ServiceError) return item;
        return id === null ? refusedBefore() : orRefused(() => replayOf(ports, id));
      }),
    }),
  );
}

/** Records one statement in a draft, which stays untouched when it throws as `recordFact`. */
function recordInto(draft: FactDraft, ports: FactPorts, input: RecordFactInput): RecordedFact {
  checkNames(input);
  const { validFrom = draft.now, validTo = null, userId = null, project = null, subject, predicate } = input;
  checkSource(ports, input.sourceMemoryId, userId);

  const timeline = draft.timeline({ userId, project, subject, predicate }, input.object);
  const placed = placeStatement(
    timeline.facts,
    { ...input, validFrom, validTo },
    {
      subject,
      predicate,
      userId,
      project,
      // For a new fact; an existing one that covers the statement keeps its writer.
      ...writerOf(input),
      cardinality: settleCardinality(timeline.cardinality, input.cardinality),
      recordedAt: draft.recordedAt,
      newId: () => ports.ids.newId(draft.recordedAt),
    },
  );
  draft.put(placed.written);
  return { fact: placed.fact, superseded: placed.superseded, deduplicated: placed.deduplicated };
}

/** The answer of a repeated request for a fact it made. @throws {ServiceError} GONE if that was erased. */
function replayOf({ store }: Pick<FactPorts, "store">, id: string): RecordedFact {
  const fact = store.catalogue.facts.find(id)?.latest;
  if (fact === undefined) throw goneError();
  const others = store.catalogue.facts.timeline(fact)?.facts ?? [];
  const superseded = others
    .filter(({ latest }) => latest.supersededBy === fact.id)
    .map(({ latest }) => latest.id);
  return { fact, superseded, deduplicated: false };
}

function checkNames(input: RecordFactInput): void {
  for (const field of ["subject", "predicate", "object"] as const) {
    if (input[field].trim() !== "") continue;
    throw invalidRequest(`A fact needs a ${field}; it was empty.`, {
      fields: [{ path: `/${field}`, message: "is empty" }],
    });
  }
}

function checkSource(ports: FactPorts, memoryId: string | undefined, userId: string | null): void {
  if (memoryId === undefined || ports.store.catalogue.find(memoryId)?.userId === userId) return;
  throw notFound("There is no memory of this user with the id given as source_memory_id.", {
    fields: [{ path: "/source_memory_id", message: "is no memory of this user" }],
  });
}
