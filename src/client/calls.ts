import {
  MemorydError,
  path,
  sleep,
  walkPages,
  type CallOptions,
  type Transport,
  type VersionOptions,
  type WriteOptions,
} from "./transport.ts";
import type * as wire from "./records.ts";

export function memoryCalls({ get, remove, post, patch, write }: Transport) {
  /** One page, newest first. */
  const page = (place?: wire.MemoryPlace, options?: CallOptions) =>
    get<wire.MemoryPage>("/memory/all", place, options);
  return {
    page,
    /** All that match, newest first, fetched page by page. */
    list: (filter?: wire.MemoryFilter, options?: CallOptions): AsyncGenerator<wire.Memory, void, undefined> =>
      walkPages((place) => page({ ...filter, ...place }, options)),
    /** Pairs of a memory and the later one that superseded it, or seems to have. */
    superseded: (
      filter?: Omit<wire.SupersededPlace, "l" | "u" | "cursor">,
      options?: CallOptions,
    ): AsyncGenerator<wire.SupersededPair, void, undefined> =>
      walkPages((place) => get<wire.SupersededPage>("/memory/superseded", { ...filter, ...place }, options)),
    /** Memories that name a day or month to come, the soonest first. */
    coming: (filter?: wire.ComingQuery, options?: CallOptions) =>
      get<wire.ComingMemories>("/memory/coming", filter, options),
    add: (memory: wire.NewMemory, options?: WriteOptions) =>
      write<wire.AddedMemory>("/memory/add", memory, options),
    /** Up to 1 000 in one write; each is judged by itself, so look at `failed`. */
    addMany: (memories: readonly wire.NewMemory[], options?: WriteOptions) =>
      write<wire.AddedMemories>("/memory/add/batch", { memories }, options),
    /** By day of adding, day it happened, client, project, tag or user. */
    counts: (query: wire.MemoryCountsQuery, options?: CallOptions) =>
      get<wire.MemoryCounts>("/memory/counts", query, options),
    get: (id: string, owner?: wire.Owner, options?: CallOptions) =>
      get<wire.Memory>(path`/memory/${id}`, owner, options),
    update: (id: string, body: wire.MemoryChanges, options?: VersionOptions) =>
      patch<wire.UpdatedMemory>(path`/memory/${id}`, body, options),
    /** Adds and removes tags of up to 1 000 memories; each is judged by itself, so look at `failed`. */
    tag: (changes: wire.TagChanges, options?: CallOptions) =>
      post<wire.TaggedMemories>("/memory/tags", changes, options),
    /** For good, unless `trash` says otherwise. */
    delete: (id: string, query?: wire.Deletion, options?: VersionOptions) =>
      remove<wire.DeletedMemory>(path`/memory/${id}`, query, options),
    /** Its versions, newest first; the present one is the first. */
    history: (id: string, place?: wire.HistoryPlace, options?: CallOptions) =>
      get<wire.MemoryHistory>(path`/memory/${id}/history`, place, options),
    /** Makes an earlier version the present one. */
    restore: (id: string, body: { readonly version: number } & wire.Owner, options?: VersionOptions) =>
      post<wire.Memory>(path`/memory/${id}/restore`, body, options),
    /** Removes its earlier versions for good. */
    eraseHistory: (id: string, query?: wire.Owner, options?: CallOptions) =>
      remove<wire.Erased>(path`/memory/${id}/history`, query, options),
    /** @param boost 0…1; 0.1 if left out. */
    reinforce: (id: string, boost?: wire.Owner & { readonly boost?: number }, options?: WriteOptions) =>
      write<wire.ReinforcedMemory>("/memory/reinforce", { ...boost, id }, options),
    related: (id: string, place?: wire.Owner & { readonly depth?: number }, options?: CallOptions) =>
      get<wire.RelatedMemories>(path`/memory/${id}/related`, place, options),
  };
}

