import { CHUNKING_VERSION } from "./chunking.ts";
import type { DocumentReads } from "./document-index.ts";
import type { DocumentRow, IngestRequest, JobRow, ExtractionAccount } from "./document.ts";
import { sourceRemoval } from "../facts/erase-fact.ts";
import { removalOf } from "../history/keep-version.ts";
import { embeddingChanges, newMemoryRow, type ComposedMemory } from "../memories/compose-memory.ts";
import type { MemoryPorts } from "../memories/memory-ports.ts";
import { removeEdges } from "../memories/waypoints.ts";
import { type Memory, type Metadata, ownerOf, writerOf, type MemorySource } from "../memory.ts";
import type { Decision, Steps, WriteSection } from "../ports.ts";
import type { Change } from "../rows.ts";
import { englishName } from "./read-recording.ts";
import type { Chunk, CutDocument } from "./extraction.ts";
import { clockTime } from "../text/calendar.ts";
import { digestText } from "../text/extractive-summary.ts";
import { shortened } from "../text/text-size.ts";

/** The memories that a document becomes, before anything is embedded. */
export interface DocumentPlan {
  readonly strategy: "single" | "root-child";
  readonly account: ExtractionAccount;
  readonly occurredAt: number | null;
  /** In order, the root first where there is one. */
  readonly memories: readonly PlannedMemory[];
}

export type PlannedMemory = { readonly content: string; readonly source: MemorySource };

const ROOT_INDEX = -1;
const PATH_TIE = " › ";
const MAX_TITLE_CHARS = 120;

/** The memories of a document. The same document always gives the same plan. */
export function planDocument(
  documentId: string,
  document: CutDocument,
  {
    filename,
    url,
    metadata = {},
  }: Pick<IngestRequest, "filename" | "url"> & { readonly metadata?: Metadata },
): DocumentPlan {
  const { chunks, digest, mediaType, url: _url, tags: _tags, metadata: _metadata, ...said } = document;
  const { occurredAt = changeOf(metadata), ...account } = said;
  const { title } = account;
  const place = (chunkIndex: number, { headings, ...position }: Omit<Chunk, "content">): MemorySource => {
    const section = sectionOf(title, headings);
    return {
      documentId,
      filename,
      mediaType,
      chunkIndex,
      chunkCount: chunks.length,
      ...position,
      ...(section !== "" && { section }),
      ...(url !== null && { url }),
    };
  };

  const memories = chunks.map(({ content, ...chunk }, i) => ({ content, source: place(i, chunk) }));
  if (digest === undefined) {
    const single = memories.map((memory) => withoutKnownTitle(memory, title));
    return { strategy: "single", account, occurredAt, memories: single };
  }
  const isSpoken = chunks[0]?.startMs !== undefined;
  // The root stands for all pages, and for the whole recording.
  const whole = { headings: [], ...(isSpoken && { startMs: 0, endMs: document.durationMs ?? 0 }) };
  const { section: _section, ...source } = place(ROOT_INDEX, whole);
  const name = title ?? filename ?? url ?? "Untitled document";
  const content = digestText(isSpoken ? recordingTitle(document, name) : name, digest);
  return { strategy: "root-child", account, occurredAt, memories: [{ content, source }, ...memories] };
}

/** When the file was changed, as its sender says; epoch milliseconds. */
function changeOf({ modified_at: time }: Metadata): number | null {
  const at = typeof time === "string" && /^\d{4}-\d{2}-\d{2}/.test(time) ? Date.parse(time) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}

/** A title that stands in the text is already searched with it. */
function withoutKnownTitle({ content, source }: PlannedMemory, title: string | undefined): PlannedMemory {
  const { section: _section, ...untitled } = source;
  return { content, source: title === undefined || content.includes(title) ? untitled : source };
}

function recordingTitle({ kind, durationMs = 0, language }: CutDocument, name: string): string {
  const what = kind === "audio" ? "Audio" : kind === "video" ? "Video" : "Subtitles";
  const spoken = language === undefined ? "" : `, ${englishName(language) ?? language}`;
  return `${name}\n\n${what}, ${clockTime(durationMs)}${spoken}`;
}

function sectionOf(title: string | undefined, headings: readonly string[]): string {
  const path = title === undefined || headings[0] === title ? headings : [title, ...headings];
  return path
    .map((step) => step.replaceAll(/\s+/g, " "))
    .map((step) => shortened(step, MAX_TITLE_CHARS))
    .join(PATH_TIE);
}

/** Memories composed for places of a plan; places that are still stored have none. */
export type ComposedPlaces = ReadonlyMap<number, ComposedMemory>;

const CHARACTERS_PER_TOKEN = 4;

