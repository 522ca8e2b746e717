import type { DocumentPorts, JobProgress } from "./document-ports.ts";
import { jobChange, type JobEntry } from "./document-index.ts";
import { memoryIdsOf } from "./store-document.ts";
import type { DocumentRow, IngestRequest, JobProblem, JobRow } from "./document.ts";
import { SMALL_DOCUMENT_BYTES } from "./extraction.ts";
import { conflict, notReady, ServiceError } from "../errors.ts";
import { ingestDocument } from "./ingest-document.ts";

export interface IngestJobsOptions {
  /** Documents ingested at a time, beside one small one, one recording and fetched pages; others wait in order. */
  readonly concurrency: number;
  /** Receives failures that are bugs. */
  readonly report: (error: unknown) => void;
}

/** A job as it is shown. */
export interface JobView extends Pick<JobEntry, "id" | "kind" | "createdAt" | "startedAt" | "finishedAt"> {
  readonly status: JobRow["status"] | "running";
  readonly progress: JobProgress;
  /** Only of a job that succeeded. */
  readonly result?: IngestResult;
  /** Only of a job that failed. */
  readonly problem?: JobProblem;
}

export interface IngestResult {
  readonly document: DocumentRow;
  /** The memories that still exist, in order, the root first where there is one. */
  readonly memoryIds: readonly string[];
  /** True when the document was there before. */
  readonly deduplicated: boolean;
}

/** `fetching` while its page is fetched, then by the size of its file: a note does not wait for books. */
type Lane = "fetching" | "small" | "large";

interface RunningJob {
  lane: Lane | "recording";
  readonly controller: AbortController;
  readonly startedAt: number;
  progress: JobProgress;
  readonly ended: Promise<void>;
}

/** Fetching is mostly waiting, and a slow page holds its place for as long as a fetch may take. */
const FETCHES_AT_ONCE = 8;
const QUEUED: JobProgress = { stage: "queued", done: 0, total: 0 };
/** For every finished job: the status shows whether it succeeded. */
const DONE: JobProgress = { stage: "done", done: 1, total: 1 };

/** Runs ingestion jobs, oldest first in each lane; `start` repeats those that a crash interrupted. */
export class IngestJobs {
  readonly #ports: DocumentPorts;
  readonly #concurrency: number;
  readonly #report: (error: unknown) => void;
  #waiting: string[] = [];
  readonly #running = new Map<string, RunningJob>();
  /** Settles when all earlier recordings have ended. */
  #recordings: Promise<void> = Promise.resolve();
  /** Jobs whose end the store refused to write, with the reason. The next start repeats them. */
  readonly #stuck = new Map<string, JobProblem>();
  /** Resolve the promises of `ended`, by job. */
  readonly #watchers = new Map<string, (() => void)[]>();
  #isClosed = false;

  constructor(ports: DocumentPorts, { concurrency, report }: IngestJobsOptions) {
    this.#ports = ports;
    this.#concurrency = concurrency;
    this.#report = report;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  get running(): number {
    return this.#running.size;
  }

