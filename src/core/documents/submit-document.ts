import type { DocumentPorts, HeldFile } from "./document-ports.ts";
import { jobChange, type JobEntry } from "./document-index.ts";
import { asSentAgain, sentAgain } from "./store-document.ts";
import type { DocumentRow, IngestRequest, JobRow } from "./document.ts";
import { goneError, type IdempotentRequest } from "../idempotency.ts";
import { claimsOf, isComplete } from "./ingest-document.ts";
import { type Given, type Metadata, type Owned, ownerOf, writerOf, type Written } from "../memory.ts";
import type { Change } from "../rows.ts";

/** A request to ingest, already checked against the limits of the API. */
export interface IngestInput extends Given<Owned & Written> {
  /** The upload, or the address to fetch. The file is released once a row needs it. */
  readonly original: { readonly file: HeldFile } | { readonly url: string };
  /** Refuses addresses on this machine and in private networks, whatever the settings allow. */
  readonly publicOnly?: boolean;
  readonly filename?: string;
  readonly claimedType?: string;
  readonly tags?: readonly string[];
  readonly metadata?: Metadata;
  readonly idempotency?: IdempotentRequest;
}

/** How long a finished job is kept: as long as an Idempotency-Key. */
const KEPT_MS = 24 * 60 * 60 * 1_000;

/**
 * Makes a job, durable when it resolves, and returns its id. The same bytes for the same user and project give the same
 * job while it is open, and a job that is over at once when the document is stored.
 * @throws {ServiceError} what `UrlFetcher.check` throws; STORE_FULL, NOT_READY; CONFLICT, GONE, UNPROCESSABLE with an
 *   Idempotency-Key (see `RequestLedger`); UNSUPPORTED_MEDIA_TYPE if the stored document is of another kind than claimed.
 */
export async function submitDocument(ports: DocumentPorts, input: IngestInput): Promise<string> {
  const { store, requests, fetcher, ids, clock } = ports;
  const { documents } = store.catalogue;
  const { original } = input;
  try {
    if ("url" in original) fetcher.check(original.url, publicOnlyOf(input));
    return await requests.once(
      store,
      input.idempotency,
      (commit) =>
        commit(({ now }) => {
          const { job, existing } = newJob(ports, input, now);
          const same =
            job.status === "queued" ? documents.openJobs().find((open) => isSame(open, job)) : undefined;
          const id = same?.id ?? ids.newId(clock.now());
          const changes: Change[] = [
            ...(same === undefined
              ? [{ table: "jobs", id, row: job } as const]
              : sentWhileQueued(same, input)),
            ...(existing === undefined ? [] : sentAgain(existing.id, existing, sentOf(input))),
            ...[...documents.jobs.values()]
              .filter(({ finishedAt }) => finishedAt !== null && finishedAt < now - KEPT_MS)
              .map(({ id }): Change => ({ table: "jobs", id, row: null })),
          ];
          return { changes, ids: [id], result: id };
        }),
      async ([id]) => {
        if (id === undefined || id === null || documents.jobs.get(id) === undefined) throw goneError();
        return id;
      },
    );
  } finally {
    if ("file" in original) original.file.release();
  }
}

/** The job, and the stored document of the same bytes if that is complete. */
function newJob(
  ports: DocumentPorts,
  input: IngestInput,
  now: number,
): { readonly job: JobRow; readonly existing?: DocumentRow } {
  const { documents } = ports.store.catalogue;
  const { original } = input;
  const file = "file" in original ? { sha256: original.file.sha256, bytes: original.file.bytes } : null;
  const owner = ownerOf(input);
  const existing = file === null ? undefined : documents.findByContent({ ...file, ...owner });
  const request: IngestRequest = {
    file,
    url: "url" in original ? original.url : null,
    ...sentOf(input),
    claimedType: input.claimedType ?? null,
    tags: input.tags ?? [],
    ...writerOf(input),
    fetchedAt: null,
    ...publicOnlyOf(input),
  };
  const isThere = existing !== undefined && isComplete(ports, existing);
  // As if it were read again: a claim that its bytes contradict is refused.
  if (isThere) ports.extractor.checkClaim(claimsOf(request), existing.extraction.kind);
  const job = {
    kind: "ingest",
    ...owner,
    problem: null,
    createdAt: now,
    startedAt: null,
    order: documents.nextJobOrder,
  } as const;
  if (!isThere)
    return {
      job: { ...job, status: "queued", request, documentId: null, deduplicated: false, finishedAt: null },
    };
  const done = { status: "succeeded", request: null, documentId: existing.id, deduplicated: true } as const;
  return { job: { ...job, ...done, finishedAt: now }, existing };
}

/** The same bytes sent again while their job is open: the last name counts, as for stored documents. */
function sentWhileQueued(open: JobEntry, input: IngestInput): Change[] {
  if (open.request === null) return [];
  return [jobChange({ ...open, request: asSentAgain(open.request, sentOf(input)) })];
}

function sentOf({ filename, metadata }: IngestInput): Pick<IngestRequest, "filename" | "metadata"> {
  return { filename: filename ?? null, metadata: metadata ?? {} };
}

/** True for the same bytes with the same claim, or the same unfetched page, of the same owner. */
function isSame(a: JobRow, b: JobRow): boolean {
  if (a.userId !== b.userId || a.project !== b.project) return false;
  const [one, other] = [a.request?.file, b.request?.file];
  if (one && other) return one.sha256 === other.sha256 && claimKey(a.request) === claimKey(b.request);
  return (
    !one && !other && a.request?.url === b.request?.url && a.request?.publicOnly === b.request?.publicOnly
  );
}

/** Kept in the job's row, so that it holds after a restart too. */
const publicOnlyOf = ({ publicOnly }: Pick<IngestInput, "publicOnly">): { publicOnly?: true } =>
  publicOnly === true ? { publicOnly } : {};

/** The claims that, beside the bytes, decide the kind: a job refused for its type does not answer another claim. */
function claimKey(request: IngestRequest | null): string {
  const extension = /\.[^.]*$/.exec(request?.filename ?? "")?.[0].toLowerCase() ?? "";
  return JSON.stringify([request?.claimedType ?? null, extension]);
}
