import { type ChildProcess, fork } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../config/config.ts";
import * as limits from "../config/limits.ts";
import { VERSION } from "../config/limits.ts";
import { bindDocumentOperations } from "../core/documents/document-operations.ts";
import type { DocumentPorts } from "../core/documents/document-ports.ts";
import { IngestJobs } from "../core/documents/ingest-jobs.ts";
import type { MemoryPorts } from "../core/memories/memory-ports.ts";
import type { ServiceStatus } from "../core/status.ts";
import { createUrlFetcher } from "../extraction/fetch/node-url-fetcher.ts";
import { checkNamedProgram, openMediaDecoder } from "../extraction/media/media-decoder.ts";
import { openExtractor } from "../extraction/sandboxed-text-extractor.ts";
import { readWatchedFolders, watchedFoldersTime } from "../files/watched-folders.ts";
import { isLoopback } from "../http/access.ts";
import { openTranscriber } from "../models/whisper/whisper-transcriber.ts";
import { builtFile } from "../sandbox/sandboxed-process.ts";
import { standingWalls } from "../sandbox/walls.ts";
import { lowerPriority } from "../sandbox/watchdog.ts";
import { DiskFileStore } from "../storage/files/disk-file-store.ts";
import { nodeDisk } from "../storage/files/disk.ts";
import type { Logger } from "./system.ts";

/** Builds the part of the daemon that ingests documents, over an open store. */
export async function openDocumentService(
  config: Config,
  memoryPorts: MemoryPorts,
  {
    log,
    ownPort,
    hasAllDocuments,
    isKeyNeeded,
  }: {
    readonly log: Logger;
    readonly ownPort: () => number | undefined;
    readonly hasAllDocuments: boolean;
    /** May change while the daemon runs. */
    readonly isKeyNeeded: () => boolean;
  },
) {
  await checkNamedProgram(config.ffmpeg);
  const walls = await standingWalls();
  const { documents } = memoryPorts.store.catalogue;
  const files = await DiskFileStore.open({
    disk: nodeDisk,
    directory: config.dataDir,
    documents,
    isAllKnown: hasAllDocuments,
  });
  const extractor = openExtractor({
    limits: {
      maxBytes: config.maxUploadBytes,
      maxPages: limits.MAX_DOCUMENT_PAGES,
      maxChars: limits.MAX_DOCUMENT_CHARS,
      maxInflatedBytes: limits.MAX_INFLATED_BYTES,
      maxWorkingMs: limits.MAX_EXTRACTION_MS,
      maxResidentBytes: limits.MAX_EXTRACTION_RESIDENT_BYTES,
    },
  });
  const transcriber = openTranscriber({
    modelDirectory: config.whisperModelDir,
    idleTimeoutMs: limits.MODEL_IDLE_MS,
  });
  const decoder = openMediaDecoder({
    ffmpeg: config.ffmpeg,
    searchPath: config.searchPath,
    limits: { maxSeconds: limits.MAX_RECORDING_SECONDS, maxWorkingMs: limits.MAX_EXTRACTION_MS },
  });
  const fetcher = createUrlFetcher({
    version: VERSION,
    clock: memoryPorts.clock,
    maxBytes: config.maxUploadBytes,
    privateTargets: () => privateTargets(config, isKeyNeeded()),
    ownPort,
    ...(config.httpProxy === "" ? {} : { proxy: config.httpProxy }),
  });
  const closing = new AbortController();
  const ports: DocumentPorts = { ...memoryPorts, files, extractor, decoder, transcriber, fetcher, pause };
  const jobs = new IngestJobs(ports, {
    concurrency: limits.INGEST_WORKERS,
    report: (error) => log.error({ err: error }, "job failed"),
  });
  return {
    /** As purges and backups need them. */
    originals: files,
    operations: bindDocumentOperations(ports, jobs),
    /** Resumes jobs of an earlier run. To be called once the port is known, so that the daemon never fetches itself. */
    start(): void {
      jobs.start();
      files.scrub(closing.signal).then(
        (damaged) => damaged.forEach((sha256) => log.error({ sha256 }, "damaged original")),
        (error: unknown) => {
          if (!closing.signal.aborted) log.error({ err: error }, "check of the originals failed");
        },
      );
    },
    /** Originals that were found damaged, in sentences. */
    get damage(): readonly string[] {
      return files.damaged.map(
        (sha256) =>
          `The original ${sha256} is damaged on the disk; ingesting the same file again repairs it.`,
      );
    },
    sandbox: walls?.by ?? null,
    stopJob: jobs.stop.bind(jobs),
    /** Figures for the status. */
    get counts(): ServiceStatus["documents"] {
      return { count: documents.byId.size, jobsWaiting: jobs.waiting, jobsRunning: jobs.running };
    },
    /** Interrupts jobs, which go on at the next start. */
    async close(): Promise<void> {
      closing.abort();
      await jobs.close();
      await extractor.close();
      await transcriber.close();
      await decoder.close();
    },
  };
}

/** With `auto`, private pages may be fetched while only this machine's user can ask. */
function privateTargets({ ingestPrivate, host }: Config, isKeyNeeded: boolean): "allow" | "deny" {
  if (ingestPrivate !== "auto") return ingestPrivate;
  return isLoopback(host) && !isKeyNeeded ? "allow" : "deny";
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
  signal.throwIfAborted();
}

const LOOK_EVERY_MS = 1_000;
/** After the process failed. */
const RETRY_MS = 30_000;

/**
 * Follows the folders that `memoryd watch` names, in a process of its own, while there are any.
 * @returns the function that ends it.
 */
export function followWatchedFolders(dataDir: string, log: Logger): () => Promise<void> {
  let child: ChildProcess | undefined;
  let ended: Promise<void> = Promise.resolve();
  let seen = 0;
  let retryAt = 0;

  function start(): void {
    const started = fork(builtFile("cli/ingest/watch-worker.js"), [dataDir], {
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    child = started;
    if (started.pid !== undefined) lowerPriority(started.pid);
    started.on("message", (message) => {
      const { level, text } = message as { readonly level: "info" | "warn"; readonly text: string };
      log[level](text);
    });
    ended = new Promise((resolve) => {
      started.once("error", (error) => log.warn({ err: error }, "watched folders are not followed"));
      started.once("close", (code) => {
        child = undefined;
        seen = 0;
        if (code !== 0) retryAt = performance.now() + RETRY_MS;
        resolve();
      });
    });
  }

  function look(): void {
    const time = watchedFoldersTime(dataDir);
    if (child !== undefined || time === seen || performance.now() < retryAt) return;
    seen = time;
    try {
      if (readWatchedFolders(dataDir).length > 0) start();
    } catch (error) {
      log.warn({ err: error }, "watched folders are not followed");
    }
  }

  look();
  const timer = setInterval(look, LOOK_EVERY_MS).unref();
  return async () => {
    clearInterval(timer);
    child?.kill("SIGKILL");
    await ended;
  };
}