/** Memories that were deleted and can be restored. */
export function trashCalls({ json, get, remove }: Transport) {
  return {
    page: (place?: wire.TrashPlace, options?: CallOptions) => get<wire.Trash>("/trash", place, options),
    /** Brings a memory back, or a document by its first memory. */
    restore: (id: string, query?: wire.Owner, options?: CallOptions) =>
      json<wire.Memory>({ method: "POST", path: path`/trash/${id}/restore`, query, options }),
    /** Removes one entry for good. */
    delete: (id: string, query?: wire.Owner, options?: CallOptions) =>
      remove<wire.Erased>(path`/trash/${id}`, query, options),
    /** Removes all of it for good. */
    empty: (query?: wire.Owner, options?: CallOptions) => remove<wire.Erased>("/trash", query, options),
  };
}

const FACTS = "/api/temporal/fact";

export function factCalls({ get, remove, patch, write }: Transport) {
  /** One page; past facts too, unless `at` names a moment. */
  const page = (place?: wire.FactPlace, options?: CallOptions) => get<wire.FactPage>(FACTS, place, options);
  return {
    page,
    /** All that match, fetched page by page. */
    list: (filter?: wire.FactFilter, options?: CallOptions): AsyncGenerator<wire.Fact, void, undefined> =>
      walkPages((place) => page({ ...filter, ...place }, options)),
    record: (body: wire.NewFact, options?: WriteOptions) => write<wire.RecordedFact>(FACTS, body, options),
    /** Up to 1 000, in order; each is judged by itself, so look at `failed`. */
    recordMany: (facts: readonly wire.NewFact[], options?: WriteOptions) =>
      write<wire.RecordedFacts>(`${FACTS}/batch`, { facts }, options),
    /** The fact that is true now, or `at` a moment. @throws {MemorydError} `NOT_FOUND` where nothing is. */
    current: async (filter: wire.CurrentFactFilter, options?: CallOptions) =>
      (await get<{ fact: wire.Fact }>(`${FACTS}/current`, filter, options)).fact,
    get: async (id: string, filter?: wire.OneFactFilter, options?: CallOptions) =>
      (await get<{ fact: wire.Fact }>(path`/api/temporal/fact/${id}`, filter, options)).fact,
    update: (id: string, body: wire.FactChanges, options?: CallOptions) =>
      patch<wire.Fact>(path`/api/temporal/fact/${id}`, body, options),
    /** Ends it now, or at `valid_to`. */
    close: (id: string, end?: wire.FactEnd, options?: CallOptions) =>
      remove<wire.Fact>(path`/api/temporal/fact/${id}`, end, options),
    /** Removes it and all its versions for good. */
    erase: (id: string, owner?: wire.Owner, options?: CallOptions) =>
      remove<wire.Fact>(path`/api/temporal/fact/${id}`, { ...owner, erase: true }, options),
    timeline: (filter: wire.FactTimelineFilter, options?: CallOptions) =>
      get<wire.FactTimeline>("/api/temporal/timeline", filter, options),
    search: (search: wire.FactSearch, options?: CallOptions) =>
      get<wire.FoundFacts>("/api/temporal/search", search, options),
    compare: (filter: wire.FactComparisonFilter, options?: CallOptions) =>
      get<wire.FactComparison>("/api/temporal/compare", filter, options),
    stats: (filter?: wire.FactStatsFilter, options?: CallOptions) =>
      get<wire.FactStats>("/api/temporal/stats", filter, options),
    /** Subjects of facts, those with the most first; one page. */
    subjects: (place?: wire.FactSubjectsPlace, options?: CallOptions) =>
      get<wire.FactSubjects>("/api/temporal/subjects", place, options),
    volatile: (filter?: wire.VolatileFactsFilter, options?: CallOptions) =>
      get<wire.VolatileFacts>("/api/temporal/volatile", filter, options),
  };
}

