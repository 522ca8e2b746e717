import { mapAtOnce } from "../at-once.ts";
import { CHUNKING_VERSION } from "./chunking.ts";
import { duplicateHash, embeddedText, readText, sectorsOf } from "../memories/compose-memory.ts";
import { jobChange } from "./document-index.ts";
import type { DocumentPorts, JobControl } from "./document-ports.ts";
import type { DocumentRow, IngestRequest, JobRow } from "./document.ts";
import type { DocumentEmbedding } from "../embedding.ts";
import { conflict, ServiceError } from "../errors.ts";
import { planDocument, documentChanges, documentDeletion, sentAgain } from "./store-document.ts";
import type { DocumentPlan, PlannedMemory, ComposedPlaces } from "./store-document.ts";
import type { CutDocument } from "./extraction.ts";
import { readRecording } from "./read-recording.ts";
import type { Change } from "../rows.ts";
import { type Owned, type Written, writerOf } from "../memory.ts";

/** Chunks of one document that wait for the model at a time, so that questions and other adds come in between. */
const EMBEDDED_AT_ONCE = 4;
/** Delay before a retry where the embedder names none. */
const USUAL_WAIT_S = 2;
/** Maximum number of attempts for a document that is changed at the same time. */
const ATTEMPTS = 3;

/**
 * Does the next step of a job. A page is fetched and becomes part of the job, which stays open. A document is read and
 * embedded, and one record stores all of it and ends the job. A job that is stopped before leaves only the original, and
 * repeating it gives the same result. Once the record is accepted, the job cannot be stopped.
 * @throws {ServiceError} what fetching, extracting and storing throw; the signal's reason.
 */
export async function ingestDocument(
  ports: DocumentPorts,
  jobId: string,
  control: JobControl,
): Promise<void> {
  const job = ports.store.catalogue.documents.jobs.get(jobId);
  if (job === undefined || job.request === null) return;
  const { request } = job;
  if (request.file === null) {
    await fetchOriginal(ports, jobId, request, control);
    return;
  }
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    control.signal.throwIfAborted();
    if (await attemptOnce(ports, jobId, job, request, control)) return;
  }
  throw conflict("The document was being changed at the same time; ingest it again.", {
    retryAfterSeconds: 1,
  });
}

/** The fetched page becomes part of the job, so that a restart continues from there. */
async function fetchOriginal(
  { files, fetcher, store }: DocumentPorts,
  jobId: string,
  request: IngestRequest,
  { signal, onProgress }: JobControl,
): Promise<void> {
  if (request.url === null) throw new TypeError("a job has a file or an address");
  onProgress({ stage: "fetching", done: 0, total: 0 });
  await store.assertWritable();
  const file = await files.create();
  try {
    const page = await fetcher.fetch(request.url, {
      sink: file,
      signal,
      ...(request.publicOnly === true && { publicOnly: true }),
      onProgress: (progress) => onProgress({ stage: "fetching", ...progress }),
    });
    const held = await file.keep();
    try {
      await store.commit(() => {
        const job = openJob(store.catalogue.documents.jobs.get(jobId));
        // The name may have changed: the page may have been sent again.
        const asked = job.request ?? request;
        const fetched: IngestRequest = {
          ...asked,
          file: { sha256: held.sha256, bytes: held.bytes },
          url: page.url,
          filename: asked.filename ?? page.filename,
          claimedType: asked.claimedType ?? claimOf(page),
          fetchedAt: page.fetchedAt,
        };
        return { changes: [jobChange({ ...job, request: fetched })], result: undefined };
      });
    } finally {
      held.release();
    }
  } finally {
    await file.discard();
  }
}

function claimOf(page: { contentType: string | null; charset: string | null }): string | null {
  const { contentType, charset } = page;
  return contentType !== null && charset !== null ? `${contentType}; charset=${charset}` : contentType;
}

/** False where the document was changed at the same time: try again. */
async function attemptOnce(
  ports: DocumentPorts,
  jobId: string,
  job: JobRow,
  request: IngestRequest,
  control: JobControl,
): Promise<boolean> {
  const { store, ids, clock } = ports;
  const { file } = request;
  if (file === null) throw new TypeError("the original is there by now");
  const content = { sha256: file.sha256, userId: job.userId, project: job.project };
  const { documents } = store.catalogue;
  const existing = documents.findByContent(content);
  if (existing !== undefined && isComplete(ports, existing)) {
    ports.extractor.checkClaim(claimsOf(request), existing.extraction.kind);
    return store.commit(() => {
      const current = documents.findByContent(content);
      if (current === undefined || !isComplete(ports, current)) return { changes: [], result: false };
      const { request: asked } = openJob(documents.jobs.get(jobId));
      const changes = [
        ...sentAgain(current.id, current, asked ?? request),
        endOfJob(ports, jobId, control, current.id, true),
      ];
      return { changes, result: true };
    });
  }

  const extracted = await readOriginal(ports, file.sha256, job, request, control);
  const id = existing?.id ?? ids.newId(clock.now());
  const plan = planDocument(id, extracted, existing ?? request);
  const kept = existing !== undefined && isCutAlike(existing, plan) ? existing : undefined;
  const missing = plan.memories.flatMap((_, place) =>
    kept !== undefined && isThere(ports, kept, place) ? [] : [place],
  );
  const composed = await composePlaces(
    ports,
    plan,
    missing,
    existing ?? { ...job, ...withOwnFields(request, extracted) },
    control,
  );

  control.onProgress({ stage: "storing", done: 0, total: 0 });
  const stored = await store.commit(function* (section) {
    control.signal.throwIfAborted();
    // The name may have changed: the file may have been sent again.
    const asked = openJob(documents.jobs.get(jobId)).request ?? request;
    const current = documents.findByContent(content);
    // Row objects are replaced, never changed: another object is another version.
    const isSame = current === existing && (kept === undefined || plan.memories.every(isStillSo));
    if (!isSame) return { changes: [], result: false };
    const isRemade = existing !== undefined && kept === undefined;
    const before = isRemade ? (yield* documentDeletion(ports, existing, id)).changes : [];
    const changes: Change[] = [
      ...before.filter(({ table }) => table !== "jobs"),
      ...(yield* documentChanges(section, {
        id,
        existing,
        job,
        request: withOwnFields(asked, extracted),
        file,
        mediaType: extracted.mediaType,
        plan,
        composed,
      })),
      endOfJob(ports, jobId, control, id, existing !== undefined),
    ];
    return { changes, result: true };
  });
  return stored;

  function isStillSo(_: PlannedMemory, place: number): boolean {
    return composed.has(place) || (kept !== undefined && isThere(ports, kept, place));
  }
}

