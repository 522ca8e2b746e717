import type { DocumentPorts, JobProgress } from "./document-ports.ts";
import type { JobEntry } from "./document-index.ts";
import { memoryIdsOf } from "./store-document.ts";
import type { DocumentRow, IngestRequest, JobProblem, JobRow } from "./document.ts";
import { SMALL_DOCUMENT_BYTES } from "./extraction.ts";
import { ServiceError } from "../errors.ts";
import { ingestDocument } from "./ingest-document.ts";

export interface IngestJobsOptions {
  /** Documents that are taken in at a time, besides a small one, a recording, and pages that are fetched; the others wait in order. */
  readonly concurrency?: number;
  /** Told of failures that are bugs. */
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

/**
 * Where a job has its place: while its page is fetched, which is waiting and little work; then by the size of its file, so
 * that a note need not wait for books. Recordings take long and have a place of their own.
 */
type Lane = "fetching" | "small" | "large";

interface RunningJob {
  lane: Lane | "recording";
  readonly controller: AbortController;
  readonly startedAt: number;
  progress: JobProgress;
  readonly ended: Promise<void>;
}

const DEFAULT_CONCURRENCY = 2;
/** A slow page holds a place for as long as a fetch may take. */
const FETCHES_AT_ONCE = 8;
const QUEUED: JobProgress = { stage: "queued", done: 0, total: 0 };
/** Over, well or not: the status says which. */
const DONE: JobProgress = { stage: "done", done: 1, total: 1 };

/**
 * Runs ingestion jobs, oldest first in each lane. What the store says of a job is the truth: a job is queued there until the record
 * that ends it, so what a crash interrupts is done again from the start by the next `start`.
 */
export class IngestJobs {
  readonly #ports: DocumentPorts;
  readonly #concurrency: number;
  readonly #report: (error: unknown) => void;
  #waiting: string[] = [];
  readonly #running = new Map<string, RunningJob>();
  /** Settles when the recordings before have ended. */
  #recordings: Promise<void> = Promise.resolve();
  /** Why jobs are not over by their rows: the store did not take their ends. The next start goes on with them. */
  readonly #stuck = new Map<string, JobProblem>();
  /** Those who wait for the end of a job. */
  readonly #watchers = new Map<string, (() => void)[]>();
  #isClosed = false;

  constructor(ports: DocumentPorts, { concurrency = DEFAULT_CONCURRENCY, report }: IngestJobsOptions) {
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

  /** Takes up the jobs that an earlier life left. */
  start(): void {
    for (const { id } of this.#ports.store.catalogue.documents.openJobs()) this.enqueue(id);
  }

  /** A job whose row is stored. */
  enqueue(id: string): void {
    this.#stuck.delete(id);
    if (!this.#running.has(id) && !this.#waiting.includes(id)) this.#waiting.push(id);
    this.#runNext();
  }

  /**
   * The job as of now, and its result as of now, without what was deleted since. It runs until the record that ends it is
   * durable and found by queries, though its row shows the end a moment before.
   */
  view(job: JobEntry): JobView {
    const running = this.#running.get(job.id);
    const { id, kind, status, createdAt } = job;
    if (running !== undefined) {
      const { startedAt, progress } = running;
      return { id, kind, status: "running", progress, createdAt, startedAt, finishedAt: null };
    }
    const { store } = this.#ports;
    const problem = job.problem ?? (status === "queued" ? this.#stuck.get(id) : undefined);
    const document =
      job.documentId === null ? undefined : store.catalogue.documents.findDocument(job.documentId);
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
    // One that is over by its row may be on its way to the disk still.
    await (job === undefined ? this.#running.get(id)?.ended : this.stop(job));
  }

  /** Ends the work on a job that was open, and whose row says by now that it is over; its file is let go of. */
  async stop({ id, request }: JobEntry): Promise<void> {
    this.#stuck.delete(id);
    this.#waiting = this.#waiting.filter((waiting) => waiting !== id);
    const running = this.#running.get(id);
    running?.controller.abort(new ServiceError("CONFLICT", "The job was cancelled."));
    await running?.ended;
    if (running === undefined) this.#tell(id);
    this.#letGo(request);
  }

  /** Interrupts what runs, and waits for that. The rows stay as they are: the next start goes on with them. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#waiting = [];
    const running = [...this.#running.values()];
    for (const { controller } of running) {
      controller.abort(
        new ServiceError("NOT_READY", "The daemon is stopping; the job goes on when it starts again."),
      );
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
        // A page that was fetched goes on as a document.
        const next = this.#isClosed ? undefined : this.#laneOf(id);
        if (lane === "fetching" && (next === "small" || next === "large")) this.#waiting.push(id);
        // Also where the store did not take the end: whoever waits learns why.
        else if (!this.#isClosed) this.#tell(id);
        this.#runNext();
      });
    this.#running.set(id, { lane, controller, startedAt, progress: QUEUED, ended });
  }

  /** Recordings are transcribed one at a time, in the order in which they were found to be some. */
  async #queueForRecording(id: string, signal: AbortSignal): Promise<void> {
    const running = this.#running.get(id);
    // A job that looks at its document again has its place.
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
      // Interrupted, not failed; and where the row says that it is over, that is so.
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
      const job = store.catalogue.documents.findJob(id);
      if (job?.status !== "queued") return { changes: [], result: undefined };
      const { id: _id, ...row } = job;
      const ended: JobRow = { ...row, ...end, request: null, startedAt, finishedAt: clock.now() };
      return { changes: [{ table: "jobs", id, row: ended }], result: undefined };
    });
  }

  /** What a row needs is kept all the same. */
  #letGo(request: IngestRequest | null): void {
    if (request?.file) this.#ports.files.letGo(request.file.sha256);
  }

  #isOpen(id: string): boolean {
    return this.#openJob(id) !== undefined;
  }

  #openJob(id: string): JobEntry | undefined {
    const job = this.#ports.store.catalogue.documents.findJob(id);
    return job?.status === "queued" ? job : undefined;
  }

  #tell(id: string): void {
    const watchers = this.#watchers.get(id) ?? [];
    this.#watchers.delete(id);
    for (const resolve of watchers) resolve();
  }
}

/** Rejects when the signal does; never resolves. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}

function problemOf(error: unknown): JobProblem {
  if (error instanceof ServiceError) return { code: error.code, message: error.message };
  return { code: "INTERNAL", message: "Something went wrong inside memoryd; its log has more." };
}
