import type { AddMemoryInput } from "./added-memory.ts";
import { analyse, ANALYSER_VERSION, memoryTimeTerms, placeTerms } from "../text/analyser.ts";
import { type DocumentEmbedding, type EmbeddingStamp, stampKey } from "../embedding.ts";
import { type JsonValue, type Memory, occurredAtOf, type Written, writerOf } from "../memory.ts";
import type { WriteSection } from "../ports.ts";
import type { Change, MemoryRow } from "../rows.ts";
import type { SectorClassifier } from "../sectors/sectors.ts";
import { dayStart } from "../text/time-periods.ts";
import { type MemoryTraits, traitsOf } from "../recall/traits.ts";

/** What makes two memories the same: owner, content, tags, metadata, project, session and the time given. */
export type Identity = Pick<
  Memory,
  "userId" | "content" | "tags" | "metadata" | "project" | "sessionId" | "occurredAt"
> &
  Partial<Pick<Memory, "source">>;

/** 32 hex digits, equal for memories that are identical: an order of metadata's keys makes no difference, one of tags does. What was cut from a document is identical to nothing but itself. */
export function duplicateHash(sha256: (text: string) => string, identity: Identity): string {
  const { userId, content, tags, metadata, project, sessionId, occurredAt, source } = identity;
  const place = source ? [source.documentId, source.chunkIndex] : [];
  const parts = [userId, content, tags, sorted(metadata), project, sessionId, occurredAt, ...place];
  return sha256(JSON.stringify(parts)).slice(0, 32);
}

function sorted(value: JsonValue | Memory["metadata"]): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  // Pairs, not an object: a key named __proto__ counts like any other.
  const pairs: [string, JsonValue][] = Object.entries(value);
  return { pairs: pairs.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, sorted(inner)]) };
}

/** The identity that an add asks for. */
export function identityOf(input: AddMemoryInput): Identity {
  return {
    userId: input.userId ?? null,
    content: input.content,
    tags: input.tags ?? [],
    metadata: input.metadata ?? {},
    project: input.project ?? null,
    sessionId: input.sessionId ?? null,
    occurredAt: input.occurredAt ?? null,
  };
}

/** What is embedded of a memory: its text, below the headings that a piece of a document stands under. */
export function embeddedText({
  content,
  source,
}: Pick<Memory, "content"> & Partial<Pick<Memory, "source">>): string {
  return source?.section === undefined ? content : `${source.section}\n\n${content}`;
}

/** The mean of a memory's windows: where its text as a whole points. Not of unit length. */
export function meanWindow(windows: readonly Float32Array[]): Float32Array {
  const [first] = windows;
  if (first === undefined) throw new TypeError("an embedding has at least one window");
  if (windows.length === 1) return first;
  // Window by window: a long text has thousands of them.
  const sums = new Float64Array(first.length);
  for (const window of windows)
    for (let i = 0; i < sums.length; i += 1) sums[i] = (sums[i] ?? 0) + (window[i] ?? 0);
  return Float32Array.from(sums, (sum) => sum / windows.length);
}

/** A new memory, complete but for what only the synchronous section knows. */
export interface ComposedMemory extends Written {
  readonly id: string;
  readonly identity: Identity;
  readonly hash: string;
  readonly embedding: DocumentEmbedding;
  /** See `meanWindow`. */
  readonly direction: Float32Array;
  readonly sectors: Pick<Memory, "primarySector" | "sectors">;
  readonly supersedes: readonly string[];
  readonly readText: ReadText;
}

/** What is found by reading a memory. It takes time, so that it is made before the section that nothing may hold up. */
export interface ReadText {
  /** As `analyse` gives them of the text, between spaces. */
  readonly terms: string;
  /** As `placeTerms`, between spaces. */
  readonly place: string;
  readonly traits: MemoryTraits;
  /** As `memoryTimeTerms`, of a memory that happens on that day. */
  readonly times: { readonly day: number; readonly terms: readonly string[] };
}

/** @param createdAt where it is not known yet: about when. */
export function readText(
  memory: Pick<Identity, "content" | "tags" | "project" | "occurredAt" | "source">,
  createdAt: number,
): ReadText {
  const { content } = memory;
  const timed = { ...memory, createdAt };
  return {
    terms: analyse(content).join(" "),
    place: placeTerms(memory).join(" "),
    traits: traitsOf(content),
    times: { day: dayStart(occurredAtOf(timed)), terms: memoryTimeTerms(timed) },
  };
}

/** The sectors of a text; a forced one comes first. @param direction see `meanWindow`. */
export function sectorsOf(
  classify: SectorClassifier,
  content: string,
  direction: Float32Array,
  forced?: Memory["primarySector"],
): Pick<Memory, "primarySector" | "sectors"> {
  const { primarySector, sectors } = classify({ content, embedding: direction });
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

/** Adds what the indexes need and follows from the rest. */
export function withDerived(
  memory: Omit<MemoryRow, "terms" | "traits" | "analyserVersion">,
  { terms, place, traits, times }: ReadText = readText(memory, memory.createdAt),
): MemoryRow {
  const happens = dayStart(occurredAtOf(memory));
  const all = [terms, ...(happens === times.day ? times.terms : memoryTimeTerms(memory)), place].filter(
    (part) => part !== "",
  );
  return { ...memory, terms: all.join(" "), traits, analyserVersion: ANALYSER_VERSION };
}

/** The changes that store a memory's vectors and tokens. */
export function embeddingChanges(
  id: string,
  userId: string | null,
  embedding: DocumentEmbedding,
  stamp: EmbeddingStamp,
): Change[] {
  const key = stampKey(stamp);
  return [
    { table: "vectors", id, row: { userId, windows: embedding.windows, stamp: key } },
    { table: "tokens", id, row: { vectors: embedding.tokens.vectors, stamp: key } },
  ];
}