/** The changes that store a document whole; remade memories take the places of deleted ones. */
export function* documentChanges(
  section: WriteSection,
  parts: {
    readonly id: string;
    readonly existing: DocumentRow | undefined;
    readonly job: Pick<JobRow, "userId" | "project">;
    readonly request: IngestRequest;
    readonly file: { readonly sha256: string; readonly bytes: number };
    readonly mediaType: string;
    readonly plan: DocumentPlan;
    readonly composed: ComposedPlaces;
  },
): Steps<Change[]> {
  const { id, existing, job, request, file, plan, composed } = parts;
  const changes: Change[] = [];
  let order = section.nextOrder;
  for (const memory of composed.values()) {
    const row = newMemoryRow(memory, section, order);
    changes.push({ table: "memories", id: row.id, row });
    changes.push(...embeddingChanges(row.id, row.userId, memory.embedding));
    order += 1;
    yield;
  }
  const memoryIds = plan.memories.map(
    (_, place) => composed.get(place)?.id ?? existing?.memoryIds[place] ?? "",
  );
  const [rootMemoryId = ""] = memoryIds;
  const chars = plan.memories.reduce((sum, { content }) => sum + content.length, 0);
  const row: DocumentRow = existing
    ? { ...asSentAgain(existing, request), rootMemoryId, memoryIds, chunkingVersion: CHUNKING_VERSION }
    : {
        id,
        sha256: file.sha256,
        bytes: file.bytes,
        filename: request.filename,
        mediaType: parts.mediaType,
        url: request.url,
        ...ownerOf(job),
        tags: request.tags,
        metadata: request.metadata,
        extraction: plan.account,
        strategy: plan.strategy,
        rootMemoryId,
        memoryIds,
        totalTokens: Math.ceil(chars / CHARACTERS_PER_TOKEN),
        chunkingVersion: CHUNKING_VERSION,
        ...writerOf(request),
        createdAt: section.now,
        fetchedAt: request.fetchedAt,
        order: section.nextOrder,
      };
  changes.push({ table: "documents", id, row });
  return changes;
}

type RemovalPorts = Pick<MemoryPorts, "store">;

/** Ids of a document's memories that still exist, in order. */
export function memoryIdsOf({ store }: Pick<MemoryPorts, "store">, document: DocumentRow): string[] {
  // The row also names deleted memories, and that of a restored document may name foreign ones.
  return document.memoryIds.filter((id) => store.catalogue.find(id)?.documentId === document.id);
}

/** The changes that remove a memory and all rows of it but its earlier versions. Facts that name it as their source stay, without a source. */
export function presentRemoval({ store }: RemovalPorts, id: string): Change[] {
  // Edges first: the catalogue finds their ends by the memories' ids.
  return [
    ...removeEdges(store.catalogue.edgesOf(id)),
    ...sourceRemoval(store.catalogue.facts, id),
    ...rowsRemoval(id),
  ];
}

/** The changes that remove the rows that a memory alone has. */
export const rowsRemoval = (id: string): Change[] =>
  (["signals", "tokens", "vectors", "memories"] as const).map((table) => ({ table, id, row: null }));

/**
 * Decides on the removal of a document, its memories, also those in the trash, and its jobs.
 * @param id by which it is asked for: its own or that of its root.
 */
export function* documentDeletion(
  ports: RemovalPorts,
  document: DocumentRow,
  id: string,
): Steps<Decision<{ readonly id: string; readonly deleted: number }>> {
  const { catalogue } = ports.store;
  const memories = memoryIdsOf(ports, document);
  const present: Change[] = [];
  for (const memory of memories) {
    present.push(...presentRemoval(ports, memory));
    yield;
  }
  return {
    changes: [
      ...present,
      ...removalOf(catalogue.versions.ofDocument(document.id)),
      ...documentRowsRemoval(ports, document.id),
    ],
    result: { id, deleted: memories.length },
  };
}

/** The changes that remove the row of a document and those of its jobs. */
export function documentRowsRemoval({ store }: Pick<MemoryPorts, "store">, id: string): Change[] {
  const jobs = [...store.catalogue.documents.jobs.values()].filter(({ documentId }) => documentId === id);
  return [
    { table: "documents", id, row: null },
    ...jobs.map((job): Change => ({ table: "jobs", id: job.id, row: null })),
  ];
}

/** A memory as reads answer it: its source has the document's current name. */
export function citedAsNow(memory: Memory, documents: Pick<DocumentReads, "byId">): Memory {
  const { source } = memory;
  const document = source === null ? undefined : documents.byId.get(source.documentId);
  if (source === null || document === undefined || document.filename === source.filename) return memory;
  return { ...memory, source: { ...source, filename: document.filename } };
}

/** Paths kept per document; the oldest are dropped first. */
const MAX_PATHS = 100;

/** A document whose bytes were sent again: with the new name, and the new path beside the known ones. */
export function asSentAgain<Sent extends Pick<DocumentRow, "filename" | "metadata">>(
  document: Sent,
  { filename, metadata }: Pick<DocumentRow, "filename" | "metadata">,
): Sent {
  const [known, path] = [pathsIn(document.metadata), metadata["path"]];
  // A document without a path belongs to no file, and gets none.
  const isNew = known.length > 0 && typeof path === "string" && !known.includes(path);
  return {
    ...document,
    filename: filename ?? document.filename,
    ...(isNew && { metadata: { ...document.metadata, path: [...known, path].slice(-MAX_PATHS) } }),
  };
}

/** The paths of the files a document was ingested from: several where files hold the same bytes. */
const pathsIn = ({ path }: Metadata): string[] => [path].flat().filter((each) => typeof each === "string");

/** The change that `asSentAgain` makes to a stored document; none where nothing changes. */
export function sentAgain(
  id: string,
  document: DocumentRow,
  sent: Pick<DocumentRow, "filename" | "metadata">,
): Change[] {
  const row = asSentAgain(document, sent);
  const isSame = row.filename === document.filename && row.metadata === document.metadata;
  return isSame ? [] : [{ table: "documents", id, row }];
}
