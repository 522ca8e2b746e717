import { withoutVowelSigns } from "../text/fold.ts";
import type { AddMemoryInput } from "./memory-ports.ts";
import { ANALYSER_VERSION, memoryTerms } from "../text/analyser.ts";
import { type DocumentEmbedding, meanWindow, stampKey } from "../embedding.ts";
import { type Memory, occurredAtOf, sorted, writerOf, type Written } from "../memory.ts";
import type { WriteSection } from "../ports.ts";
import type { Change, MemoryRow } from "../rows.ts";
import type { SectorClassifier } from "../sectors/sectors.ts";
import { dayStart } from "../text/time-periods.ts";
import { type MemoryTraits, traitsOf } from "../recall/traits.ts";

/** The fields that must be equal for two memories to be the same. */
export type Identity = Pick<
  Memory,
  "userId" | "content" | "tags" | "metadata" | "project" | "sessionId" | "occurredAt"
> &
  Partial<Pick<Memory, "source">>;

/** 32 hex digits, equal for identical memories. White space around the text does not count; the order of tags counts, that of metadata's keys does not. A chunk of a document is identical only to itself. */
export function duplicateHash(sha256: (text: string) => string, identity: Identity): string {
  const { userId, content, tags, metadata, project, sessionId, occurredAt, source } = identity;
  const place = source ? [source.documentId, source.chunkIndex] : [];
  const parts = [userId, content.trim(), tags, sorted(metadata), project, sessionId, occurredAt, ...place];
  return sha256(JSON.stringify(parts)).slice(0, 32);
}

export const identityOf = (input: AddMemoryInput): Identity => ({
  userId: input.userId ?? null,
  content: input.content,
  tags: input.tags ?? [],
  metadata: input.metadata ?? {},
  project: input.project ?? null,
  sessionId: input.sessionId ?? null,
  occurredAt: input.occurredAt ?? null,
});

/** The text that is embedded for a memory: its content, below the headings of a document's chunk. */
export function embeddedText(memory: Pick<Memory, "content"> & Partial<Pick<Memory, "source">>): string {
  const { content, source } = memory;
  return withoutVowelSigns(source?.section === undefined ? content : `${source.section}\n\n${content}`);
}

/** A new memory, complete but for its times and order, which the synchronous section gives. */
export interface ComposedMemory extends Written {
  readonly id: string;
  readonly identity: Identity;
  readonly hash: string;
  readonly embedding: DocumentEmbedding;
  readonly sectors: Pick<Memory, "primarySector" | "sectors">;
  readonly supersedes: readonly string[];
  readonly readText: ReadText;
}

/** Terms and traits of a memory's text. Slow to make: call `readText` outside of synchronous sections. */
export interface ReadText {
  /** As `memoryTerms`, joined by spaces, of a memory that happens on that day. */
  readonly terms: string;
  readonly day: number;
  readonly traits: MemoryTraits;
}

/** @param createdAt where it is not known yet: about when. */
export function readText(
  memory: Pick<Identity, "content" | "tags" | "project" | "occurredAt" | "source">,
  createdAt: number,
): ReadText {
  const timed = { ...memory, createdAt };
  return {
    terms: memoryTerms(timed).join(" "),
    day: dayStart(occurredAtOf(timed)),
    traits: traitsOf(memory.content),
  };
}

/** The sectors of a text; a forced one comes first. */
export function sectorsOf(
  classify: SectorClassifier,
  content: string,
  { windows }: Pick<DocumentEmbedding, "windows">,
  forced?: Memory["primarySector"],
): Pick<Memory, "primarySector" | "sectors"> {
  const { primarySector, sectors } = classify({ content, embedding: meanWindow(windows) });
  if (forced === undefined) return { primarySector, sectors };
  return { primarySector: forced, sectors: [forced, ...sectors.filter((sector) => sector !== forced)] };
}

/** The row of a new memory. */
export function newMemoryRow(composed: ComposedMemory, { now }: WriteSection, order: number): MemoryRow {
  const memory = {
    id: composed.id,
    ...composed.identity,
    ...composed.sectors,
    createdAt: now,
    updatedAt: now,
    version: 1,
    ...writerOf(composed),
    source: composed.identity.source ?? null,
    order,
    supersedes: composed.supersedes,
    duplicateHash: composed.hash,
  };
  return withDerived(memory, composed.readText);
}

/** Adds the values that indexes need and that are derived from the rest. */
export function withDerived(
  memory: Omit<MemoryRow, "terms" | "traits" | "analyserVersion">,
  read: ReadText = readText(memory, memory.createdAt),
): MemoryRow {
  // A day may have begun since it was read.
  const isOfDay = read.day === dayStart(occurredAtOf(memory));
  const { terms, traits } = isOfDay ? read : readText(memory, memory.createdAt);
  return { ...memory, terms, traits, analyserVersion: ANALYSER_VERSION };
}

/** The changes that store a memory's vectors and tokens. */
export function embeddingChanges(id: string, userId: string | null, embedding: DocumentEmbedding): Change[] {
  const key = stampKey(embedding.stamp);
  return [
    { table: "vectors", id, row: { userId, windows: embedding.windows, stamp: key } },
    { table: "tokens", id, row: { vectors: embedding.tokens.vectors, stamp: key } },
  ];
}
