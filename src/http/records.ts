/** Results of operations as answers show them, where they differ; named as in the core. */

import type { Static } from "typebox";
import type { ApiKey, CreateKeyInput, KeyRing } from "../core/access/key-ring.ts";
import type { DocumentRow, ExtractionAccount } from "../core/documents/document.ts";
import type { IngestResult, JobView } from "../core/documents/ingest-jobs.ts";
import { ServiceError } from "../core/errors.ts";
import type { Fact } from "../core/facts/fact.ts";
import type { RecordedFact } from "../core/facts/record-fact.ts";
import type { AddedMemory } from "../core/memories/memory-ports.ts";
import { occurredAtOf, type SeenMemory } from "../core/memory.ts";
import { formatTime, fromWire, present } from "../schemas/wire.ts";
import { CreateKeyBody } from "../schemas/user.ts";
import { problemOf } from "./problem.ts";

/** A memory with the fields that every answer shows, named as in the core. */
export const seen = ({ superseded, ...memory }: SeenMemory) => ({
  ...memory,
  occurredAt: occurredAtOf(memory),
  supersededBy: superseded?.by ?? null,
  supersededAt: superseded?.at ?? null,
  supersededHow: superseded?.how ?? null,
});

export const added = ({ memory, deduplicated }: AddedMemory) => ({ ...seen(memory), deduplicated });

export const recorded = ({ fact, ...rest }: RecordedFact & { readonly similar?: readonly Fact[] }) => ({
  ...fact,
  ...rest,
});

/** A key: nothing of the key itself but how it begins. */
export const keyOf = (keys: KeyRing, key: ApiKey) => ({
  ...key,
  state: keys.stateOf(key),
  lastUsedAt: keys.lastUse(key),
});

export function createKeyInput(body: Static<typeof CreateKeyBody>): CreateKeyInput {
  return { scope: "write", ...fromWire(CreateKeyBody, body) };
}

const MS_PER_SECOND = 1_000;

export const ingested = ({ document, memoryIds, deduplicated }: IngestResult) => ({
  ...account(document, memoryIds),
  deduplicated,
  document,
});

export const jobOf = ({ result, problem, startedAt, finishedAt, ...job }: JobView, requestId: string) => ({
  ...job,
  ...(result && { result: ingested(result) }),
  ...(problem && {
    problem: { ...problemOf(new ServiceError(problem.code, problem.message), requestId), requestId },
  }),
  ...present({ startedAt, finishedAt }),
});

export function documentOf(document: DocumentRow, memoryIds = document.memoryIds) {
  const { title, author, date, language } = document.extraction;
  const own = { title, author, date: date === undefined ? undefined : formatTime(date), language };
  const said = Object.entries(own).filter(([, value]) => value !== undefined);
  return {
    ...account(document, memoryIds),
    title: title ?? null,
    metadata: { ...Object.fromEntries(said), ...document.metadata },
  };
}

function account(document: DocumentRow, memoryIds: readonly string[]) {
  const { strategy, rootMemoryId, extraction } = document;
  const childCount = strategy === "single" ? 0 : memoryIds.filter((id) => id !== rootMemoryId).length;
  return { ...document, memoryIds, childCount, extraction: extractionFields(extraction) };
}

/** An account of reading a document, with its fields named as on the wire. */
export const extractionFields = ({ kind: contentType, durationMs, ...extraction }: ExtractionAccount) => ({
  ...extraction,
  contentType,
  ...(durationMs !== undefined && { durationS: durationMs / MS_PER_SECOND }),
});

export const extractionOf = <T extends { contentType: ExtractionAccount["kind"]; durationS?: number }>({
  contentType: kind,
  durationS,
  ...extraction
}: T) => ({
  ...extraction,
  kind,
  ...(durationS !== undefined && { durationMs: Math.round(durationS * MS_PER_SECOND) }),
});
