import { memoryIdsOf } from "./document-chunks.ts";
import type { JobEntry } from "./document-index.ts";
import type { JobProgress } from "./document-ports.ts";
import type { DocumentRow, JobProblem, JobRow } from "./document.ts";
import type { IngestJobs } from "./ingest-jobs.ts";
import type { MemoryPorts } from "../memories/memory-ports.ts";

/** A job as it is shown. */
export interface JobView {
  readonly id: string;
  readonly kind: JobRow["kind"];
  readonly status: JobRow["status"] | "running";
  readonly progress: JobProgress;
  /** Of one that succeeded. */
  readonly result?: IngestResult;
  /** Of one that failed. */
  readonly problem?: JobProblem;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
}

export interface IngestResult {
  readonly document: DocumentRow;
  /** Those that are still there, in order, the root first where there is one. */
  readonly memoryIds: readonly string[];
  /** True when the document was there before. */
  readonly deduplicated: boolean;
}

/** What the job is now; its result as it is now, too: what was deleted since is in none. */
export function viewJob(ports: Pick<MemoryPorts, "store">, jobs: IngestJobs, job: JobEntry): JobView {
  const { isRunning, startedAt, progress, problem = job.problem } = jobs.stateOf(job);
  const { documents } = ports.store.catalogue;
  const document = job.documentId === null ? undefined : documents.findDocument(job.documentId);
  return {
    id: job.id,
    kind: job.kind,
    status: isRunning ? "running" : problem !== null ? "failed" : job.status,
    progress,
    ...(!isRunning &&
      document !== undefined && {
        result: { document, memoryIds: memoryIdsOf(ports, document), deduplicated: job.deduplicated },
      }),
    ...(!isRunning && problem !== null && { problem }),
    createdAt: job.createdAt,
    startedAt,
    finishedAt: isRunning ? null : job.finishedAt,
  };
}
