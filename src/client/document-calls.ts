import { MemorydError } from "./memoryd-error.ts";
import type {
  ChunkPlace,
  DeletedDocument,
  DocumentFilter,
  DocumentPage,
  DocumentPlace,
  DocumentWithChunks,
  IngestFields,
  IngestResult,
  Job,
  JobPage,
  Owner,
  StoredDocument,
} from "./records.ts";
import { type CallOptions, path, sleep, type Transport, type WriteOptions } from "./transport.ts";
import { walkPages } from "./walk-pages.ts";

/** A text, an address that the daemon fetches, or bytes: `new Blob([…])`, or a `File`, which has its own name. */
export type IngestSource =
  | { readonly text: string }
  | { readonly url: string }
  | { readonly file: Blob; readonly filename?: string };

export interface WaitOptions extends CallOptions {
  /** Told how far the job is, each time that it is asked. */
  readonly onProgress?: (job: Job) => void;
}

export interface JobCalls {
  get(id: string, owner?: Owner, options?: CallOptions): Promise<Job>;
  page(place?: DocumentPlace, options?: CallOptions): Promise<JobPage>;
  cancel(id: string, owner?: Owner, options?: CallOptions): Promise<Job>;
  /**
   * Waits until a job is done, however long that takes; `signal` ends the waiting, not the job.
   *
   * @throws {MemorydError} what the job failed with; `JOB_CANCELLED`.
   */
  wait(id: string, owner?: Owner, options?: WaitOptions): Promise<IngestResult>;
}

export interface DocumentCalls {
  /** Begins to take a document in and answers at once: the job, or the result of what was there already. */
  submit(source: IngestSource, fields?: IngestFields, options?: WriteOptions): Promise<Job | IngestResult>;
  /** Takes a document in and waits until its memories can be found. `timeoutMs` is for sending it. @throws as `wait`. */
  ingest(
    source: IngestSource,
    fields?: IngestFields,
    options?: WriteOptions & WaitOptions,
  ): Promise<IngestResult>;
  get(id: string, place?: ChunkPlace, options?: CallOptions): Promise<DocumentWithChunks>;
  /** One page, newest first. */
  page(place?: DocumentPlace, options?: CallOptions): Promise<DocumentPage>;
  /** All that match, newest first, fetched page by page. */
  list(filter?: DocumentFilter, options?: CallOptions): AsyncGenerator<StoredDocument, void, undefined>;
  /** The original bytes. */
  file(id: string, owner?: Owner, options?: CallOptions): Promise<Blob>;
  delete(id: string, owner?: Owner, options?: CallOptions): Promise<DeletedDocument>;
}

/** Between two looks at a job; each is longer by half, up to the longest. */
const FIRST_LOOK_MS = 100;
const LONGEST_LOOK_MS = 2_000;

export function jobCalls({ json }: Transport): JobCalls {
  const get: JobCalls["get"] = (id, owner, options) =>
    json({ method: "GET", path: path`/jobs/${id}`, query: { ...owner }, options });
  return {
    get,
    page: (place, options) => json({ method: "GET", path: "/jobs", query: { ...place }, options }),
    cancel: (id, owner, options) =>
      json({ method: "DELETE", path: path`/jobs/${id}`, query: { ...owner }, options }),
    async wait(id, owner, options) {
      for (let pause = FIRST_LOOK_MS; ; pause = Math.min(pause * 1.5, LONGEST_LOOK_MS)) {
        const job = await get(id, owner, options);
        options?.onProgress?.(job);
        const result = outcomeOf(job);
        if (result !== undefined) return result;
        await sleep(pause, options?.signal);
      }
    },
  };
}

export function documentCalls({ json, blob }: Transport, jobs: Pick<JobCalls, "wait">): DocumentCalls {
  const page: DocumentCalls["page"] = (place, options) =>
    json({ method: "GET", path: "/documents", query: { ...place }, options });
  const submit: DocumentCalls["submit"] = (source, fields = {}, options) =>
    json({
      method: "POST",
      path: "/ingest",
      body: "file" in source ? formOf(source, fields) : { ...fields, ...source },
      headers: { prefer: "respond-async" },
      isWrite: true,
      options,
    });
  return {
    submit,
    async ingest(source, fields, options) {
      const begun = await submit(source, fields, options);
      if (!("status" in begun)) return begun;
      const owner = fields?.user_id === undefined ? {} : { user_id: fields.user_id };
      return await jobs.wait(begun.id, owner, { ...options, timeoutMs: undefined });
    },
    page,
    list: (filter, options) =>
      walkPages(
        (place) => page({ ...filter, ...place }, options),
        ({ items }) => items,
      ),
    get: (id, place, options) =>
      json({ method: "GET", path: path`/documents/${id}`, query: { ...place }, options }),
    file: (id, owner, options) =>
      blob({ method: "GET", path: path`/documents/${id}/file`, query: { ...owner }, options }),
    delete: (id, owner, options) =>
      json({ method: "DELETE", path: path`/documents/${id}`, query: { ...owner }, options }),
  };
}

/** Undefined while it runs. */
function outcomeOf({ id, status, result, problem }: Job): IngestResult | undefined {
  switch (status) {
    case "queued":
    case "running":
      return undefined;
    case "cancelled":
      throw new MemorydError({ code: "JOB_CANCELLED", detail: `The job ${id} was cancelled.` });
    case "failed":
    case "succeeded":
      if (result !== undefined) return result;
      throw new MemorydError({
        code: problem?.code ?? "GONE",
        status: problem?.status ?? 0,
        detail: problem?.detail ?? "The document was deleted right after it was made.",
        errors: problem?.errors ?? [],
        requestId: problem?.request_id,
      });
  }
}

function formOf(
  { file, filename }: { readonly file: Blob; readonly filename?: string },
  { tags, metadata, ...texts }: IngestFields,
): FormData {
  const form = new FormData();
  for (const [name, text] of Object.entries(texts)) if (text !== undefined) form.set(name, text);
  if (tags !== undefined) form.set("tags", JSON.stringify(tags));
  if (metadata !== undefined) form.set("metadata", JSON.stringify(metadata));
  if (filename === undefined) form.set("file", file);
  else form.set("file", file, filename);
  return form;
}
