import { ServiceError } from "../errors.ts";
import type { Cardinality, Fact } from "./fact.ts";
import { FactDraft } from "./fact-draft.ts";
import { similarFacts } from "./answering-facts.ts";
import type { FactPorts } from "./fact-store.ts";
import { goneError, type IdempotentRequest, requestChanges } from "../idempotency.ts";
import { type Metadata, type Given, type Owned, type Written, writerOf } from "../memory.ts";
import { placeStatement, settleCardinality } from "./timeline.ts";

/** Already checked against the limits of the contract. */
export interface RecordFactInput extends Given<Owned & Written> {
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  /** Absent: now. */
  readonly validFrom?: number;
  /** Absent: open, or as far as the next fact. */
  readonly validTo?: number;
  readonly confidence?: number;
  readonly metadata?: Metadata;
  readonly sourceMemoryId?: string;
  /** Absent: what the timeline has, else `one`. */
  readonly cardinality?: Cardinality;
  readonly idempotency?: IdempotentRequest;
}

export interface RecordedFact {
  readonly fact: Fact;
  /** Facts that were closed, split or replaced by it. */
  readonly superseded: readonly string[];
  /** True when an existing fact took it in. */
  readonly deduplicated: boolean;
}

/**
 * Records that something is true for a time; see `timeline.ts` for what becomes of what was recorded before. `similar` ones
 * (see `similarFacts`) are told and left as they are.
 *
 * @throws {ServiceError} INVALID_REQUEST (empty name, empty or backward period); CONFLICT (other
 *   cardinality); NOT_FOUND (source memory); STORE_FULL, NOT_READY; CONFLICT, GONE, UNPROCESSABLE with an
 *   Idempotency-Key (see `RequestLedger`).
 */
export async function recordFact(
  ports: FactPorts,
  input: RecordFactInput,
): Promise<RecordedFact & { readonly similar: readonly Fact[] }> {
  const { facts, requests, catalogue, clock } = ports;
  const recorded = await requests.once(
    input.idempotency,
    catalogue,
    () =>
      facts.commit((section) => {
        const draft = new FactDraft(facts.book, section, clock);
        const result = recordInto(draft, ports, input);
        return {
          changes: [...draft.changes, ...requestChanges(input.idempotency, [result.fact.id], section.now)],
          result,
        };
      }),
    async ([id]) => replayOf(ports, id ?? null),
  );
  return { ...recorded, similar: await similarFacts(ports, recorded.fact) };
}

/**
 * Records one statement in a draft; leaves the draft untouched when it throws.
 *
 * @throws {ServiceError} as `recordFact`.
 */
export function recordInto(draft: FactDraft, ports: FactPorts, input: RecordFactInput): RecordedFact {
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
      // Of a new fact; one that takes the statement in keeps its own.
      ...writerOf(input),
      cardinality: settleCardinality(timeline.cardinality, input.cardinality),
      recordedAt: draft.recordedAt,
      newId: () => ports.ids.newId(draft.recordedAt),
    },
  );
  draft.put(placed.written);
  return { fact: placed.fact, superseded: placed.superseded, deduplicated: placed.deduplicated };
}

/** What a repeated request answers for a fact it made. @throws {ServiceError} GONE if that was erased. */
export function replayOf({ facts }: Pick<FactPorts, "facts">, id: string | null): RecordedFact {
  const fact = id === null ? undefined : facts.book.find(id)?.latest;
  if (fact === undefined) throw goneError();
  const others = facts.book.timeline(fact)?.facts ?? [];
  const superseded = others
    .filter(({ latest }) => latest.supersededBy === fact.id)
    .map(({ latest }) => latest.id);
  return { fact, superseded, deduplicated: false };
}

function checkNames(input: RecordFactInput): void {
  for (const field of ["subject", "predicate", "object"] as const) {
    if (input[field].trim() !== "") continue;
    throw new ServiceError("INVALID_REQUEST", `A fact needs a ${field}; it was empty.`, {
      fields: [{ path: `/${field}`, message: "is empty" }],
    });
  }
}

function checkSource(ports: FactPorts, memoryId: string | undefined, userId: string | null): void {
  if (memoryId === undefined || ports.ownerOfMemory(memoryId) === userId) return;
  throw new ServiceError(
    "NOT_FOUND",
    "There is no memory of this user with the id given as source_memory_id.",
    {
      fields: [{ path: "/source_memory_id", message: "is no memory of this user" }],
    },
  );
}