async function readOriginal(
  ports: DocumentPorts,
  sha256: string,
  { userId }: JobRow,
  request: IngestRequest,
  control: JobControl,
): Promise<CutDocument> {
  const { url, metadata } = request;
  const bytes = { path: ports.files.pathOf(sha256) };
  const input = { bytes, ...claimsOf(request), ...(url !== null && { url }) };
  const { signal, onProgress } = control;
  const options = { signal, onProgress, ...(userId !== null && { user: userId }) };
  if (!(await ports.decoder.recognises(input))) return ports.extractor.extract(input, options);
  await control.queueForRecording();
  return readRecording(ports, input, metadata, options);
}

const MAX_TAGS = 64;

/** A request with the tags and fields of the note itself beside those that were sent, which win. */
function withOwnFields(request: IngestRequest, { tags = [], metadata = {} }: CutDocument): IngestRequest {
  // The path names the file that a document came from, and no note may choose one.
  const { path: _path, ...own } = metadata;
  return {
    ...request,
    tags: Array.from(new Set([...request.tags, ...tags])).slice(0, Math.max(MAX_TAGS, request.tags.length)),
    metadata: { ...own, ...request.metadata },
  };
}

/** The sender's claims, as extraction takes them: `metadata.encoding` is the charset of a text. */
export function claimsOf({
  claimedType,
  filename,
  metadata: { encoding },
}: Pick<IngestRequest, "claimedType" | "filename" | "metadata">) {
  const type =
    typeof encoding === "string"
      ? `${claimedType ?? "application/octet-stream"}; charset=${encoding}`
      : claimedType;
  return { ...(type !== null && { claimedType: type }), ...(filename !== null && { filename }) };
}

/** True when none of its memories was deleted. */
export const isComplete = (ports: Pick<DocumentPorts, "store">, document: DocumentRow): boolean =>
  document.memoryIds.every((_, place) => isThere(ports, document, place));

const isThere = ({ store }: Pick<DocumentPorts, "store">, document: DocumentRow, place: number): boolean =>
  store.catalogue.find(document.memoryIds[place] ?? "")?.documentId === document.id;

/** True if the places of memories mean the same in both. */
function isCutAlike(document: DocumentRow, { strategy, memories }: DocumentPlan): boolean {
  const { chunkingVersion, memoryIds } = document;
  return (
    chunkingVersion === CHUNKING_VERSION &&
    document.strategy === strategy &&
    memoryIds.length === memories.length
  );
}

/** @throws {ServiceError} CONFLICT for a job that is over: it was cancelled. */
function openJob<T extends JobRow>(job: T | undefined): T {
  if (job?.status !== "queued") throw conflict("The job was cancelled.");
  return job;
}

function endOfJob(
  { store, clock }: DocumentPorts,
  jobId: string,
  { startedAt }: JobControl,
  documentId: string,
  deduplicated: boolean,
): Change {
  return jobChange({
    ...openJob(store.catalogue.documents.jobs.get(jobId)),
    status: "succeeded",
    request: null,
    documentId,
    deduplicated,
    startedAt,
    finishedAt: clock.now(),
  });
}

async function composePlaces(
  ports: DocumentPorts,
  plan: DocumentPlan,
  places: readonly number[],
  owner: Owned & Written & Pick<DocumentRow, "tags" | "metadata">,
  { signal, onProgress }: JobControl,
): Promise<ComposedPlaces> {
  const { ids, clock, classify, sha256 } = ports;
  const { userId, project, tags, metadata } = owner;
  const { occurredAt } = plan;
  let done = 0;
  onProgress({ stage: "embedding", done, total: places.length });
  const composed = await mapAtOnce(places, EMBEDDED_AT_ONCE, async (place) => {
    const memory = plan.memories[place] as PlannedMemory;
    const embedding = await embed(ports, embeddedText(memory), signal);
    const identity = { ...memory, userId, project, tags, metadata, sessionId: null, occurredAt };
    done += 1;
    onProgress({ stage: "embedding", done, total: places.length });
    return {
      id: ids.newId(clock.now()),
      identity,
      hash: duplicateHash(sha256, identity),
      embedding,
      sectors: sectorsOf(classify, memory.content, embedding),
      ...writerOf(owner),
      supersedes: [],
      readText: readText(identity, clock.now()),
    };
  });
  return new Map(composed.map((memory, i) => [places[i] as number, memory]));
}

/** Retries while too many texts wait. */
async function embed(
  { embedder, pause }: DocumentPorts,
  text: string,
  signal: AbortSignal,
): Promise<DocumentEmbedding> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await embedder.embedDocument(text);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== "RATE_LIMITED") throw error;
      await pause((error.retryAfterSeconds ?? USUAL_WAIT_S) * 1_000, signal);
    }
  }
}
