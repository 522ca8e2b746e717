import { MemorydError } from "./memoryd-error.ts";
import type * as wire from "./records.ts";
import { type CallOptions, path, sleep, type Transport, walkPages, type WriteOptions } from "./transport.ts";

/** A text, an address that the daemon fetches, or bytes: `new Blob([…])`, or a `File`, which has its own name. */
export type IngestSource =
  | { readonly text: string }
  | { readonly url: string }
  | { readonly file: Blob; readonly filename?: string };

export interface WaitOptions extends CallOptions {
  /** Told how far the job is, each time that it is asked. */
  readonly onProgress?: (job: wire.Job) => void;
}

export type JobCalls = ReturnType<typeof jobCalls>;
export type DocumentCalls = ReturnType<typeof documentCalls>;

/** Between two looks at a job; each is longer by half, up to the longest. */
const FIRST_LOOK_MS = 100;
const LONGEST_LOOK_MS = 2_000;

export function jobCalls({ get, remove }: Transport) {
  const job = (id: string, owner?: wire.Owner, options?: CallOptions) =>
    get<wire.Job>(path`/jobs/${id}`, owner, options);
  return {
    get: job,
    page: (place?: wire.DocumentPlace, options?: CallOptions) => get<wire.JobPage>("/jobs", place, options),
    cancel: (id: string, query?: wire.Owner, options?: CallOptions) =>
      remove<wire.Job>(path`/jobs/${id}`, query, options),
    /** Waits until a job is done; `signal` ends the waiting, not the job. @throws {MemorydError} also `JOB_CANCELLED`. */
    async wait(id: string, owner?: wire.Owner, options?: WaitOptions): Promise<wire.IngestResult> {
      for (let pause = FIRST_LOOK_MS; ; pause = Math.min(pause * 1.5, LONGEST_LOOK_MS)) {
        const now = await job(id, owner, options);
        options?.onProgress?.(now);
        const result = outcomeOf(now);
        if (result !== undefined) return result;
        await sleep(pause, options?.signal);
      }
    },
  };
}

export function documentCalls({ json, get, remove, blob }: Transport, jobs: Pick<JobCalls, "wait">) {
  /** One page, newest first. */
  const page = (place?: wire.DocumentPlace, options?: CallOptions) =>
    get<wire.DocumentPage>("/documents", place, options);
  /** Begins to take a document in and answers at once: the job, or the result of what was there already. */
  const submit = (source: IngestSource, fields: wire.IngestFields = {}, options?: WriteOptions) =>
    json<wire.Job | wire.IngestResult>({
      method: "POST",
      path: "/ingest",
      body: "file" in source ? formOf(source, fields) : { ...fields, ...source },
      headers: { prefer: "respond-async" },
      isWrite: true,
      options,
    });
  return {
    submit,
    /** Takes a document in and waits until its memories can be found. `timeoutMs` is for sending it. @throws as `wait`. */
    async ingest(
      source: IngestSource,
      fields?: wire.IngestFields,
      options?: WriteOptions & WaitOptions,
    ): Promise<wire.IngestResult> {
      const begun = await submit(source, fields, options);
      if (!("status" in begun)) return begun;
      const owner = fields?.user_id === undefined ? {} : { user_id: fields.user_id };
      return await jobs.wait(begun.id, owner, { ...options, timeoutMs: undefined });
    },
    page,
    /** All that match, newest first, fetched page by page. */
    list: (
      filter?: wire.DocumentFilter,
      options?: CallOptions,
    ): AsyncGenerator<wire.StoredDocument, void, undefined> =>
      walkPages((place) => page({ ...filter, ...place }, options)),
    get: (id: string, place?: wire.ChunkPlace, options?: CallOptions) =>
      get<wire.DocumentWithChunks>(path`/documents/${id}`, place, options),
    /** The original bytes. */
    file: (id: string, query?: wire.Owner, options?: CallOptions) =>
      blob({ method: "GET", path: path`/documents/${id}/file`, query, options }),
    /** Gives an imported document its original back: the very bytes that it was made of. */
    restoreFile: (id: string, body: Blob, options?: CallOptions) =>
      json<{ ok: true; id: string }>({ method: "PUT", path: path`/documents/${id}/file`, body, options }),
    /** For good, unless `trash` says otherwise. */
    delete: (id: string, query?: wire.Deletion, options?: CallOptions) =>
      remove<wire.DeletedDocument>(path`/documents/${id}`, query, options),
  };
}

/** Undefined while it runs. */
function outcomeOf({ id, status, result, problem }: wire.Job): wire.IngestResult | undefined {
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
  { tags, metadata, ...texts }: wire.IngestFields,
): FormData {
  const form = new FormData();
  for (const [name, text] of Object.entries(texts)) if (text !== undefined) form.set(name, text);
  if (tags !== undefined) form.set("tags", JSON.stringify(tags));
  if (metadata !== undefined) form.set("metadata", JSON.stringify(metadata));
  if (filename === undefined) form.set("file", file);
  else form.set("file", file, filename);
  return form;
}
