/** Results of operations as wire records, where they differ from the fields of the schemas. */
import type { Static } from "typebox";
import type { ApiKey } from "../core/access/api-key.ts";
import type { CreateKeyInput, KeyRing } from "../core/access/key-ring.ts";
import type { PurgeStatus } from "../core/purge.ts";
import type { Fact } from "../core/facts/fact.ts";
import type { RecordedFact } from "../core/facts/record-fact.ts";
import type { AddedMemory } from "../core/memories/memory-ports.ts";
import { occurredAtOf, type SeenMemory } from "../core/memory.ts";
import { CompactionRecord } from "../schemas/compaction.ts";
import { FactRecord, RecordFactReply } from "../schemas/fact.ts";
import { CreateKeyBody, KeyRecord } from "../schemas/keys.ts";
import { type AddMemoryReply, MemoryRecord } from "../schemas/memory.ts";
import { fromWire, toWire } from "../schemas/wire.ts";

/** A memory with the fields that every answer shows, named as in the core. */
export function seen({ superseded, ...memory }: SeenMemory) {
  return {
    ...memory,
    occurredAt: occurredAtOf(memory),
    supersededBy: superseded?.by ?? null,
    supersededAt: superseded?.at ?? null,
    supersededHow: superseded?.how ?? null,
  };
}

/** A memory as every answer shows it. */
export function memoryRecord(memory: SeenMemory): Static<typeof MemoryRecord> {
  return toWire(MemoryRecord, seen(memory));
}

export function addedRecord({ memory, deduplicated }: AddedMemory): Static<typeof AddMemoryReply> {
  return { ...memoryRecord(memory), deduplicated };
}

/** A fact as every answer shows it. */
export function factRecord(fact: Fact): Static<typeof FactRecord> {
  return toWire(FactRecord, fact);
}

export function recordedFactRecord({
  fact,
  ...recorded
}: RecordedFact & { readonly similar?: readonly Fact[] }): Static<typeof RecordFactReply> {
  return toWire(RecordFactReply, { ...fact, ...recorded });
}

/** A key as it goes over the wire: nothing of the key itself but how it begins. */
export function keyRecord(keys: KeyRing, key: ApiKey): Static<typeof KeyRecord> {
  return toWire(KeyRecord, { ...key, state: keys.stateOf(key), lastUsedAt: keys.lastUse(key) });
}

export function compactionRecord({ last, ...status }: PurgeStatus): Static<typeof CompactionRecord> {
  return toWire(CompactionRecord, {
    ...status,
    ...(last && { last: { ...last.report, ...last, tookMs: Math.round(last.tookMs) } }),
  });
}

export function createKeyInput(body: Static<typeof CreateKeyBody>): CreateKeyInput {
  return { scope: "write", ...fromWire(CreateKeyBody, body) };
}