export function userCalls({ get, remove, post }: Transport) {
  /** One page, by id; for the scope `admin`. */
  const page = (
    place?: { readonly l?: number; readonly u?: number; readonly cursor?: string },
    options?: CallOptions,
  ) => get<wire.UserPage>("/users", place, options);
  return {
    page,
    /** All users, by id, fetched page by page; for the scope `admin`. */
    list: (options?: CallOptions): AsyncGenerator<wire.User, void, undefined> =>
      walkPages((place) => page(place, options)),
    /** A user's memories, newest first, fetched page by page. */
    memories: (
      userId: string,
      filter?: wire.MemoryFilter,
      options?: CallOptions,
    ): AsyncGenerator<wire.Memory, void, undefined> =>
      walkPages((place) =>
        get<wire.MemoryPage>(path`/users/${userId}/memories`, { ...filter, ...place }, options),
      ),
    /** A short summary of a user's memories. */
    summary: (userId: string, options?: CallOptions) =>
      get<wire.UserSummary>(path`/users/${userId}/summary`, {}, options),
    /** The same, made now. */
    regenerateSummary: (userId: string, options?: CallOptions) =>
      post<wire.UserSummary>(path`/users/${userId}/summary/regenerate`, undefined, options),
    /** All memories of a user, with documents and originals, but for what `keep` names; facts too with `include`. */
    deleteMemories: (userId: string, query?: wire.UserDeletion, options?: CallOptions) =>
      remove<wire.DeletedUserMemories>(path`/users/${userId}/memories`, query, options),
  };
}

export function keyCalls({ get, remove, post }: Transport) {
  return {
    list: (options?: CallOptions) => get<wire.Keys>("/keys", {}, options),
    /** The key itself is in this answer and in no other. */
    create: (body: wire.NewKey, options?: CallOptions) => post<wire.MadeKey>("/keys", body, options),
    revoke: (id: string, options?: CallOptions) => remove<wire.Key>(path`/keys/${id}`, {}, options),
    /** So that none is needed; with the token in the data directory only. */
    removeAll: (options?: CallOptions) => remove<wire.RemovedKeys>("/keys", {}, options),
  };
}

export function transferCalls({ post, stream }: Transport) {
  return {
    /** Everything, as lines of JSON; cut off where its last line is not of the type `end`. */
    export: (
      query?: { readonly user_id?: string; readonly project?: string; readonly waypoints?: boolean },
      options?: CallOptions,
    ) => stream({ method: "GET", path: "/export", query, options }),
    /** @param lines the first line of an export and up to 1 000 others; each is judged by itself. */
    import: (lines: string, options?: CallOptions) => post<wire.ImportedLines>("/import", lines, options),
  };
}

export function compactionCalls({ json, get }: Transport) {
  return {
    status: (options?: CallOptions) => get<wire.Compaction>("/compact", {}, options),
    /** With `backups` those of the store are then replaced by a new one. */
    start: (query: wire.PurgeRequest = {}, options?: CallOptions) =>
      json<wire.StartedCompaction>({ method: "POST", path: "/compact", query, options }),
  };
}

export function backupCalls({ get, remove, post }: Transport) {
  return {
    list: (options?: CallOptions) => get<wire.Backups>("/backups", {}, options),
    /** Begins one; `list` says how far it is. */
    create: (body: wire.NewBackup = {}, options?: CallOptions) =>
      post<wire.StartedBackup>("/backups", body, options),
    /** Rejects with DAMAGED where it is not whole. */
    verify: (name: string, options?: CallOptions) =>
      post<wire.Backup>(path`/backups/${name}/verify`, undefined, options),
    remove: (name: string, options?: CallOptions) =>
      remove<wire.RemovedBackup>(path`/backups/${name}`, {}, options),
  };
}

export function modelCalls({ get, post }: Transport) {
  return {
    list: (options?: CallOptions) => get<wire.Models>("/models", {}, options),
    /** Begins to embed all memories again with that model; `list` says how far it is. */
    use: (name: string, options?: CallOptions) => post<wire.Models>("/models/use", { name }, options),
  };
}

/** A text, an address that the daemon fetches, or bytes: `new Blob([…])`, or a `File`, which has its own name. */
export type IngestSource =
  | { readonly text: string }
  | { readonly url: string }
  | { readonly file: Blob; readonly filename?: string };

export interface WaitOptions extends CallOptions {
  /** Told how far the job is, each time that it is asked. */
  readonly onProgress?: (job: wire.Job) => void;
}

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

export function documentCalls(
  { json, get, remove, blob }: Transport,
  jobs: Pick<ReturnType<typeof jobCalls>, "wait">,
) {
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