  /** Enqueues the unfinished jobs of the store. */
  start(): void {
    for (const { id } of this.#ports.store.catalogue.documents.openJobs()) this.enqueue(id);
  }

  /** Adds a job whose row is stored. */
  enqueue(id: string): void {
    this.#stuck.delete(id);
    if (!this.#running.has(id) && !this.#waiting.includes(id)) this.#waiting.push(id);
    this.#runNext();
  }

  /** The job and its result as of now; it runs until the record that ends it is durable and found. */
  view(job: JobEntry): JobView {
    const running = this.#running.get(job.id);
    const { id, kind, status, createdAt } = job;
    if (running !== undefined) {
      const { startedAt, progress } = running;
      return { id, kind, status: "running", progress, createdAt, startedAt, finishedAt: null };
    }
    const { store } = this.#ports;
    const problem = job.problem ?? (status === "queued" ? this.#stuck.get(id) : undefined);
    const document = job.documentId === null ? undefined : store.catalogue.documents.byId.get(job.documentId);
    return {
      id,
      kind,
      status: problem === undefined ? status : "failed",
      progress: status === "queued" && problem === undefined ? QUEUED : DONE,
      ...(document && {
        result: { document, memoryIds: memoryIdsOf({ store }, document), deduplicated: job.deduplicated },
      }),
      ...(problem && { problem }),
      createdAt,
      startedAt: job.startedAt,
      finishedAt: job.finishedAt,
    };
  }

  /** Resolves when the job is over, or when the runner closes. */
  ended(id: string): Promise<void> {
    const mayEnd = this.#running.has(id) || (this.#isOpen(id) && !this.#stuck.has(id));
    if (this.#isClosed || !mayEnd) return Promise.resolve();
    return new Promise((resolve) => {
      this.#watchers.set(id, [...(this.#watchers.get(id) ?? []), resolve]);
    });
  }

  /** Ends a job that is not over; one that is stays as it is. Nothing of it is left but its row. */
  async cancel(id: string): Promise<void> {
    const job = this.#openJob(id);
    await this.#end(id, { status: "cancelled", problem: null });
    // A job that its row shows as finished may still be on its way to the disk.
    await (job === undefined ? this.#running.get(id)?.ended : this.stop(job));
  }

  /** Ends the work on a job whose row was open and shows its end now; releases its file. */
  async stop({ id, request }: JobEntry): Promise<void> {
    this.#stuck.delete(id);
    this.#waiting = this.#waiting.filter((waiting) => waiting !== id);
    const running = this.#running.get(id);
    running?.controller.abort(conflict("The job was cancelled."));
    await running?.ended;
    if (running === undefined) this.#tell(id);
    this.#letGo(request);
  }

  /** Interrupts running jobs and waits for their end. Their rows stay open: the next start repeats them. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#waiting = [];
    const running = [...this.#running.values()];
    for (const { controller } of running) {
      controller.abort(notReady("The daemon is stopping; the job goes on when it starts again."));
    }
    await Promise.all(running.map(({ ended }) => ended));
    for (const id of this.#watchers.keys()) this.#tell(id);
  }

  #runNext(): void {
    if (this.#isClosed) return;
    this.#waiting = this.#waiting.filter((id) => {
      const lane = this.#laneOf(id);
      const place = lane === undefined ? undefined : this.#freePlace(lane);
      if (place !== undefined) this.#run(id, place);
      return lane !== undefined && place === undefined;
    });
  }

  /** Undefined for a job that is over. */
  #laneOf(id: string): Lane | undefined {
    const request = this.#openJob(id)?.request ?? undefined;
    if (request === undefined) return undefined;
    if (request.file === null) return "fetching";
    return request.file.bytes <= SMALL_DOCUMENT_BYTES ? "small" : "large";
  }

  /** A small document takes the place kept for such, or else any. */
  #freePlace(lane: Lane): Lane | undefined {
    const places: Readonly<Record<Lane, number>> = {
      fetching: FETCHES_AT_ONCE,
      small: 1,
      large: this.#concurrency,
    };
    const isFree = (name: Lane) =>
      [...this.#running.values()].filter((running) => running.lane === name).length < places[name];
    const wanted: readonly Lane[] = lane === "small" ? ["large", "small"] : [lane];
    return wanted.find(isFree);
  }

  #run(id: string, lane: Lane): void {
    const controller = new AbortController();
    // A turn later, so that the entry is there before anything happens.
    const startedAt = this.#ports.clock.now();
    const ended = Promise.resolve()
      .then(() => this.#work(id, controller.signal, startedAt))
      .finally(() => {
        this.#running.delete(id);
        // A fetched page continues as a document.
        const next = this.#isClosed ? undefined : this.#laneOf(id);
        if (lane === "fetching" && (next === "small" || next === "large")) this.#waiting.push(id);
        // Even where the store refused to write the end: `view` then shows why.
        else if (!this.#isClosed) this.#tell(id);
        this.#runNext();
      });
    this.#running.set(id, { lane, controller, startedAt, progress: QUEUED, ended });
  }

  /** Recordings are transcribed one at a time, in the order in which they were recognised. */
  async #queueForRecording(id: string, signal: AbortSignal): Promise<void> {
    const running = this.#running.get(id);
    // A second attempt keeps its place.
    if (running === undefined || running.lane === "recording") return;
    running.lane = "recording";
    running.progress = QUEUED;
    const before = this.#recordings;
    const { ended } = running;
    this.#recordings = Promise.all([before, ended]).then(() => undefined);
    this.#runNext();
    await Promise.race([before, aborted(signal)]);
  }

  async #work(id: string, signal: AbortSignal, startedAt: number): Promise<void> {
    try {
      const onProgress = (progress: JobProgress) => {
        const running = this.#running.get(id);
        if (running !== undefined) running.progress = progress;
      };
      const queueForRecording = () => this.#queueForRecording(id, signal);
      await ingestDocument(this.#ports, id, { signal, startedAt, onProgress, queueForRecording });
    } catch (error) {
      // Interrupted, not failed, or already ended by its row.
      if (this.#isClosed || !this.#isOpen(id)) return;
      const problem = problemOf(error);
      if (problem.code === "INTERNAL") this.#report(error);
      const request = this.#openJob(id)?.request ?? null;
      await this.#end(id, { status: "failed", problem }).catch((failure: unknown) => {
        this.#report(failure);
        this.#stuck.set(id, problemOf(failure));
      });
      this.#letGo(request);
    }
  }

  /** Writes the end of an open job. */
  async #end(id: string, end: Pick<JobRow, "status" | "problem">): Promise<void> {
    const { store, clock } = this.#ports;
    const startedAt = this.#running.get(id)?.startedAt ?? null;
    await store.commit(() => {
      const job = store.catalogue.documents.jobs.get(id);
      if (job?.status !== "queued") return { changes: [], result: undefined };
      const ended = { ...job, ...end, request: null, startedAt, finishedAt: clock.now() };
      return { changes: [jobChange(ended)], result: undefined };
    });
  }

  /** Has no effect on a file that a row needs. */
  #letGo(request: IngestRequest | null): void {
    if (request?.file) this.#ports.files.letGo(request.file.sha256);
  }

  #isOpen(id: string): boolean {
    return this.#openJob(id) !== undefined;
  }

  #openJob(id: string): JobEntry | undefined {
    const job = this.#ports.store.catalogue.documents.jobs.get(id);
    return job?.status === "queued" ? job : undefined;
  }

  #tell(id: string): void {
    const watchers = this.#watchers.get(id) ?? [];
    this.#watchers.delete(id);
    for (const resolve of watchers) resolve();
  }
}

/** Rejects when the signal does; never resolves. */
export function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}

function problemOf(error: unknown): JobProblem {
  if (error instanceof ServiceError) return { code: error.code, message: error.message };
  return { code: "INTERNAL", message: "Something went wrong inside memoryd; its log has more." };
}
